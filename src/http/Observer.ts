/** The observer of requests, called when the socket receives one and given its response. */
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Context } from "effect"

export type Observe = (request: IncomingMessage, response: ServerResponse) => void

/** A layer sets the observer; the default does nothing. */
export const Observer = Context.Reference<Observe>("spirit-altar/http/Observer", {
  defaultValue: () => () => {},
})

/** The header of the request id, which is generated here. A client's value is overwritten. */
export const requestIdHeader = "x-request-id"

/** The id of a request, as in the log. */
export const requestIdOf = ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }): string =>
  headers[requestIdHeader] ?? randomUUID()
