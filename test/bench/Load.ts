/** Requests over keep-alive sockets: as little client as HTTP/1.1 allows, because it shares the machine with what it measures. */
import { createConnection, type Socket } from "node:net"
import { setTimeout } from "node:timers/promises"

export interface Shot {
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

interface Reply {
  readonly status: number
  /** Empty for a success. */
  readonly text: string
}

/** Requests in flight while a rate is measured, each over a connection of its own. */
export const inFlight = 50

const wires = new WeakMap<Shot, string>()

/** The bytes on the wire; kept, since most shots are fired many times. */
const wireOf = (shot: Shot): string => {
  const known = wires.get(shot)
  if (known !== undefined) return known
  const { body, headers, method, path } = shot
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = body === undefined ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`
  const wire = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join("")}${length}\r\n${body ?? ""}`
  wires.set(shot, wire)
  return wire
}

const lastChunk = Buffer.from("0\r\n\r\n")
const nothing = Buffer.alloc(0)

/** The body's length, -1 for one in chunks. */
const lengthIn = (head: string): number => {
  const length = /\r\ncontent-length: *(\d+)/iu.exec(head)?.[1]
  if (length !== undefined) return Number(length)
  return /\r\ntransfer-encoding: *chunked/iu.test(head) ? -1 : 0
}

/** One socket, one request at a time. The end of a body is found; its bytes are kept for a failure only. */
class Connection {
  readonly #socket: Socket
  #waiting: { readonly resolve: (reply: Reply) => void; readonly reject: (cause: Error) => void } | undefined
  #head = ""
  #length = 0
  #seen = 0
  #tail: Buffer = nothing
  #parts: Array<Buffer> = []

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    const onread = {
      buffer: Buffer.allocUnsafe(1 << 16),
      callback: (size: number, buffer: Uint8Array) => (this.#read(buffer.subarray(0, size)), true),
    }
    this.#socket = createConnection({ host: hostname, port: Number(port), noDelay: true, onread })
    this.#socket.on("error", (cause) => this.#waiting?.reject(cause))
    this.#socket.on("close", () => this.#waiting?.reject(new Error(`${url} closed a connection before it answered`)))
  }

  send(shot: Shot): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#head = ""
      this.#seen = 0
      this.#tail = nothing
      this.#parts = []
      this.#socket.write(wireOf(shot))
    })
  }

  close() {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #read(chunk: Uint8Array) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    if (!this.#head.includes("\r\n\r\n")) {
      const before = this.#head.length
      const text = this.#head + bytes.toString("latin1")
      const end = text.indexOf("\r\n\r\n")
      if (end === -1) {
        this.#head = text
        return
      }
      this.#head = text.slice(0, end + 4)
      this.#length = lengthIn(this.#head)
      bytes = bytes.subarray(end + 4 - before)
    }
    this.#seen += bytes.length
    if (!this.#head.startsWith("2", 9)) this.#parts.push(Buffer.from(bytes))
    if (this.#length === -1) {
      const tail = Buffer.concat([this.#tail, bytes.subarray(-lastChunk.length)]).subarray(-lastChunk.length)
      this.#tail = tail
      if (!tail.equals(lastChunk)) return
    } else if (this.#seen < this.#length) return
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve({ status: Number(this.#head.slice(9, 12)), text: Buffer.concat(this.#parts).toString() })
  }
}

const shoot = async (connection: Connection, shot: Shot, expected: number) => {
  const { status, text } = await connection.send(shot)
  if (status !== expected) throw new Error(`${shot.method} ${shot.path}: expected ${expected}, got ${status}\n${text}`)
}

/** Runs a worker for each of `inFlight` connections. */
const onConnections = async (to: string, worker: (connection: Connection) => Promise<void>) => {
  const all = Array.from({ length: inFlight }, () => new Connection(to))
  try {
    await Promise.all(all.map(worker))
  } finally {
    for (const one of all) one.close()
  }
}

/** How long a rate is measured: for so many seconds, or until so many answers. */
export type Span = { readonly seconds: number } | { readonly count: number }

/**
 * Keeps `inFlight` requests in flight and returns the number of answers; the first answer that has another status than
 * `expected` ends it.
 */
export const fire = async (to: string, span: Span, expected: number, shotOf: () => Shot): Promise<number> => {
  const end = "seconds" in span ? performance.now() + span.seconds * 1000 : Number.POSITIVE_INFINITY
  let left = "count" in span ? span.count : Number.POSITIVE_INFINITY
  let done = 0
  await onConnections(to, async (connection) => {
    while (left > 0 && performance.now() < end) {
      left -= 1
      await shoot(connection, shotOf(), expected)
      done += 1
    }
  })
  return done
}

/**
 * Sends `rate` requests a second for `seconds`, whether or not earlier ones are answered, and returns the latencies in ms,
 * each from the time at which its request was due. A request that finds all connections busy waits for one.
 */
export const fireAt = async (rate: number, to: string, seconds: number, expected: number, shotOf: () => Shot) => {
  const started = performance.now()
  const total = Math.ceil(rate * seconds)
  const latencies: Array<number> = []
  let next = 0
  await onConnections(to, async (connection) => {
    while (next < total) {
      const due = started + (next++ * 1000) / rate
      const early = due - performance.now()
      if (early > 0) await setTimeout(early)
      await shoot(connection, shotOf(), expected)
      latencies.push(performance.now() - due)
    }
  })
  return latencies
}

/** Works through `count` jobs, `width` at a time. */
export const work = async (count: number, width: number, job: (index: number) => Promise<unknown>): Promise<number> => {
  let next = 0
  const worker = async () => {
    while (next < count) await job(next++)
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker))
  return count
}
