/** viem's client for the relayer, which asks through the same requests as everybody else. */
import { Effect } from "effect"
import { createPublicClient, custom, HttpRequestError, type PublicClient, RpcRequestError } from "viem"
import type { ChainUnavailable } from "./ChainUnavailable.ts"
import * as Trace from "../../../platform/Trace.ts"
import type { JsonRpc } from "./JsonRpc.ts"
import { traceOfPromise } from "./RpcMetrics.ts"

/** What may be done twice if it is asked twice. */
const single: ReadonlySet<string> = new Set(["eth_sendRawTransaction"])

/** viem's own errors, without the node's address and what was asked. */
const viemError = ({ code, detail = "", message, method, status }: ChainUnavailable) => {
  const asked = { url: "", body: { method } }
  return code === undefined
    ? new HttpRequestError({ ...asked, details: message, ...(status === undefined ? {} : { status }) })
    : new RpcRequestError({ ...asked, error: { code, message: detail } })
}

export const make = Effect.fnUntraced(function* ({ ask, once }: JsonRpc) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const request = ({ method, params = [] }: { readonly method: string; readonly params?: ReadonlyArray<unknown> }) =>
    run(
      Effect.mapError((single.has(method) ? once : ask)(method, params), viemError).pipe(
        Trace.goingOn(traceOfPromise()),
      ),
    )
  // Questions are repeated where they are asked.
  const client: PublicClient = createPublicClient({ transport: custom({ request }, { retryCount: 0 }) })
  return client
})
