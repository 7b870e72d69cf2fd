/** Bytes that go out as they are, on a connection of their own, and the answers in what comes back. */
import { connect } from "node:net"
import { brotliDecompressSync, gunzipSync } from "node:zlib"

export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** The body as it came, compressed or not. */
  readonly bytes: Buffer
}

export const bodyOf = ({ bytes, headers }: Answer): string => {
  const encoding = headers.get("content-encoding")
  return (encoding === "br" ? brotliDecompressSync(bytes) : encoding === "gzip" ? gunzipSync(bytes) : bytes).toString()
}

/** All bytes until the other side disconnects, or is silent for so many milliseconds; `isEnd` says that no more is sent. */
export const exchange = (port: number, bytes: Buffer, patience: number, isEnd = false): Promise<Buffer> =>
  new Promise((resolve) => {
    const parts: Array<Buffer> = []
    const socket = connect(port, "127.0.0.1")
    socket.setNoDelay(true).setTimeout(patience, () => socket.destroy())
    socket.on("error", () => socket.destroy()).on("data", (part) => parts.push(part))
    socket.on("close", () => resolve(Buffer.concat(parts)))
    if (isEnd) socket.end(bytes)
    else socket.write(bytes)
  })

/** A body in chunks and where it ends; nothing where it is not whole. */
const chunked = (bytes: Buffer, from: number): readonly [Buffer, number] | undefined => {
  const parts: Array<Buffer> = []
  for (let at = from; ;) {
    const line = bytes.indexOf("\r\n", at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.toString("latin1", at, line), 16)
    const end = line + 2 + size
    if (bytes.length < end + 2) return undefined
    if (size === 0) return [Buffer.concat(parts), end + 2]
    parts.push(bytes.subarray(line + 2, end))
    at = end + 2
  }
}

/** The first answer in these bytes, and where the next begins. */
const cut = (bytes: Buffer, method: string): readonly [Answer, number] | undefined => {
  const from = bytes.indexOf("\r\n\r\n") + 4
  if (from < 4) return undefined
  const [first = "", ...lines] = bytes.toString("latin1", 0, from - 4).split("\r\n")
  const status = Number(/^HTTP\/1\.1 (\d{3}) /u.exec(first)?.[1])
  if (status >= 100 && status < 200) {
    const next = cut(bytes.subarray(from), method)
    return next === undefined ? undefined : [next[0], from + next[1]]
  }
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(":", 1)[0] ?? "", line.replace(/^[^:]*:\s*/u, "")]),
  )
  const made = (body: Buffer, end: number) => [{ status, headers, bytes: body }, end] as const
  if (method === "HEAD" || status === 204 || status === 304) return made(Buffer.alloc(0), from)
  if (headers.has("transfer-encoding")) {
    const found = chunked(bytes, from)
    return found === undefined ? undefined : made(...found)
  }
  const end = from + Number(headers.get("content-length") ?? bytes.length - from)
  return bytes.length < end ? undefined : made(bytes.subarray(from, end), end)
}

/** The answer to each of these methods; fewer where the other side disconnected before. */
export const answersIn = (bytes: Buffer, methods: ReadonlyArray<string>): ReadonlyArray<Answer> => {
  const answers: Array<Answer> = []
  let at = 0
  for (const method of methods) {
    const found = cut(bytes.subarray(at), method)
    if (found === undefined) break
    answers.push(found[0])
    at += found[1]
  }
  return answers
}
