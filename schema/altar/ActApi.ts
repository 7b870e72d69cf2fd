/** The routes of settled acts of every kind. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Group } from "../Group.ts"
import { listOf } from "../Fields.ts"
import { AgentName, listLimit, listMaximum, PriceUsd, Timestamp, Url, Uuid } from "../Common.ts"
import { ActName, ActNotFound } from "../payments/Act.ts"
import { AnyReceipt } from "../payments/Payment.ts"
import { AltarRequests, described, pageBefore, readsChapter, Unknown } from "./Requests.ts"
import { Reveal, RevealBroken } from "./Reveal.ts"

/** A settled act as listed and at its permalink. */
export const Act = Schema.Struct({
  id: Uuid,
  act: ActName,
  permalink: Url,
  agentName: Schema.NullOr(AgentName),
  priceUsd: PriceUsd,
  settledAt: Timestamp,
  receipt: AnyReceipt,
  record: Schema.Record(Schema.String, Schema.Json).annotate({
    description: "The record of the act, as its 201 returned it.",
  }),
  reveal: Schema.NullOr(Reveal).annotate({
    description: "The revealed words of a stone, a candle or a light; null while they are sealed or absent.",
  }),
}).annotate({ identifier: "Act", description: "One settled act: a public row with its receipt and its reveal." })

export const ActAnswer = Schema.Struct({ ok: Schema.Literal(true), act: Act }).annotate({ identifier: "ActAnswer" })

export const ActList = Schema.Struct({
  ok: Schema.Literal(true),
  acts: listOf(Act, listMaximum),
  next: Schema.NullOr(Uuid).annotate({ description: "`before` of the following page, or null." }),
}).annotate({ identifier: "ActList", description: "The newest acts, with their permalinks and receipts." })

export const listActs = HttpApiEndpoint.get("listActs", "/api/acts", {
  query: { limit: listLimit("acts"), before: pageBefore },
  success: ActList,
  error: RevealBroken,
}).annotateMerge(described("Newest acts", "Settled acts of every kind, newest first, with permalinks."))

export const readAct = HttpApiEndpoint.get("readAct", "/api/acts/:actId", {
  params: { actId: Uuid },
  success: ActAnswer,
  error: [ActNotFound, RevealBroken],
})
  .annotateMerge(described("One act", "A settled act of any kind with its record, receipt and reveal."))
  .annotate(Unknown, () => new ActNotFound({}))

export const ActsGroup: Group<"acts", typeof listActs | typeof readAct, AltarRequests> = HttpApiGroup.make("acts")
  .add(listActs, readAct)
  .middleware(AltarRequests)
  .annotateMerge(readsChapter)
