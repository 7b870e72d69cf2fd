/** A server that answers the requests of a connection in order and limits how many wait. */
import { IncomingMessage, Server, type ServerOptions, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { IdentifiedResponse } from "./IdentifiedResponse.ts"

type Options = Omit<ServerOptions<typeof IncomingMessage, typeof IdentifiedResponse>, "ServerResponse">

/** Counted in the constructor, since Node answers some requests itself without an event. */
const countedTo = (most: number) => {
  /** Unanswered requests by connection. */
  const awaited = new WeakMap<Socket, number>()
  return class<Request extends IncomingMessage = IncomingMessage> extends IdentifiedResponse<Request> {
    constructor(...told: ConstructorParameters<typeof IdentifiedResponse<Request>>) {
      super(...told)
      const { socket } = told[0]
      const count = (awaited.get(socket) ?? 0) + 1
      awaited.set(socket, count)
      // The framework adds many listeners when it streams. With this one they exceed Node's warning threshold for
      // leaks.
      this.setMaxListeners(32).once("close", () => awaited.set(socket, (awaited.get(socket) ?? 1) - 1))
      if (count > most) socket.destroy()
    }
  }
}

export class PipelineLimit extends Server<typeof IncomingMessage, typeof IdentifiedResponse> {
  /** One request more than `most` unanswered closes the connection. */
  constructor(most: number, options: Options) {
    super({ ...options, ServerResponse: countedTo(most) })
  }

  // One packet can hold thousands of requests, and Node would answer all before it checks that the client reads. So a
  // request starts only when the previous response has left, which keeps at most one response per connection in memory.
  override emit(event: string, ...told: ReadonlyArray<unknown>): boolean {
    const [request, response] = told
    if (!(request instanceof IncomingMessage)) return super.emit(event, ...told)
    const begin = () => request.socket.destroyed || super.emit(event, ...told)
    if (!(response instanceof ServerResponse) || response.socket !== null) return begin()
    response.once("socket", begin)
    return true
  }
}
