/** Prayers: one sealed intention for each spirit and UTC day, answered with a short line. */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { sentence, patterned } from "../Fields.ts"
import { Address, AgentName, Timestamp, TransactionHash, Url, Uuid } from "../Common.ts"
import { Commitment, CommitmentRefused } from "./Commitment.ts"
import { paidErrors, paidHeaders, settled } from "../payments/Endpoint.ts"
import { Receipt } from "../payments/Payment.ts"
import { held } from "../payments/Held.ts"
import { chosen } from "../payments/Recorded.ts"
import { paid } from "../payments/Sale.ts"
import { Unknown } from "./Requests.ts"
import { SpiritId, SpiritNotFound } from "./Spirit.ts"
import { at, envelope } from "../Refusal.ts"

/** A UTC calendar day. */
export const Day = patterned(/^\d{4}-\d{2}-\d{2}$/u, 10).annotate({
  identifier: "Day",
  description: "A UTC day, YYYY-MM-DD.",
  examples: ["2026-11-21"],
})

export const PrayerBody = Schema.Struct({
  agentName: AgentName,
  intentionCommitment: Commitment,
}).annotate({
  identifier: "PrayerBody",
  description: "The name of the praying agent and the commitment of the sealed intention.",
  examples: [
    {
      agentName: "Wren",
      intentionCommitment: "6afde0a2de2a0973df45fed7040a985cb1efcdba7153d9420aa8743a19fb664a",
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
  line: sentence("Noted, at dawn, in wet grass.").annotate({
    description: "The spirit's answer, one of its own lines.",
  }),
  replayed: Schema.Boolean,
}).annotate({ identifier: "PrayerSettled", description: "A settled prayer with the spirit's line and its receipt." })

export class PrayerDayNotToday extends Schema.Error<PrayerDayNotToday>("PrayerDayNotToday")(
  envelope("prayer_day_not_today", "A prayer is for the current UTC day only.", "Omit the day query or send today."),
  at(409, "The day is not today in UTC."),
) {}

export class PrayerAlreadyRecorded extends Schema.Error<PrayerAlreadyRecorded>("PrayerAlreadyRecorded")(
  envelope(
    "prayer_already_recorded",
    "This spirit has its prayer for today.",
    "Try again after midnight UTC, or choose another spirit.",
  ),
  at(409, "The prayer of this spirit and day is recorded."),
) {}

export class PrayerSlotTaken extends Schema.Error<PrayerSlotTaken>("PrayerSlotTaken")(
  {
    ...envelope(
      "prayer_slot_taken",
      "A payment in flight holds the prayer slot of this spirit and day.",
      "Try again later, by heldUntil at the latest, or choose another spirit.",
    ),
    ...held,
  },
  at(409, "The slot is held by a payment in flight."),
) {}

export const offerPrayer = paid(
  HttpApiEndpoint.post("offerPrayer", "/api/prayers/:familiarId", {
    params: { familiarId: SpiritId },
    headers: paidHeaders,
    query: { day: Schema.optionalKey(Day) },
    payload: PrayerBody,
    success: settled(PrayerSettled),
    error: [
      ...paidErrors,
      SpiritNotFound,
      PrayerDayNotToday,
      PrayerAlreadyRecorded,
      PrayerSlotTaken,
      CommitmentRefused,
    ],
  }).annotate(Unknown, () => new SpiritNotFound({})),
  {
    priceAtomic: 10_000n,
    kind: "prayer",
    plural: "Prayers",
    thing: "a sealed prayer",
    command: "pray",
    repetition: "daily",
    defaults: { day: chosen },
    description: "One prayer on a spirit's altar: a sealed intention for today",
    parameter: "spirit-id",
    title: "Lay a prayer",
    summary:
      "One sealed prayer for each spirit and UTC day; the spirit answers with a line. With a day query, it is part of the signed URL.",
  },
)
