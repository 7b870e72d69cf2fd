/** `/api/health`: whether the parts work, asked anew each time. */
import { Effect, Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { SqlError } from "effect/sql"
import { Api, interfaceVersion } from "../schema/Api.ts"
import { Health } from "../schema/Health.ts"
import { modes } from "../schema/room/Message.ts"
import { genesis } from "./altar/HashChain.ts"
import { WitnessChain } from "./altar/witness/WitnessChain.ts"
import { Lookup } from "./payments/ledger/Lookup.ts"
import { PaymentTerms } from "./payments/PaymentTerms.ts"
import { Settlement } from "./payments/Settlement.ts"

const respond = HttpServerResponse.schemaJson(Health)

/** A part that cannot be asked is a finding here, not a failure. */
const found = <A, E>(part: Effect.Effect<A, E>) => Effect.result(Effect.catchDefect(part, Effect.fail))

export const handlers = HttpApiBuilder.group(Api, "service", (handlers) =>
  Effect.gen(function* () {
    const chain = yield* WitnessChain
    const attempts = yield* Lookup
    const terms = yield* PaymentTerms
    const settlement = yield* Settlement

    const health = Effect.gen(function* () {
      const head = yield* found(chain.head)
      const pending = yield* found(attempts.pending)
      const lost = yield* found(attempts.lost)
      const chainIsWhole = Result.isSuccess(head) || SqlError.isSqlError(head.failure)
      const isAnyLost = Result.isSuccess(lost) && lost.success > 0
      const isSolvent = yield* settlement.solvent
      const enabled = terms._tag === "Ready"
      const ok = chainIsWhole && Result.isSuccess(pending) && isSolvent && !isAnyLost
      return {
        ok,
        version: interfaceVersion,
        database: Result.isSuccess(pending) ? "ok" : "failing",
        chain: { state: chainIsWhole ? "ok" : "failing", head: Result.getOrElse(head, () => genesis) },
        payments: {
          enabled,
          state: isAnyLost ? "failing" : enabled ? "ready" : "not_configured",
          pending: Result.getOrElse(pending, () => 0),
          settlement: isSolvent ? "ok" : "failing",
        },
        modes,
      } satisfies typeof Health.Type
    })

    return handlers.handleRaw("health", () =>
      Effect.flatMap(health, (state) =>
        respond(state, { status: state.ok ? 200 : 503, headers: { "cache-control": "no-store" } }),
      ).pipe(Effect.orDie),
    )
  }),
)
