/** A server that answers the requests of a connection one by one, and hears so many of them meanwhile, and no more. */
import { IncomingMessage, Server, type ServerOptions, ServerResponse } from "node:http"
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

  // One packet holds thousands of requests, and Node has all of them answered before it looks whether anybody takes that: a
  // request begins when the answer before it has left, so that a connection keeps one answer in memory, whoever reads none.
  override emit(event: string, ...told: ReadonlyArray<unknown>): boolean {
    const [request, response] = told
    if (!(request instanceof IncomingMessage)) return super.emit(event, ...told)
    const begin = () => request.socket.destroyed || super.emit(event, ...told)
    if (!(response instanceof ServerResponse) || response.socket !== null) return begin()
    response.once("socket", begin)
    return true
  }
}
