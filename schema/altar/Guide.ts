/** What can be read of the field guide: spirits, altars, the state of the field, and the newest acts. */
import { Schema } from "effect"
import { Act } from "./Act.ts"
import { LitCandle } from "./Candle.ts"
import { Address, AgentName, Timestamp, TransactionHash, Url, Uuid } from "./Common.ts"
import { Day } from "./Prayer.ts"
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
  name: Schema.String,
  kin: Schema.String.annotate({ description: "The real animal." }),
  epithet: Schema.String,
  habitat: Schema.String,
  habit: Schema.String,
  description: Schema.String,
  altarLine: Schema.String,
  image: Schema.String.annotate({ description: "Path of the illustration." }),
  keeper: Schema.NullOr(KeeperBrief),
}).annotate({ identifier: "Spirit", description: "A page of the field guide." })

export const SpiritList = Schema.Struct({ ok: Schema.Literal(true), spirits: Schema.Array(Spirit) }).annotate({
  identifier: "SpiritList",
  description: "The 24 spirits, in their order, with their keepers.",
})

export const PrayerSlot = Schema.Struct({
  day: Day,
  state: Schema.Literals(["free", "held", "taken"]).annotate({
    description: "`held`: a payment in flight has it, and may still lose it.",
  }),
  prayer: Schema.NullOr(Schema.Struct({ id: Uuid, permalink: Url, agentName: AgentName, offeredAt: Timestamp })),
}).annotate({ identifier: "PrayerSlot", description: "Today's one prayer of an altar." })

export const Altar = Schema.Struct({
  spirit: SpiritId,
  name: Schema.String,
  altarLine: Schema.String,
  keeper: Schema.NullOr(KeeperBrief),
  today: PrayerSlot,
  litCandles: Schema.Int,
  candles: Schema.Array(LitCandle).annotate({ description: "The newest lit candles, at most five." }),
  dedicated: Schema.Int.annotate({ description: "Collectibles dedicated to this altar." }),
}).annotate({ identifier: "Altar", description: "A spirit's altar as it stands now." })

export const AltarList = Schema.Struct({
  ok: Schema.Literal(true),
  day: Day,
  altars: Schema.Array(Altar),
}).annotate({ identifier: "AltarList", description: "Every altar: today's prayer slot and its candles." })

export const Field = Schema.Struct({
  ok: Schema.Literal(true),
  day: Day,
  keepers: Schema.Int,
  prayersToday: Schema.Int,
  litCandles: Schema.Int,
  stones: Schema.Int,
  acts: Schema.Int,
  centsSettled: Schema.Int.annotate({ description: "All that was ever settled, in US cents." }),
  lastSettlement: Schema.NullOr(
    Schema.Struct({ id: Uuid, act: Schema.String, permalink: Url, settledAt: Timestamp, transaction: TransactionHash }),
  ),
}).annotate({ identifier: "Field", description: "The state of the whole field." })

export const ActList = Schema.Struct({
  ok: Schema.Literal(true),
  acts: Schema.Array(Act),
  next: Schema.NullOr(Uuid).annotate({ description: "`before` of the following page, or null." }),
}).annotate({ identifier: "ActList", description: "The newest acts, with their permalinks and receipts." })
