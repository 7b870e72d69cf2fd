/** A socket of the loopback that answers as a test likes: late, in pieces, or never. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { Effect } from "effect"

export type Answering = (body: string, response: ServerResponse, request: IncomingMessage) => void

/** Its base URL; it is gone with the scope, and every connection with it. */
export const listening = (answer: Answering) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const made = createServer((request, response) => {
        let body = ""
        request.setEncoding("utf8")
        request.on("data", (text: string) => (body += text))
        request.on("end", () => answer(body, response, request))
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    }),
    (made) => Effect.sync(() => made.close().closeAllConnections()),
  ).pipe(
    Effect.map((made) => {
      const at = made.address()
      return `http://127.0.0.1:${typeof at === "object" && at !== null ? at.port : 0}`
    }),
  )
