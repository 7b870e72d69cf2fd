/** A response whose head includes the request id and the security headers. */
import { randomUUID } from "node:crypto"
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import { requestIdHeader } from "./Observer.ts"
import { type SecurityHeaders, securityHeaders } from "./SecurityHeaders.ts"

type Head = OutgoingHttpHeaders | Array<OutgoingHttpHeader>

const plainly = securityHeaders(false)

export class IdentifiedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Generated here, never taken from the client. */
  readonly requestId: string = randomUUID()
  securityHeaders: SecurityHeaders = plainly

  /** Adds the headers where the head is written: one that is set separately costs as much as all others together. */
  override writeHead(status: number, ...rest: [reason?: string | Head, headers?: Head]): this {
    const [reason, headers] = rest
    return typeof reason === "string"
      ? super.writeHead(status, reason, this.#complete(status, headers))
      : super.writeHead(status, this.#complete(status, reason ?? headers))
  }

  #complete(status: number, headers: Head | undefined): Head {
    if (Array.isArray(headers))
      return [...Object.entries(this.securityHeaders()).flat(), ...headers, requestIdHeader, this.requestId]
    // A 304 replaces the headers that a cache stored, and its own would not fit the cached type.
    const guard = status === 304 ? undefined : this.securityHeaders(headers?.["content-type"])
    return { ...guard, ...headers, [requestIdHeader]: this.requestId }
  }
}
