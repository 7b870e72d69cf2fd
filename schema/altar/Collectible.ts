/** Collectibles: numbered editions, each with its own keeper record and its own entry in the publication chain. */
import { Schema } from "effect"
import { Position, said, shaped } from "../Bounds.ts"
import { settledAct } from "../payments/Act.ts"
import { Address, AgentName, Hex64, Timestamp, TransactionHash, Url, Uuid } from "../Common.ts"
import { Reason } from "./Keeper.ts"
import { SpiritId } from "./Spirit.ts"
import { at, envelope, nothing, nothingNow } from "../Refusal.ts"

export const ElementId = shaped(/^[a-z0-9-]{1,64}$/u, 64).annotate({
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
  name: said("Beeswax"),
  kind: ItemKind,
  edition: Position.annotate({ description: "Its number, from 1; no number is given twice." }),
  editionSize: Position,
  spirit: Schema.NullOr(SpiritId).annotate({ description: "The altar it is dedicated to, for ever." }),
  keeper: Address,
  agentName: Schema.NullOr(AgentName),
  reason: Schema.NullOr(Reason),
  collectedAt: Timestamp,
  transaction: TransactionHash,
  publication: Schema.Struct({ sequence: Position, chainHash: Hex64 }).annotate({
    description: "Its entry in the publication chain.",
  }),
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
    `There is no such item; ids are listed at /api/elements, /api/companions and /api/pixels. ${nothing}`,
  ),
  at(404, "No such collectible."),
) {}

export class SoldOut extends Schema.Error<SoldOut>("SoldOut")(
  envelope(
    "sold_out",
    `Every edition of this item is issued or reserved; look again later or choose another item. ${nothingNow}`,
  ),
  at(409, "No edition is left."),
) {}
