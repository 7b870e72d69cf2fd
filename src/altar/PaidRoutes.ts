/** The routes of everything that is sold: one handler for all acts, and reconcile. */
import { Effect, type Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import { Api, rules } from "../../schema/Api.ts"
import type { AltarRequests } from "../../schema/altar/Requests.ts"
import { refuse } from "../http/Responses.ts"
import { type Call, UrlCache } from "../http/UrlCache.ts"
import type { ClientAddress } from "../limits/ClientAddress.ts"
import type { RateLimiter } from "../limits/RateLimiter.ts"
import { PaidActs } from "../payments/Act.ts"
import { Purchases } from "../payments/Purchase.ts"
import { guards, limits, questions } from "./Limits.ts"
import { toMiddleware } from "../platform/Sql.ts"

/** The shape of an endpoint that the shared handler needs. */
interface Route extends HttpApiEndpoint.Constraint {
  readonly "~RequestRaw": {
    readonly request: HttpServerRequest.HttpServerRequest
    readonly endpoint: Call["endpoint"]
    readonly params?: unknown
    readonly query?: unknown
  }
  readonly "~Middleware": AltarRequests
}

interface PaidGroup<Name extends string> extends HttpApiGroup.Constraint {
  readonly identifier: Name
  readonly endpoints: Readonly<Record<string, Route>>
}

const sell = (group: PaidGroup<string>) =>
  HttpApiBuilder.group(rules.add(group), group.identifier, (handlers) =>
    Effect.gen(function* () {
      const acts = yield* PaidActs
      const paid = yield* Purchases
      const [first, ...others] = yield* Effect.forEach(Object.keys(group.endpoints), (name) => {
        const act = acts.get(name)
        return act === undefined ? Effect.die(`no act is sold at ${name}`) : Effect.succeed({ act, name })
      })
      if (first === undefined) return yield* Effect.die(`the group ${group.identifier} sells nothing`)
      const guardOf = yield* guards
      const hot = (yield* UrlCache).hot(refuse)
      // Raw: the stored answer, and a body that is read before the price is told.
      const register = ({ act, name }: typeof first) =>
        handlers.handleRaw(
          name,
          hot((call) => {
            const pay = paid.at(act, call)
            return (request) => pay(request, guardOf(request))
          }),
        )
      for (const other of others) register(other)
      return register(first)
    }),
  )

/** Sells every act of a group of paid endpoints. The server does not start if one of them is missing from its acts. */
export const routes = <const Name extends string>(
  group: PaidGroup<Name>,
): Layer.Layer<
  HttpApiGroup.Service<"spirit-altar", Name>,
  never,
  PaidActs | Purchases | RateLimiter | ClientAddress | AltarRequests | UrlCache
> => sell(group)

export const payments = HttpApiBuilder.group(Api, "payments", (handlers) =>
  Effect.gen(function* () {
    const paid = yield* Purchases
    const limit = yield* limits
    return handlers.handle("reconcile", ({ params, request }) =>
      Effect.andThen(toMiddleware(limit(questions, request)), paid.reconcile(params.idempotencyKey)),
    )
  }),
)
