/** A small HTTP server of one test, on a free port of the loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { Effect } from "effect"

/** A double's answer; `drop` closes the connection without a word. */
export type Reply =
  | {
      readonly status: number
      readonly body: string
      /** Sent in place of the body, where that is no text. */
      readonly bytes?: Uint8Array
      readonly type?: string
      readonly headers?: Readonly<Record<string, string>>
    }
  | "drop"

export const json = (value: unknown, status = 200): Reply => ({ status, body: JSON.stringify(value) })

const write = (response: ServerResponse, reply: Reply) => {
  if (reply === "drop") return response.destroy()
  response.writeHead(reply.status, { "content-type": reply.type ?? "application/json", ...reply.headers })
  return response.end(reply.bytes ?? reply.body)
}

export type Handle = (path: string, body: string, request: IncomingMessage) => Promise<Reply>

/** Answers as a test likes: late, in pieces, or never. */
export type Answering = (body: string, response: ServerResponse, request: IncomingMessage) => void

/** A server until it is closed; on this port, or on a free one. */
const openRaw = (answer: Answering, at = 0) =>
  new Promise<{ readonly url: string; readonly close: () => void }>((resolve) => {
    const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
      text(request).then(
        (body) => answer(body, response, request),
        () => {},
      )
    })
    server.listen(at, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resolve({ url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() })
    })
  })

/** A server that answers every request by `handle`. */
export const open = (handle: Handle, at?: number) =>
  openRaw((body, response, request) => {
    void handle(request.url ?? "/", body, request)
      .catch((cause): Reply => json({ error: String(cause) }, 500))
      .then((reply) => write(response, reply))
  }, at)

const ofOneConnection = /^(?:transfer-encoding|content-encoding|content-length|connection|keep-alive|host)$/u

/** The answer of the server behind, without what belongs to one connection. */
export const forward = async (behind: string, path: string, body: string, request: IncomingMessage) => {
  const kept = (headers: Iterable<readonly [string, unknown]>) =>
    Object.fromEntries([...headers].filter(([name]) => !ofOneConnection.test(name))) as Record<string, string>
  const answer = await fetch(behind + path, {
    method: request.method ?? "GET",
    headers: { ...kept(Object.entries(request.headers)), "accept-encoding": "identity" },
    redirect: "manual",
    ...(body === "" ? {} : { body }),
  })
  return { status: answer.status, headers: kept(answer.headers), bytes: Buffer.from(await answer.arrayBuffer()) }
}

/** The same as a program of its own, which says where it listens and ends with SIGTERM. */
export const program = async (handle: Handle) => {
  const { url } = await open(handle)
  console.log(`Listening on ${url}`)
  process.once("SIGTERM", () => process.exit(0))
}

const scoped = (opening: () => ReturnType<typeof open>) =>
  Effect.map(
    Effect.acquireRelease(Effect.promise(opening), ({ close }) => Effect.sync(close)),
    ({ url }) => url,
  )

/** The base URL of such a server, which is gone with the scope. */
export const serve = (handle: Handle, at?: number) => scoped(() => open(handle, at))

/** The same for one that answers as a test likes. */
export const listening = (answer: Answering, at?: number) => scoped(() => openRaw(answer, at))
