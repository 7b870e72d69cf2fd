/** A server that hears so many requests of a connection before it has answered the first, and no more. */
import { IncomingMessage, Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { IdentifiedResponse } from "./IdentifiedResponse.ts"

export class PipelineBound extends Server<typeof IncomingMessage, typeof IdentifiedResponse> {
  readonly #most: number
  /** Answers that a connection waits for. */
  readonly #awaited = new WeakMap<Socket, number>()

  /** With one request more than `most` unanswered, a connection is hung up on. */
  constructor(most: number, options: ServerOptions<typeof IncomingMessage, typeof IdentifiedResponse>) {
    super(options)
    this.#most = most
  }

  // One packet holds thousands of requests, and Node lets all of them be answered before it looks whether anybody takes that.
  override emit(event: string, ...told: ReadonlyArray<unknown>): boolean {
    const [request, response] = told
    if (!(request instanceof IncomingMessage && response instanceof ServerResponse)) return super.emit(event, ...told)
    const { socket } = request
    const before = this.#awaited.get(socket) ?? 0
    if (before >= this.#most) {
      socket.destroy()
      return true
    }
    this.#awaited.set(socket, before + 1)
    response.once("close", () => this.#awaited.set(socket, (this.#awaited.get(socket) ?? 1) - 1))
    return super.emit(event, ...told)
  }
}
