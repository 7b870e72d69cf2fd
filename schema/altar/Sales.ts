/** The list of everything that is sold; routes, manifests, prices and clients are generated from it. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import type { Group } from "../Group.ts"
import { header } from "../Fields.ts"
import { anyRailHeaders, PaymentRefusal, Pending, reconcilePath } from "../payments/Endpoint.ts"
import { AttemptNotFound, PaymentsUnavailable } from "../payments/Errors.ts"
import { IdempotencyKey } from "../payments/Payment.ts"
import { refundLink } from "../payments/Refund.ts"
import { answersOf } from "../payments/Sale.ts"
import { lightDay, lightMonth, lightWeek } from "./Candle.ts"
import { collectMaterial } from "./Collectible.ts"
import { takeIn } from "./Keeper.ts"
import { offerPrayer } from "./Prayer.ts"
import { AltarRequests, described, Unknown } from "./Requests.ts"
import { setWitnessStone } from "./Witness.ts"

/** The endpoints that sell acts, in the order of every price list. */
export const sales = [offerPrayer, takeIn, collectMaterial, lightDay, lightWeek, lightMonth, setWitnessStone] as const

export type Sold = (typeof sales)[number]

/** The acts of each kind, in the same order: three candles are one kind. */
export const kinds: ReadonlyMap<string, ReadonlyArray<Sold>> = Map.groupBy(sales, ({ sale }) => sale.kind)

export const PaidGroup: Group<"paid", Sold, AltarRequests> = HttpApiGroup.make("paid")
  .add(...sales)
  .middleware(AltarRequests)
  .annotateMerge(OpenApi.annotations({ title: "Altar", description: "Prayers, keepers, collectibles and candles." }))

type Answer = Extract<Sold["~Success"], { readonly schema: { readonly Type: { readonly record: object } } }>["schema"]

/** Endpoints erase the types of their answers; the first one is settled. */
const isAnswer = (schema: Schema.Top | undefined): schema is Answer => Schema.isSchema(schema)

/** The answer of a settled attempt at any act. */
const AnySettled = Schema.Union(sales.map((endpoint) => answersOf(endpoint)[0]).filter(isAnswer)).annotate({
  identifier: "AnySettled",
  description: "The answer of a settled act of any kind.",
})

export const reconcile = HttpApiEndpoint.post("reconcile", reconcilePath, {
  params: { idempotencyKey: IdempotencyKey },
  success: [
    HttpApiSchema.WithHeaders(AnySettled.pipe(HttpApiSchema.status(200)), {
      ...anyRailHeaders,
      "idempotent-replayed": header("`true`: this answer is a replay.", "true"),
      link: Schema.optionalKey(
        header(
          "Where the payment was refunded: its act, whose receipt shows the refund. The body stays the first answer.",
          refundLink("3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"),
          /^<\/api\/acts\/[0-9a-f-]{36}>; rel="related"; title="refund"$/u,
        ),
      ),
    }),
    Pending,
  ],
  error: [PaymentRefusal, AttemptNotFound, PaymentsUnavailable],
})
  .annotateMerge(
    described(
      "Ask for the outcome of a paid request",
      "Free and safe at any time. Looks for evidence on the chain: 200 with the answer when settled, 202 while unknown, 402 `payment_failed` with a new offer when its attempt has failed, or 503 on a server without payments. The 402 has a `refund` where the payment arrived later and was refunded.",
    ),
  )
  .annotate(Unknown, () => new AttemptNotFound({}))

export const PaymentsGroup: Group<"payments", typeof reconcile, AltarRequests> = HttpApiGroup.make("payments")
  .add(reconcile)
  .middleware(AltarRequests)
  .annotateMerge(OpenApi.annotations({ title: "Payments", description: "The outcome of paid requests." }))
