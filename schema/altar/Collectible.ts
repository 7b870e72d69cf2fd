/** Collectibles: numbered editions, each with its own keeper record and its own entry in the publication chain. */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Position, sentence, patterned } from "../Fields.ts"
import { settledAct } from "../payments/Act.ts"
import { paidErrors, paidHeaders, settled } from "../payments/Endpoint.ts"
import { held } from "../payments/Held.ts"
import { paid } from "../payments/Sale.ts"
import { Address, AgentName, Hex64, Timestamp, TransactionHash, Url, Uuid } from "../Common.ts"
import { Reason, WhyBody } from "./Keeper.ts"
import { Unknown } from "./Requests.ts"
import { SpiritId } from "./Spirit.ts"
import { at, envelope } from "../Refusal.ts"

export const ElementId = patterned(/^[a-z0-9-]{1,64}$/u, 64, 1).annotate({
  identifier: "ElementId",
  description: "A collectible listed at /api/elements, /api/companions or /api/pixels.",
  examples: ["beeswax"],
})

export const ItemKind = Schema.Literals(["material", "crab", "pixel"]).annotate({
  identifier: "ItemKind",
  description: "Which catalog an item belongs to.",
  examples: ["material"],
})

export const Collectible = Schema.Struct({
  id: Uuid,
  permalink: Url,
  elementId: ElementId,
  name: sentence("Beeswax"),
  kind: ItemKind,
  edition: Position.annotateKey({ description: "Its number, from 1, given once." }),
  editionSize: Position,
  spirit: Schema.NullOr(SpiritId).annotate({ description: "The altar it is dedicated to, for ever." }),
  keeper: Address,
  agentName: Schema.NullOr(AgentName),
  reason: Schema.NullOr(Reason),
  collectedAt: Timestamp,
  transaction: TransactionHash,
  publication: Schema.Struct({
    sequence: Position,
    chainHash: Hex64.annotateKey({
      examples: ["bf58f17836ab76242122034c8264a0d92cfa00bc7b74e5431816a88b91c94154"],
    }),
  }).annotate({ description: "Its entry in the publication chain." }),
}).annotate({
  identifier: "Collectible",
  description: "One numbered edition: a keeper record, nontransferable, no on-chain token.",
})

export const CollectibleSettled = settledAct(Collectible).annotate({
  identifier: "CollectibleSettled",
  description: "A settled collectible record with its receipt.",
})

export class ElementNotFound extends Schema.Error<ElementNotFound>("ElementNotFound")(
  envelope(
    "element_not_found",
    "No item has this id.",
    "Take an id that /api/elements, /api/companions or /api/pixels lists.",
  ),
  at(404, "No such collectible."),
) {}

export class SoldOut extends Schema.Error<SoldOut>("SoldOut")(
  {
    ...envelope(
      "sold_out",
      "Every edition of this item is issued or reserved.",
      "Try again by heldUntil, if it is there, or choose another item.",
    ),
    ...held,
  },
  at(409, "No edition is left."),
) {}

export const collectMaterial = paid(
  HttpApiEndpoint.post("collectMaterial", "/api/elements/:elementId/collect", {
    params: { elementId: ElementId },
    headers: paidHeaders,
    query: {
      spirit: Schema.optionalKey(SpiritId).annotateKey({
        description: "Dedicates the item to this altar for ever; then part of the signed URL.",
      }),
    },
    payload: WhyBody,
    success: settled(CollectibleSettled),
    error: [...paidErrors, ElementNotFound, SoldOut],
  }).annotate(Unknown, () => new ElementNotFound({})),
  {
    priceAtomic: 10_000n,
    kind: "collectible",
    plural: "Collectibles",
    thing: "a numbered collectible",
    command: "collect",
    repetition: "often",
    description: "One numbered edition of a material, crab or pixel",
    parameter: "id",
    bodyOptional: true,
    title: "Collect a material, crab or pixel",
    summary: "The next numbered edition of the item. The body is optional.",
  },
)
