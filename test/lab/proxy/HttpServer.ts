/** A small HTTP server of one test, on a free port of the loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
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

const read = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const write = (response: ServerResponse, reply: Reply) => {
  if (reply === "drop") return response.destroy()
  response.writeHead(reply.status, { "content-type": reply.type ?? "application/json", ...reply.headers })
  return response.end(reply.bytes ?? reply.body)
}

export type Handle = (path: string, body: string, request: IncomingMessage) => Promise<Reply>

/** A server that answers every request by `handle`, until it is closed; on this port, or on a free one. */
export const open = (handle: Handle, at = 0): Promise<{ readonly url: string; readonly close: () => void }> =>
  new Promise((resolve) => {
    const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
      read(request)
        .then((body) => handle(request.url ?? "/", body, request))
        .catch((cause): Reply => json({ error: String(cause) }, 500))
        .then(
          (reply) => write(response, reply),
          () => {},
        )
    })
    server.listen(at, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      resolve({ url: `http://127.0.0.1:${port}`, close })
    })
  })

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

/** The base URL of such a server, which is gone with the scope. */
export const serve = (handle: Handle) =>
  Effect.acquireRelease(
    Effect.promise(() => open(handle)),
    ({ close }) => Effect.sync(close),
  ).pipe(Effect.map(({ url }) => url))
