/** The free routes of the witness chain. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { ChainSegment, RevealAnswer, RevealBody, WitnessList } from "../../../schema/altar/Witness.ts"
import { listDefault, segmentDefault, segmentFrom } from "../../../schema/Common.ts"
import { fresh } from "../../platform/http/Responses.ts"
import { answer, bodyAs, once } from "../Answers.ts"
import { limits, openings } from "../Limits.ts"
import { WitnessChain } from "./WitnessChain.ts"
import { WitnessStones } from "./WitnessStones.ts"

const list = answer(WitnessList)
const segment = answer(ChainSegment)
const revealed = once(RevealAnswer)
const revealBody = bodyAs(RevealBody)

export const handlers = HttpApiBuilder.group(Api, "witness", (handlers) =>
  Effect.gen(function* () {
    const stones = yield* WitnessStones
    const chain = yield* WitnessChain
    const limit = yield* limits
    return handlers
      .handleRaw("listWitnessStones", ({ query, request }) =>
        stones.list(query.limit ?? listDefault, query.before).pipe(
          Effect.map((page) => list(request, { ok: true, ...page })),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("readWitnessChain", ({ query, request }) =>
        chain.segment(query.from ?? segmentFrom, query.limit ?? segmentDefault).pipe(
          Effect.map(({ anchor, head, links, next }) =>
            segment(request, { ok: true, anchor, entries: links, head, next }),
          ),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("readWitnessStone", ({ params, request }) =>
        stones.get(params.witnessId).pipe(
          // The receipt is the text that was answered to its buyer.
          Effect.map(({ receipt, stone }) =>
            fresh(request, `{"ok":true,"stone":${JSON.stringify(stone)},"receipt":${receipt}}`),
          ),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("revealWitnessStone", ({ params, request }) =>
        limit(openings, request).pipe(
          Effect.andThen(revealBody(request)),
          Effect.flatMap((body) => stones.reveal(params.witnessId, body)),
          Effect.map(({ first, stone }) => revealed({ ok: true, stone, replayed: !first })),
        ),
      )
  }),
)
