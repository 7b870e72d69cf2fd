/** Everything on sale at this server: the one source of every document and tool for agents. */
import type { Refusal } from "../../schema/Refusal.ts"
import { Context, Effect, Layer, Schema } from "effect"
import type { PaymentRequirements } from "../../schema/payments/Payment.ts"
import { priceUsd } from "../../schema/payments/Payment.ts"
import { isForCards } from "../payments/card/Rail.ts"
import { bodyOf } from "../payments/Act.ts"
import { type PaidAct, PaidActs } from "../payments/Act.ts"
import { PaymentTerms, requirementsOf } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"

export interface Member {
  readonly name: string
  readonly required: boolean
  readonly meaning: string
}

export interface Offer {
  readonly act: PaidAct<Refusal>
  /** Path with `:name` for its parameter, as in the contract. */
  readonly path: string
  /** The path's parameter; an act has at most one. */
  readonly parameter: Member | undefined
  readonly query: ReadonlyArray<Member>
  readonly body: ReadonlyArray<Member>
  /** Every absolute URL that sells it, without queries. */
  readonly urls: ReadonlyArray<string>
  readonly priceUsd: string
  readonly amountAtomic: string
  /** Whether its 402 also offers to charge a card. */
  readonly cards: boolean
  /** The payments that its 402 accepts; empty while payments are not configured. */
  readonly accepts: ReadonlyArray<PaymentRequirements>
}

const Described = Schema.Struct({
  schema: Schema.Struct({
    properties: Schema.optionalKey(
      Schema.Record(
        Schema.String,
        Schema.Struct({
          description: Schema.optionalKey(Schema.String),
          enum: Schema.optionalKey(Schema.Array(Schema.Json)),
          allOf: Schema.optionalKey(Schema.Array(Schema.Struct({ description: Schema.optionalKey(Schema.String) }))),
        }),
      ),
    ),
    required: Schema.optionalKey(Schema.Array(Schema.String)),
  }),
})
const decode = Schema.decodeUnknownSync(Described)

const describedBy = (schema: Schema.Top | undefined): (typeof Described.Type)["schema"] =>
  schema === undefined ? {} : decode(Schema.toJsonSchemaDocument(schema, { referencePolicy: () => undefined })).schema

const membersOf = (schema: Schema.Top | undefined): ReadonlyArray<Member> => {
  const { properties = {}, required = [] } = describedBy(schema)
  return Object.entries(properties).map(([name, { allOf, description }]) => ({
    name,
    required: required.includes(name),
    meaning: [description, ...(allOf ?? []).map((part) => part.description)].filter(Boolean).join(" "),
  }))
}

/** The values that the contract lists for a parameter, or its template where it lists none. */
const valuesOf = (schema: Schema.Top | undefined, name: string): ReadonlyArray<string> =>
  describedBy(schema).properties?.[name]?.enum?.map(String) ?? [`{${name}}`]

export class Offers extends Context.Service<Offers, ReadonlyArray<Offer>>()("spirit-altar/agents/Offers") {
  static readonly layer = Layer.effect(
    Offers,
    Effect.gen(function* () {
      const acts = yield* PaidActs
      const terms = yield* PaymentTerms
      const publicUrl = yield* PublicUrl

      return [...acts.values()].map((act): Offer => {
        const { path, params, query } = act.endpoint
        const parameter = membersOf(params)[0]
        const values = parameter === undefined ? [""] : (act.targets ?? valuesOf(params, parameter.name))
        return {
          act,
          path,
          parameter,
          query: membersOf(query),
          body: membersOf(bodyOf(act.endpoint)),
          urls: values.map((value) => `${publicUrl}${path.replace(/:[A-Za-z]+/u, value)}`),
          priceUsd: priceUsd(act.priceAtomic),
          amountAtomic: act.priceAtomic.toString(),
          cards: terms._tag === "Ready" && terms.rails.includes("card") && isForCards(act),
          accepts: terms._tag === "Ready" ? [requirementsOf(terms.terms, act.priceAtomic)] : [],
        }
      })
    }),
  )
}
