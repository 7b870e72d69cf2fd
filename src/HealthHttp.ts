/** `/api/health`: whether the parts work, asked anew each time. */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api, interfaceVersion } from "../schema/Api.ts"
import { modes } from "../schema/room/Message.ts"
import { genesis } from "./altar/HashChain.ts"
import { WitnessChain } from "./altar/witness/WitnessChain.ts"
import { Lookup } from "./payments/ledger/Lookup.ts"
import { PaymentTerms } from "./payments/PaymentTerms.ts"
import { Settlement } from "./payments/Settlement.ts"

export const handlers = HttpApiBuilder.group(Api, "service", (handlers) =>
  Effect.gen(function* () {
    const chain = yield* WitnessChain
    const attempts = yield* Lookup
    const terms = yield* PaymentTerms
    const settlement = yield* Settlement
    return handlers.handleRaw("health", () =>
      Effect.gen(function* () {
        const head = yield* Effect.result(chain.head)
        const pending = yield* Effect.result(attempts.pending)
        const chainIsWhole = head._tag === "Success" || head.failure._tag !== "ChainBroken"
        const lost = yield* Effect.result(attempts.lost)
        const databaseAnswers = pending._tag === "Success"
        const isAnyLost = lost._tag === "Success" && lost.success > 0
        const isSolvent = yield* settlement.solvent
        const ok = chainIsWhole && databaseAnswers && isSolvent && !isAnyLost
        const enabled = terms._tag === "Ready"
        return HttpServerResponse.jsonUnsafe(
          {
            ok,
            version: interfaceVersion,
            database: databaseAnswers ? "ok" : "failing",
            chain: { state: chainIsWhole ? "ok" : "failing", head: head._tag === "Success" ? head.success : genesis },
            payments: {
              enabled,
              state: isAnyLost ? "failing" : enabled ? "ready" : "not_configured",
              pending: databaseAnswers ? pending.success : 0,
              settlement: isSolvent ? "ok" : "failing",
            },
            modes,
          },
          { status: ok ? 200 : 503, headers: { "cache-control": "no-store" } },
        )
      }),
    )
  }),
)
