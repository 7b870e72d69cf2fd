/** The routes of everything that is sold: one handler for all acts, and how a paid request ended. */
import { Context, Effect, type Layer, Option, Schema } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import { Api, rules } from "../../schema/Api.ts"
import type { AltarRequests } from "../../schema/altar/Requests.ts"
import { IdempotencyKey } from "../../schema/payments/Payment.ts"
import type { ClientAddress } from "../limits/ClientAddress.ts"
import type { RateLimiter } from "../limits/RateLimiter.ts"
import { Availability } from "../payments/Availability.ts"
import { PaidActs } from "../payments/PaidAct.ts"
import { type PaidCall, PaidHttp } from "../payments/PaidHttp.ts"
import { type Answer, KnownRequests } from "../platform/http/KnownRequests.ts"
import { limits, questions } from "./Limits.ts"
import * as PaymentGuards from "./PaymentGuards.ts"

/** What the one handler needs to know of an endpoint: which act it is, and where its parameters stand. */
interface Route extends HttpApiEndpoint.Constraint {
  readonly "~RequestRaw": {
    readonly request: HttpServerRequest.HttpServerRequest
    readonly params?: unknown
    readonly query?: unknown
  }
  readonly "~Middleware": AltarRequests
}

/** A group of nothing but paid endpoints. */
interface PaidGroup<Name extends string> extends HttpApiGroup.Constraint {
  readonly identifier: Name
  readonly endpoints: Readonly<Record<string, Route>>
}

const isKey = Schema.is(IdempotencyKey)

const sell = (group: PaidGroup<string>) =>
  HttpApiBuilder.group(rules.add(group), group.identifier, (handlers) =>
    Effect.gen(function* () {
      const acts = yield* PaidActs
      const paid = yield* PaidHttp
      const [first, ...others] = yield* Effect.forEach(Object.keys(group.endpoints), (name) => {
        const act = acts.get(name)
        return act === undefined ? Effect.die(`no act is sold at ${name}`) : Effect.succeed({ act, name })
      })
      if (first === undefined) return yield* Effect.die(`the group ${group.identifier} sells nothing`)
      const known = yield* KnownRequests
      const availability = yield* Availability
      const guardOf = yield* PaymentGuards.make
      /** What is remembered of a request must not hold the request. While nothing is sold, the whole way says so. */
      const whileSold =
        (response: HttpServerResponse.HttpServerResponse): Answer =>
        (_, whole) =>
          Effect.matchEffect(availability.toOffer, {
            onFailure: () => whole,
            onSuccess: () => Effect.succeed(response),
          })
      const pay = ({ act }: typeof first, call: Omit<PaidCall, "guard">) =>
        paid.pay(act, { ...call, guard: guardOf(call.request) })
      /** Why a request that went the short way is refused: the contract says how that is written. */
      const Refused = Context.Reference<Option.Option<Effect.Error<ReturnType<typeof pay>>>>(
        "spirit-altar/altar/PaidRoutes/Refused",
        { defaultValue: Option.none },
      )
      /**
       * What names its purchase is answered by the pipeline at once, its path and query being decoded. What it refuses goes
       * the whole way with that refusal, and is asked nothing again.
       */
      const asked =
        (sold: typeof first, { params, query }: Pick<PaidCall, "params" | "query">): Answer =>
        (request, whole) =>
          isKey(request.headers["idempotency-key"])
            ? Effect.catch(pay(sold, { request, params, query }), (refusal) =>
                Effect.provideService(whole, Refused, Option.some(refusal)),
              )
            : whole
      /** A bare question for the price has one answer while all is sold, but where a card challenge has its time in it. */
      const remember = (
        sold: typeof first,
        { params, query, request }: Omit<PaidCall, "guard">,
        response: HttpServerResponse.HttpServerResponse,
      ) => {
        if (response.status !== 402 || response.headers["www-authenticate"] !== undefined) return response
        const isNamed = request.headers["idempotency-key"] !== undefined
        known.set(request, isNamed ? asked(sold, { params, query }) : whileSold(response))
        return response
      }
      const register = (sold: typeof first) =>
        handlers.handleRaw(sold.name, (call) =>
          Effect.flatMap(Refused, (refused) =>
            Option.isSome(refused)
              ? Effect.fail(refused.value)
              : Effect.map(pay(sold, call), (response) => remember(sold, call, response)),
          ),
        )
      for (const other of others) register(other)
      return register(first)
    }),
  )

/** Sells every act of a group of paid endpoints; a server whose acts do not include one of them does not start. */
export const routes = <const Name extends string>(
  group: PaidGroup<Name>,
): Layer.Layer<
  HttpApiGroup.Service<"spirit-altar", Name>,
  never,
  PaidActs | PaidHttp | Availability | RateLimiter | ClientAddress | AltarRequests | KnownRequests
> => sell(group)

export const payments = HttpApiBuilder.group(Api, "payments", (handlers) =>
  Effect.gen(function* () {
    const paid = yield* PaidHttp
    const limit = yield* limits
    return handlers.handleRaw("reconcile", ({ params, request }) =>
      Effect.andThen(limit(questions, request), paid.reconcile(params.idempotencyKey)),
    )
  }),
)
