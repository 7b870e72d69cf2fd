/** A server that hears so many requests of a connection before it has answered the first, and no more. */
import { IncomingMessage, Server, type ServerOptions } from "node:http"
import type { Socket } from "node:net"
import { IdentifiedResponse } from "./IdentifiedResponse.ts"

type Options = Omit<ServerOptions<typeof IncomingMessage, typeof IdentifiedResponse>, "ServerResponse">

/** Counted where they are made: Node answers some requests by itself, and tells nobody of them. */
const countedTo = (most: number) => {
  /** Answers that a connection waits for. */
  const awaited = new WeakMap<Socket, number>()
  return class<Request extends IncomingMessage = IncomingMessage> extends IdentifiedResponse<Request> {
    constructor(...told: ConstructorParameters<typeof IdentifiedResponse<Request>>) {
      super(...told)
      const { socket } = told[0]
      const count = (awaited.get(socket) ?? 0) + 1
      awaited.set(socket, count)
      // The framework listens often where it writes a stream: with this one, more often than what Node takes for a leak.
      this.setMaxListeners(32).once("close", () => awaited.set(socket, (awaited.get(socket) ?? 1) - 1))
      if (count > most) socket.destroy()
    }
  }
}

export class PipelineBound extends Server<typeof IncomingMessage, typeof IdentifiedResponse> {
  /** With one request more than `most` unanswered, a connection is hung up on. */
  constructor(most: number, options: Options) {
    super({ ...options, ServerResponse: countedTo(most) })
  }

  // One packet holds thousands of requests, and Node lets all of them be answered before it looks whether anybody takes that.
  override emit(event: string, ...told: ReadonlyArray<unknown>): boolean {
    const [request] = told
    return (request instanceof IncomingMessage && request.socket.destroyed) || super.emit(event, ...told)
  }
}
