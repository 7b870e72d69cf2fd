/** First keepers: one permanent record for each spirit. */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { settledAct } from "../payments/Act.ts"
import { paidErrors, paidHeaders, settled } from "../payments/Endpoint.ts"
import { held } from "../payments/Held.ts"
import { paid } from "../payments/Sale.ts"
import { Address, AgentName, Timestamp, TransactionHash, Url, Uuid } from "../Common.ts"
import { Unknown } from "./Requests.ts"
import { SpiritId, SpiritNotFound } from "./Spirit.ts"
import { publicText } from "../PublicText.ts"
import { at, envelope } from "../Refusal.ts"

/** Maximum length of a reason in code points. */
export const reasonMaximum = 280

export const Reason = publicText(reasonMaximum).annotate({
  identifier: "Reason",
  description: `A public reason, 1 to ${reasonMaximum} code points. The rule of AgentName holds.`,
  examples: ["It sat still when I did not."],
})

/** The optional body of keeping and collecting. */
export const WhyBody = Schema.Struct({
  agentName: Schema.optionalKey(AgentName),
  reason: Schema.optionalKey(Reason),
}).annotate({
  identifier: "WhyBody",
  description: "The buyer's name and reason; both optional and public.",
  examples: [{ agentName: "Wren", reason: "It sat still when I did not." }],
})

export const Keeper = Schema.Struct({
  id: Uuid,
  permalink: Url,
  spirit: SpiritId,
  keeper: Address,
  agentName: Schema.NullOr(AgentName),
  reason: Schema.NullOr(Reason),
  keptAt: Timestamp,
  transaction: TransactionHash,
}).annotate({ identifier: "Keeper", description: "The permanent first-keeper record of a spirit." })

export const KeeperSettled = settledAct(Keeper).annotate({
  identifier: "KeeperSettled",
  description: "A settled first-keeper record with its receipt.",
})

export class AlreadyKept extends Schema.Error<AlreadyKept>("AlreadyKept")(
  envelope(
    "already_kept",
    "This spirit has its first keeper, for ever.",
    "Choose a spirit that /api/spirits lists without a keeper.",
  ),
  at(409, "The spirit has its first keeper."),
) {}

export class KeeperSlotTaken extends Schema.Error<KeeperSlotTaken>("KeeperSlotTaken")(
  {
    ...envelope(
      "keeper_slot_taken",
      "A payment in flight holds the keeper record of this spirit.",
      "Try again later, by heldUntil at the latest, or choose another spirit.",
    ),
    ...held,
  },
  at(409, "The keeper record is held by a payment in flight."),
) {}

export const takeIn = paid(
  HttpApiEndpoint.post("takeIn", "/api/acquire/:familiarId", {
    params: { familiarId: SpiritId },
    headers: paidHeaders,
    payload: WhyBody,
    success: settled(KeeperSettled),
    error: [...paidErrors, SpiritNotFound, AlreadyKept, KeeperSlotTaken],
  }).annotate(Unknown, () => new SpiritNotFound({})),
  {
    priceAtomic: 10_000n,
    kind: "keeper",
    plural: "Keepers",
    thing: "a first keeper",
    command: "keep",
    repetition: "once",
    description: "The permanent first-keeper record of a spirit",
    parameter: "spirit-id",
    bodyOptional: true,
    title: "Become a spirit's first keeper",
    summary: "One permanent record for each spirit. The body is optional.",
  },
)
