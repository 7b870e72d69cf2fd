/** An answer that names its request, whoever writes its head: a header set apart would cost as much as all others together. */
import { randomUUID } from "node:crypto"
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import { requestIdHeader } from "./Observer.ts"

type Head = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

export class IdentifiedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Ours, and never the client's. */
  readonly requestId: string = randomUUID()

  override writeHead(status: number, ...rest: [reason?: string | Head, headers?: Head]): this {
    const [reason, headers] = rest
    return typeof reason === "string"
      ? super.writeHead(status, reason, this.#named(headers))
      : super.writeHead(status, this.#named(reason ?? headers))
  }

  #named(headers: Head | undefined): Head {
    return Array.isArray(headers)
      ? [...headers, requestIdHeader, this.requestId]
      : { ...headers, [requestIdHeader]: this.requestId }
  }
}
