/** The answers of the field guide: spirits, altars and the state of the field. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Group } from "../Group.ts"
import { Count, listOf, path, sentence } from "../Fields.ts"
import { ActName } from "../payments/Act.ts"
import { LitCandle } from "./Candle.ts"
import { Address, AgentName, Timestamp, TransactionHash, Url, Uuid } from "../Common.ts"
import { Day } from "./Prayer.ts"
import { AltarRequests, described, readsChapter } from "./Requests.ts"
import { RevealBroken } from "./Reveal.ts"
import { SpiritId } from "./Spirit.ts"

export const KeeperBrief = Schema.Struct({
  id: Uuid,
  permalink: Url,
  keeper: Address,
  agentName: Schema.NullOr(AgentName),
  keptAt: Timestamp,
}).annotate({ identifier: "KeeperBrief", description: "Who keeps a spirit." })

export const Spirit = Schema.Struct({
  id: SpiritId,
  name: sentence("Moss Hare"),
  kin: sentence("brown hare").annotate({ description: "The real animal." }),
  epithet: sentence("Keeper of the held breath"),
  habitat: sentence("Rough pasture at the edge of a wood."),
  habit: sentence("Lies flat in a shallow form with both eyes open."),
  description: sentence("A hare with moss along the spine.", 1000),
  altarLine: sentence("A hollow in long grass, the size of a loaf."),
  image: path("/images/spirits/moss-hare.svg").annotate({ description: "Path of the illustration." }),
  keeper: Schema.NullOr(KeeperBrief),
}).annotate({ identifier: "Spirit", description: "A page of the field guide." })

export const SpiritList = Schema.Struct({ ok: Schema.Literal(true), spirits: listOf(Spirit, 24) }).annotate({
  identifier: "SpiritList",
  description: "The 24 spirits, in their order, with their keepers.",
})

export const PrayerSlot = Schema.Struct({
  day: Day,
  state: Schema.Literals(["free", "held", "taken"]).annotate({
    description: "`held`: a payment in flight has it, and may fail.",
  }),
  prayer: Schema.NullOr(Schema.Struct({ id: Uuid, permalink: Url, agentName: AgentName, offeredAt: Timestamp })),
}).annotate({ identifier: "PrayerSlot", description: "Today's one prayer of an altar." })

export const Altar = Schema.Struct({
  spirit: SpiritId,
  name: sentence("Moss Hare"),
  altarLine: sentence("A hollow in long grass, the size of a loaf."),
  keeper: Schema.NullOr(KeeperBrief),
  today: PrayerSlot,
  litCandles: Count,
  candles: listOf(LitCandle, 5).annotate({ description: "The newest lit candles, at most five." }),
  dedicated: Count.annotateKey({ description: "Collectibles dedicated to this altar." }),
}).annotate({ identifier: "Altar", description: "The current state of a spirit's altar." })

export const AltarList = Schema.Struct({
  ok: Schema.Literal(true),
  day: Day,
  altars: listOf(Altar, 24),
}).annotate({ identifier: "AltarList", description: "Every altar: today's prayer slot and its candles." })

export const Field = Schema.Struct({
  ok: Schema.Literal(true),
  day: Day,
  keepers: Count,
  prayersToday: Count,
  litCandles: Count,
  stones: Count,
  acts: Count,
  centsSettled: Count.annotateKey({ description: "The sum of all settled payments, in US cents." }),
  lastSettlement: Schema.NullOr(
    Schema.Struct({
      id: Uuid,
      act: ActName,
      permalink: Url,
      settledAt: Timestamp,
      transaction: Schema.NullOr(TransactionHash),
    }),
  ),
}).annotate({ identifier: "Field", description: "The state of the whole field." })

export const listSpirits = HttpApiEndpoint.get("listSpirits", "/api/spirits", { success: SpiritList }).annotateMerge(
  described("The 24 spirits", "The field guide, with each spirit's keeper."),
)

export const listAltars = HttpApiEndpoint.get("listAltars", "/api/altars", {
  success: AltarList,
  error: RevealBroken,
}).annotateMerge(described("Every altar", "Today's prayer slot, the keeper and the lit candles of every altar."))

export const readField = HttpApiEndpoint.get("readField", "/api/field", { success: Field }).annotateMerge(
  described("The state of the field", "Keepers, prayers today, cents settled, the last settlement."),
)

export const GuideGroup: Group<"guide", typeof listSpirits | typeof listAltars | typeof readField, AltarRequests> =
  HttpApiGroup.make("guide")
    .add(listSpirits, listAltars, readField)
    .middleware(AltarRequests)
    .annotateMerge(readsChapter)
