/** Everything on sale at this server: the one source of every document and tool for agents. */
import type { Refusal } from "../../schema/Refusal.ts"
import { Context, Effect, Layer } from "effect"
import { type Field, fieldsOf } from "../../schema/Form.ts"
import type { PaymentRequirements } from "../../schema/payments/Payment.ts"
import { priceUsd } from "../../schema/payments/Payment.ts"
import { isForCards } from "../payments/card/Rail.ts"
import { bodyOf } from "../payments/Act.ts"
import { type PaidAct, PaidActs } from "../payments/Act.ts"
import { PaymentTerms, requirementsOf } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"

export interface Offer {
  readonly act: PaidAct<Refusal>
  /** Path with `:name` for its parameter, as in the contract. */
  readonly path: string
  /** The path's parameter; an act has at most one. */
  readonly parameter: Field | undefined
  readonly query: ReadonlyArray<Field>
  readonly body: ReadonlyArray<Field>
  /** Every absolute URL that sells it, without queries. */
  readonly urls: ReadonlyArray<string>
  readonly priceUsd: string
  readonly amountAtomic: string
  /** Whether its 402 also offers to charge a card. */
  readonly cards: boolean
  /** The payments that its 402 accepts; empty while payments are not configured. */
  readonly accepts: ReadonlyArray<PaymentRequirements>
}

export class Offers extends Context.Service<Offers, ReadonlyArray<Offer>>()("spirit-altar/agents/Offers") {
  static readonly layer = Layer.effect(
    Offers,
    Effect.gen(function* () {
      const acts = yield* PaidActs
      const terms = yield* PaymentTerms
      const publicUrl = yield* PublicUrl

      return [...acts.values()].map((act): Offer => {
        const { path, params, query } = act.endpoint
        const parameter = fieldsOf(params)[0]
        const values = parameter === undefined ? [""] : (act.targets ?? parameter.choices ?? [`{${parameter.name}}`])
        return {
          act,
          path,
          parameter,
          query: fieldsOf(query),
          body: fieldsOf(bodyOf(act.endpoint)),
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
