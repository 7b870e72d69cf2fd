/** The free routes of the witness chain. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import {
  type ChainEntry,
  ChainSegment,
  ListedStone,
  RevealAnswer,
  RevealBody,
  WitnessList,
} from "../../../schema/altar/Witness.ts"
import { listDefault, segmentDefault, segmentFrom } from "../../../schema/Common.ts"
import { UrlCache } from "../../http/UrlCache.ts"
import { body, fresh, refuse } from "../../http/Responses.ts"
import { brokenIn, encoderOf, cachedAnswer, oneTimeAnswer, textOf } from "../Answers.ts"
import type { Segment } from "../HashChain.ts"
import { limits, openings } from "../Limits.ts"
import { WitnessChain } from "./WitnessChain.ts"
import { type StonePage, WitnessStones } from "./WitnessStones.ts"

const encodeStone = encoderOf(ListedStone)
const listText = textOf(WitnessList, (page: StonePage) => ({ ok: true, ...page }))
const segmentText = textOf(ChainSegment, ({ links, ...rest }: Segment<typeof ChainEntry.Type>) => ({
  ok: true,
  entries: links,
  ...rest,
}))
const broken = brokenIn("stone")
const revealed = oneTimeAnswer(RevealAnswer)
const revealBody = body.as(RevealBody)

export const handlers = HttpApiBuilder.group(Api, "witness", (handlers) =>
  Effect.gen(function* () {
    const stones = yield* WitnessStones
    const chain = yield* WitnessChain
    const list = cachedAnswer(listText)
    const segment = cachedAnswer(segmentText)
    const limit = yield* limits
    const read = (yield* UrlCache).hot(refuse)
    // Raw: cached bytes with their tag.
    return (
      handlers
        .handleRaw(
          "listWitnessStones",
          read(
            ({ query: { before, limit = listDefault } }) =>
              (request) =>
                list(request, Effect.catchTag(stones.list(limit, before), "ChainBroken", broken)),
          ),
        )
        .handleRaw(
          "readWitnessChain",
          read(
            ({ query: { from = segmentFrom, limit = segmentDefault } }) =>
              (request) =>
                segment(request, Effect.catchTag(chain.page(from, limit), "ChainBroken", broken)),
          ),
        )
        .handleRaw(
          "readWitnessStone",
          read(
            ({ params: { witnessId } }) =>
              (request) =>
                Effect.catchTag(stones.get(witnessId), "ChainBroken", broken).pipe(
                  Effect.flatMap(({ receipt, stone }) =>
                    Effect.flatMap(encodeStone(stone), (json) =>
                      fresh(request, JSON.stringify({ ok: true, stone: json, receipt })),
                    ),
                  ),
                ),
          ),
        )
        // Raw: the body is read strictly.
        .handleRaw("revealWitnessStone", ({ params, request }) =>
          limit(openings, request).pipe(
            Effect.andThen(revealBody(request)),
            Effect.flatMap((words) => stones.reveal(params.witnessId, words)),
            Effect.flatMap(({ first, stone }) => revealed({ ok: true, stone, replayed: !first })),
          ),
        )
    )
  }),
)
