/** The routes of the other paid acts, and how a paid request ended. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { header } from "../Bounds.ts"
import { optionalBody } from "../openapi/OptionalBody.ts"
import { CandleBody, CandleSettled, UnsealAnswer, UnsealBody } from "./Candle.ts"
import { CollectibleSettled, ElementId } from "./Collectible.ts"
import { Uuid } from "../Common.ts"
import {
  AltarRequests,
  anyhowErrors,
  cardRule,
  described,
  paidAnyhow,
  paidErrors,
  paidHeaders,
  PaymentRefusal,
  Pending,
  priced,
  settled,
  settledAnyhow,
  Unknown,
} from "../payments/Endpoint.ts"
import { AlreadyKept, KeeperSlotTaken } from "./Keeper.ts"
import { AlreadyUnsealed, CandleNotFound, CandleNotSettled, DedicationHeld, NotSealed, ParentNotLit } from "./Candle.ts"
import { AttemptNotFound, PaymentsUnavailable } from "../payments/Errors.ts"
import { CommitmentMismatch, CommitmentRefused } from "./Commitment.ts"
import { ElementNotFound, SoldOut } from "./Collectible.ts"
import { PrayerAlreadyRecorded, PrayerDayNotToday, PrayerSlotTaken } from "./Prayer.ts"
import { SpiritNotFound } from "./Spirit.ts"
import { KeeperSettled, WhyBody } from "./Keeper.ts"
import { IdempotencyKey } from "../payments/Payment.ts"
import { type Price, prices } from "../payments/Prices.ts"
import { Day, PrayerBody, PrayerSettled } from "./Prayer.ts"
import { SpiritId } from "./Spirit.ts"
import { WitnessSettled } from "./Witness.ts"

const noSpirit = () => new SpiritNotFound({})

const offerPrayer = HttpApiEndpoint.post("offerPrayer", "/api/prayers/:familiarId", {
  params: { familiarId: SpiritId },
  headers: paidHeaders,
  query: { day: Schema.optionalKey(Day) },
  payload: PrayerBody,
  success: settled(PrayerSettled),
  error: [...paidErrors, SpiritNotFound, PrayerDayNotToday, PrayerAlreadyRecorded, PrayerSlotTaken, CommitmentRefused],
})
  .annotateMerge(
    priced(
      prices.offerPrayer,
      "Lay a prayer",
      "One sealed prayer for each spirit and UTC day; the spirit answers with a line. With a day query, it is part of the signed URL.",
    ),
  )
  .annotate(Unknown, noSpirit)

const takeIn = HttpApiEndpoint.post("takeIn", "/api/acquire/:familiarId", {
  params: { familiarId: SpiritId },
  headers: paidHeaders,
  payload: WhyBody,
  success: settled(KeeperSettled),
  error: [...paidErrors, SpiritNotFound, AlreadyKept, KeeperSlotTaken],
})
  .annotateMerge(
    priced(
      prices.takeIn,
      "Become a spirit's first keeper",
      "One permanent record for each spirit. The body is optional.",
    ),
  )
  .annotateMerge(optionalBody)
  .annotate(Unknown, noSpirit)

const collect = HttpApiEndpoint.post("collect", "/api/elements/:elementId/collect", {
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
})
  .annotateMerge(
    priced(
      prices.collectMaterial,
      "Collect a material, crab or pixel",
      "The next numbered edition of the item. The body is optional.",
    ),
  )
  .annotateMerge(optionalBody)
  .annotate(Unknown, () => new ElementNotFound({}))

const candle = <const Name extends string, const Rung extends string>(
  name: Name,
  rung: Rung,
  price: Price,
  days: string,
) =>
  HttpApiEndpoint.post(name, `/api/candles/${rung}/:familiarId`, {
    params: { familiarId: SpiritId },
    headers: paidHeaders,
    payload: CandleBody,
    success: settledAnyhow(CandleSettled),
    error: [...anyhowErrors, SpiritNotFound, ParentNotLit, DedicationHeld, CommitmentRefused],
  })
    .annotateMerge(
      priced(
        price,
        `Light a candle for ${days}`,
        `A votive candle with a public dedication, or with parentId a light on a lit candle.${price.cards === true ? ` ${cardRule}` : ""}`,
      ),
    )
    .annotate(Unknown, noSpirit)

const unseal = HttpApiEndpoint.post("unseal", "/api/candles/:candleId/unseal", {
  params: { candleId: Uuid },
  payload: UnsealBody,
  success: [UnsealAnswer.pipe(HttpApiSchema.status(200)), UnsealAnswer.pipe(HttpApiSchema.status(201))],
  error: [CandleNotFound, CommitmentMismatch, AlreadyUnsealed, CandleNotSettled, NotSealed],
})
  .annotateMerge(
    described(
      "unsealCandle",
      "Unseal the words of a candle or light",
      "Free, once. Salt and words must hash to the commitment. 201 the first time, 200 for the same data again. Words that look like a link, wallet or address are stored and verified but shown hidden.",
    ),
  )
  .annotate(Unknown, () => new CandleNotFound({}))

export class PaidGroup extends HttpApiGroup.make("paid")
  .add(
    offerPrayer,
    takeIn,
    collect,
    candle("lightDay", "day", prices.lightDay, "one day"),
    candle("lightWeek", "week", prices.lightWeek, "seven days"),
    candle("lightMonth", "month", prices.lightMonth, "thirty days"),
    unseal,
  )
  .middleware(AltarRequests)
  .annotateMerge(OpenApi.annotations({ title: "Altar", description: "Prayers, keepers, collectibles and candles." })) {}

/** The answer of a settled attempt, of whichever act. */
const AnySettled = Schema.Union([
  WitnessSettled,
  PrayerSettled,
  KeeperSettled,
  CollectibleSettled,
  CandleSettled,
]).annotate({ identifier: "AnySettled", description: "The answer of a settled act of any kind." })

const reconcile = HttpApiEndpoint.post("reconcile", "/api/reconcile/:idempotencyKey", {
  params: { idempotencyKey: IdempotencyKey },
  success: [
    HttpApiSchema.WithHeaders(AnySettled.pipe(HttpApiSchema.status(200)), {
      ...paidAnyhow,
      "idempotent-replayed": header("`true`: this answer was given before.", "true"),
    }),
    Pending,
  ],
  error: [PaymentRefusal, AttemptNotFound, PaymentsUnavailable],
})
  .annotateMerge(
    described(
      "reconcile",
      "Ask how a paid request ended",
      "Free and safe at any time. Looks for evidence on the chain: 200 with the answer when settled, 202 while unknown, 402 `payment_failed` when it can never settle, which only a server that takes payments can say with a new offer: 503 elsewhere.",
    ),
  )
  .annotate(Unknown, () => new AttemptNotFound({}))

export class PaymentsGroup extends HttpApiGroup.make("payments")
  .add(reconcile)
  .middleware(AltarRequests)
  .annotateMerge(OpenApi.annotations({ title: "Payments", description: "How a paid request ended." })) {}
