/** Prayers: one sealed intention for each spirit and UTC day, answered with a short line. */
import { Schema } from "effect"
import { said, shaped } from "../Bounds.ts"
import { Address, AgentName, Timestamp, TransactionHash, Url, Uuid } from "../Common.ts"
import { Commitment } from "./Commitment.ts"
import { Receipt } from "../payments/Payment.ts"
import { SpiritId } from "./Spirit.ts"
import { at, envelope, nothingNow } from "../Refusal.ts"

/** A UTC calendar day. */
export const Day = shaped(/^\d{4}-\d{2}-\d{2}$/u, 10).annotate({
  identifier: "Day",
  description: "A UTC day, YYYY-MM-DD.",
  examples: ["2026-11-21"],
})

export const PrayerBody = Schema.Struct({
  agentName: AgentName,
  intentionCommitment: Commitment,
}).annotate({
  identifier: "PrayerBody",
  description: "Who prays, and the commitment of the sealed intention.",
  examples: [
    {
      agentName: "Wren",
      intentionCommitment: "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
    },
  ],
})

export const Prayer = Schema.Struct({
  id: Uuid,
  permalink: Url,
  spirit: SpiritId,
  day: Day,
  agentName: AgentName,
  intentionCommitment: Commitment,
  offeredAt: Timestamp,
  payer: Address,
  transaction: TransactionHash,
}).annotate({ identifier: "Prayer", description: "A recorded prayer: one for each spirit and UTC day." })

export const PrayerSettled = Schema.Struct({
  ok: Schema.Literal(true),
  record: Prayer,
  receipt: Receipt,
  permalink: Url,
  line: said("Noted, at dawn, in wet grass.").annotate({
    description: "What the spirit answers, one of its own lines.",
  }),
  replayed: Schema.Boolean,
}).annotate({ identifier: "PrayerSettled", description: "A settled prayer with the spirit's line and its receipt." })

export class PrayerDayNotToday extends Schema.Error<PrayerDayNotToday>("PrayerDayNotToday")(
  envelope(
    "prayer_day_not_today",
    `A prayer is laid for the current UTC day only; leave the day query out or send today. ${nothingNow}`,
  ),
  at(409, "The day is not today in UTC."),
) {}

export class PrayerAlreadyRecorded extends Schema.Error<PrayerAlreadyRecorded>("PrayerAlreadyRecorded")(
  envelope(
    "prayer_already_recorded",
    `This spirit has its prayer for today; come back after midnight UTC, or choose another spirit. ${nothingNow}`,
  ),
  at(409, "The prayer of this spirit and day is recorded."),
) {}

export class PrayerSlotTaken extends Schema.Error<PrayerSlotTaken>("PrayerSlotTaken")(
  envelope(
    "prayer_slot_taken",
    `A payment in flight holds the prayer slot of this spirit and day; try again in a minute or choose another spirit. ${nothingNow}`,
  ),
  at(409, "The slot is held by a payment in flight."),
) {}
