/** The routes of settled acts of every kind. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Group } from "../Group.ts"
import { listOf } from "../Bounds.ts"
import { listLimit, listMaximum, Uuid } from "../Common.ts"
import { Act, ActAnswer, ActNotFound } from "../payments/Act.ts"
import { AltarRequests, described, pageBefore, readsChapter, Unknown } from "./Requests.ts"

export const ActList = Schema.Struct({
  ok: Schema.Literal(true),
  acts: listOf(Act, listMaximum),
  next: Schema.NullOr(Uuid).annotate({ description: "`before` of the following page, or null." }),
}).annotate({ identifier: "ActList", description: "The newest acts, with their permalinks and receipts." })

export const listActs = HttpApiEndpoint.get("listActs", "/api/acts", {
  query: { limit: listLimit("acts"), before: pageBefore },
  success: ActList,
}).annotateMerge(described("Newest acts", "Settled acts of every kind, newest first, with permalinks."))

export const readAct = HttpApiEndpoint.get("readAct", "/api/acts/:actId", {
  params: { actId: Uuid },
  success: ActAnswer,
  error: ActNotFound,
})
  .annotateMerge(described("One act", "A settled act of any kind with its record and receipt."))
  .annotate(Unknown, () => new ActNotFound({}))

const actsGroup: Group<"acts", typeof listActs | typeof readAct, AltarRequests> = HttpApiGroup.make("acts")
  .add(listActs, readAct)
  .middleware(AltarRequests)
  .annotateMerge(readsChapter)

export class ActsGroup extends actsGroup {}
