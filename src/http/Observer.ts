/** Who is told of every request that the socket hears: before anything is done with it, and once its answer has ended. */
import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { Context } from "effect"

export type Observe = (request: IncomingMessage, response: ServerResponse) => void

/** Nobody, unless a layer says who. */
export const Observer = Context.Reference<Observe>("spirit-altar/http/Observer", {
  defaultValue: () => () => {},
})

/** The id of a request, ours and never the client's: where it arrives, and where it is answered. */
export const requestIdHeader = "x-request-id"

/** The id of a request, as the log knows it. */
export const requestIdOf = ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }): string =>
  headers[requestIdHeader] ?? randomUUID()
