/** Everything sold here, as this server sells it now: the one source of every document and tool for agents. */
import { Context, Effect, Layer, Schema } from "effect"
import type { PaymentRequirements } from "../../schema/payments/Payment.ts"
import { priceUsd } from "../../schema/payments/Payment.ts"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { Items } from "../altar/collectibles/Items.ts"
import { isForCards } from "../payments/card/CardRail.ts"
import { endpointOf } from "../payments/x402/Endpoints.ts"
import { type PaidAct, PaidActs } from "../payments/PaidAct.ts"
import { PaymentTerms, requirementsOf } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"

/** A member of a request, as the contract describes it. */
export interface Member {
  readonly name: string
  readonly required: boolean
  readonly meaning: string
}

export interface Offer {
  readonly act: PaidAct<unknown>
  /** What the spend policy calls it. */
  readonly action: string
  /** Path with `:name` for its parameter, as in the contract. */
  readonly path: string
  /** The path's parameter; every act has one at most. */
  readonly parameter: Member | undefined
  readonly query: ReadonlyArray<Member>
  readonly body: ReadonlyArray<Member>
  /** Every absolute URL it is bought at, queries aside. */
  readonly urls: ReadonlyArray<string>
  readonly priceUsd: string
  readonly amountAtomic: string
  /** Whether its 402 offers to charge a card as well. */
  readonly cards: boolean
  /** What its 402 accepts; nothing while payments are not configured. */
  readonly accepts: ReadonlyArray<PaymentRequirements>
}

const Described = Schema.Struct({
  schema: Schema.Struct({
    properties: Schema.optionalKey(
      Schema.Record(
        Schema.String,
        Schema.Struct({
          description: Schema.optionalKey(Schema.String),
          allOf: Schema.optionalKey(Schema.Array(Schema.Struct({ description: Schema.optionalKey(Schema.String) }))),
        }),
      ),
    ),
    required: Schema.optionalKey(Schema.Array(Schema.String)),
  }),
})
const describedBy = Schema.decodeUnknownSync(Described)

const membersOf = (schema: Schema.Top | undefined): ReadonlyArray<Member> => {
  if (schema === undefined) return []
  const { properties, required } = describedBy(
    Schema.toJsonSchemaDocument(schema, { referencePolicy: () => undefined }),
  ).schema
  return Object.entries(properties ?? {}).map(([name, { allOf, description }]) => ({
    name,
    required: required?.includes(name) === true,
    meaning: [description, ...(allOf ?? []).map((part) => part.description)].filter(Boolean).join(" "),
  }))
}

export class Offers extends Context.Service<Offers, ReadonlyArray<Offer>>()("spirit-altar/agents/Offers") {
  static readonly layer = Layer.effect(
    Offers,
    Effect.gen(function* () {
      const acts = yield* PaidActs
      const terms = yield* PaymentTerms
      const items = yield* Items
      const publicUrl = yield* PublicUrl

      return yield* Effect.forEach(acts.values(), (act) => {
        const endpoint = endpointOf(act.route)
        if (endpoint === undefined) return Effect.die(`no endpoint sells ${act.name}`)
        const { path } = endpoint
        const parameter = membersOf(endpoint.params)[0]
        const values = parameter === undefined ? [""] : parameter.name === "elementId" ? [...items.keys()] : spiritIds
        const offer: Offer = {
          act,
          action: act.action ?? act.name,
          path,
          parameter,
          query: membersOf(endpoint.query),
          body: membersOf([...endpoint.payload.values()][0]?.schemas[0]),
          urls: values.map((value) => `${publicUrl}${path.replace(/:[A-Za-z]+/u, value)}`),
          priceUsd: priceUsd(act.priceAtomic),
          amountAtomic: act.priceAtomic.toString(),
          cards: terms._tag === "Ready" && terms.rails.includes("card") && isForCards(act),
          accepts: terms._tag === "Ready" ? [requirementsOf(terms.terms, act.priceAtomic)] : [],
        }
        return Effect.succeed(offer)
      })
    }),
  )
}
