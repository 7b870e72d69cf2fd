/** `/api/health`, `/livez` and `/readyz`: whether the parts work, asked anew each time; who asks together shares an answer. */
import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { SqlError } from "effect/sql"
import { Api, interfaceVersion } from "../schema/Api.ts"
import { Health, Liveness, Readiness } from "../schema/Health.ts"
import { modes } from "../schema/room/Message.ts"
import { WitnessChain } from "./altar/witness/WitnessChain.ts"
import { Lookup } from "./payments/ledger/Lookup.ts"
import { PaymentTerms } from "./payments/PaymentTerms.ts"
import { Settlement } from "./payments/Settlement.ts"
import * as Coalesced from "./platform/Coalesced.ts"

const healthJson = HttpServerResponse.schemaJson(Health)
const livenessJson = HttpServerResponse.schemaJson(Liveness)
const readinessJson = HttpServerResponse.schemaJson(Readiness)

/** Nobody keeps a state, and one that says no says when to ask again. */
const told = (ok: boolean) => ({
  status: ok ? 200 : 503,
  headers: { "cache-control": "no-store", ...(ok ? {} : { "retry-after": "5" }) },
})

/** A part that cannot be asked is a finding here, not a failure; one that does not answer is given up. */
const found = <A, E>(part: Effect.Effect<A, E>) =>
  Effect.result(Effect.timeout(Effect.catchDefect(part, Effect.fail), "5 seconds"))

const isUnanswered = (failure: unknown) =>
  SqlError.isSqlError(failure) ||
  (typeof failure === "object" && failure !== null && "_tag" in failure && failure._tag === "TimeoutError")

export const handlers = HttpApiBuilder.group(Api, "service", (handlers) =>
  Effect.gen(function* () {
    const chain = yield* WitnessChain
    const attempts = yield* Lookup
    const terms = yield* PaymentTerms
    const settlement = yield* Settlement

    const health = Effect.gen(function* () {
      const [head, pending, lost, funds] = yield* Effect.all(
        [found(chain.head), found(attempts.pending), found(attempts.lost), settlement.funds],
        { concurrency: "unbounded" },
      )
      const isBroken = Result.isFailure(head) && !isUnanswered(head.failure)
      const isAnyLost = Result.isSuccess(lost) && lost.success > 0
      const enabled = terms._tag === "Ready"
      const isAnswering = Result.isSuccess(pending) && Result.isSuccess(lost) && !Result.isFailure(head)
      return {
        ok: isAnswering && !isBroken && !isAnyLost && funds !== "failing",
        version: interfaceVersion,
        database: Result.isSuccess(pending) ? "ok" : "failing",
        chain: {
          state: isBroken ? "failing" : Result.isSuccess(head) ? "ok" : "unknown",
          head: Result.isSuccess(head) ? head.success : null,
        },
        payments: {
          enabled,
          state: isAnyLost ? "failing" : !enabled ? "not_configured" : Result.isSuccess(lost) ? "ready" : "unknown",
          pending: Result.isSuccess(pending) ? pending.success : null,
          settlement: funds,
        },
        modes,
      } satisfies typeof Health.Type
    })

    const readiness = Effect.fnUntraced(function* (toSell: boolean) {
      const [pending, funds] = yield* Effect.all(
        [found(attempts.pending), toSell ? settlement.funds : Effect.succeed("unknown" as const)],
        { concurrency: 2 },
      )
      const isAnswering = Result.isSuccess(pending)
      return {
        ready: isAnswering && funds !== "failing",
        state: "serving",
        database: isAnswering ? "ok" : "failing",
        settlement: funds,
      } satisfies typeof Readiness.Type
    })

    const askHealth = yield* Coalesced.make({ nameOf: () => "", run: () => health })
    const askReadiness = yield* Coalesced.make({ nameOf: String, run: readiness })

    return handlers
      .handleRaw("health", () =>
        Effect.flatMap(askHealth(undefined), (state) => healthJson(state, told(state.ok))).pipe(Effect.orDie),
      )
      .handleRaw("livez", () => livenessJson({ alive: true }, told(true)).pipe(Effect.orDie))
      .handleRaw("readyz", ({ query }) =>
        Effect.flatMap(askReadiness(query.for === undefined), (state) => readinessJson(state, told(state.ready))).pipe(
          Effect.orDie,
        ),
      )
  }),
)
