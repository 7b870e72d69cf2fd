/** An answer that names its request and guards itself, whoever writes its head: a header set apart would cost as much as all others together. */
import { randomUUID } from "node:crypto"
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import { requestIdHeader } from "./Observer.ts"
import { type SecurityHeaders, securityHeaders } from "./SecurityHeaders.ts"

type Head = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

const plainly = securityHeaders(false)

export class IdentifiedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Ours, and never the client's. */
  readonly requestId: string = randomUUID()
  securityHeaders: SecurityHeaders = plainly

  override writeHead(status: number, ...rest: [reason?: string | Head, headers?: Head]): this {
    const [reason, headers] = rest
    return typeof reason === "string"
      ? super.writeHead(status, reason, this.#complete(status, headers))
      : super.writeHead(status, this.#complete(status, reason ?? headers))
  }

  #complete(status: number, headers: Head | undefined): Head {
    if (Array.isArray(headers))
      return [...Object.entries(this.securityHeaders()).flat(), ...headers, requestIdHeader, this.requestId]
    // A cache puts the headers of a 304 in place of those it keeps, and those fit the type that a 304 does not name.
    const guard = status === 304 ? undefined : this.securityHeaders(headers?.["content-type"])
    return { ...guard, ...headers, [requestIdHeader]: this.requestId }
  }
}
