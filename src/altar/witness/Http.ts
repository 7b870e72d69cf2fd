/** The free routes of the witness chain. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import {
  ChainSegment,
  ListedStone,
  RevealAnswer,
  RevealBody,
  type WitnessAnswer,
  WitnessList,
} from "../../../schema/altar/Witness.ts"
import { listDefault, segmentDefault, segmentFrom } from "../../../schema/Common.ts"
import { jsonOf, JsonText } from "../../platform/JsonText.ts"
import { fresh } from "../../platform/http/Responses.ts"
import { answer, bodyAs, encoderOf, once } from "../Answers.ts"
import { limits, openings } from "../Limits.ts"
import { WitnessChain } from "./WitnessChain.ts"
import { WitnessStones } from "./WitnessStones.ts"

const encodeStone = encoderOf(ListedStone)
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
          Effect.flatMap((page) => list(request, { ok: true, ...page })),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("readWitnessChain", ({ query, request }) =>
        chain.segment(query.from ?? segmentFrom, query.limit ?? segmentDefault).pipe(
          Effect.flatMap(({ anchor, head, links, next }) =>
            segment(request, { ok: true, anchor, entries: links, head, next }),
          ),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("readWitnessStone", ({ params, request }) =>
        stones.get(params.witnessId).pipe(
          // The receipt is the text that was answered to its buyer.
          Effect.flatMap(({ receipt, stone }) =>
            Effect.map(encodeStone(stone), (json) =>
              fresh(
                request,
                jsonOf<typeof WitnessAnswer.Encoded>({ ok: true, stone: json, receipt: new JsonText(receipt) }),
              ),
            ),
          ),
          Effect.catchTag("ChainBroken", Effect.die),
        ),
      )
      .handleRaw("revealWitnessStone", ({ params, request }) =>
        limit(openings, request).pipe(
          Effect.andThen(revealBody(request)),
          Effect.flatMap((body) => stones.reveal(params.witnessId, body)),
          Effect.flatMap(({ first, stone }) => revealed({ ok: true, stone, replayed: !first })),
        ),
      )
  }),
)
