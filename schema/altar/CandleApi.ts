/** The free routes of candles: the wall and unsealing. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import type { Group } from "../Group.ts"
import { listLimit, Uuid } from "../Common.ts"
import {
  AlreadyUnsealed,
  CandleList,
  CandleNotFound,
  CandleNotSettled,
  NotSealed,
  unsealAnswers,
  UnsealBody,
} from "./Candle.ts"
import { CommitmentMismatch } from "./Commitment.ts"
import { AltarRequests, described, pageBefore, readsChapter, Unknown } from "./Requests.ts"
import { RevealBroken } from "./Reveal.ts"
import { SpiritId } from "./Spirit.ts"

export const listCandles = HttpApiEndpoint.get("listCandles", "/api/candles", {
  query: {
    spirit: Schema.optionalKey(SpiritId).annotateKey({ description: "Only candles on this spirit's altar." }),
    limit: listLimit("candles"),
    before: pageBefore,
  },
  success: CandleList,
  error: RevealBroken,
}).annotateMerge(described("Candles lit now", "Lit candles with their lights, the rungs and the rails."))

export const unsealCandle = HttpApiEndpoint.post("unsealCandle", "/api/candles/:candleId/unseal", {
  params: { candleId: Uuid },
  payload: UnsealBody,
  success: unsealAnswers,
  error: [CandleNotFound, CommitmentMismatch, AlreadyUnsealed, CandleNotSettled, NotSealed, RevealBroken],
})
  .annotateMerge(
    described(
      "Unseal the words of a candle or light",
      "Free, once. Salt and words must hash to the commitment, and both become public: everyone can then recompute it. 201 the first time, 200 for the same data again. Words that look like a link, wallet or address are stored and verified; they and their salt stay hidden.",
    ),
  )
  .annotateMerge(OpenApi.annotations({ override: { tags: ["Altar"] } }))
  .annotate(Unknown, () => new CandleNotFound({}))

export const CandlesGroup: Group<"candles", typeof listCandles | typeof unsealCandle, AltarRequests> =
  HttpApiGroup.make("candles").add(listCandles, unsealCandle).middleware(AltarRequests).annotateMerge(readsChapter)
