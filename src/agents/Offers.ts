/** Everything on sale at this server: the one source of every document and tool for agents. */
import { Context, Effect, Layer } from "effect"
import { fieldsOf } from "../../schema/Form.ts"
import { priceUsd } from "../../schema/payments/Payment.ts"
import { bodyOf } from "../../schema/payments/Sale.ts"
import { PaidActs } from "../payments/Act.ts"
import { PaymentTerms, requirementsOf } from "../payments/PaymentTerms.ts"
import { Rails } from "../payments/Rails.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"

export class Offers extends Context.Service<Offers>()("spirit-altar/agents/Offers", {
  make: Effect.gen(function* () {
    const acts = yield* PaidActs
    const setting = yield* PaymentTerms
    const rails = yield* Rails
    const publicUrl = yield* PublicUrl

    return [...acts.values()].map((act) => {
      const { path, params, query } = act.endpoint
      const parameters = fieldsOf(params)
      // A path has at most one parameter.
      const [parameter] = parameters
      const values = parameter === undefined ? [""] : (act.targets ?? parameter.choices ?? [`{${parameter.name}}`])
      return {
        act,
        /** Path with `:name` for its parameter, as in the contract. */
        path,
        parameters,
        query: fieldsOf(query),
        body: fieldsOf(bodyOf(act.endpoint)),
        /** Every absolute URL that sells it, without queries. */
        urls: (parameters.length === 0 ? [""] : values).map(
          (value) => `${publicUrl}${path.replace(/:[A-Za-z]+/u, value)}`,
        ),
        priceUsd: priceUsd(act.priceAtomic),
        amountAtomic: act.priceAtomic.toString(),
        /** Whether its 402 also offers to charge a card. */
        cards: rails.of("card").sells(act),
        /** The payments that its 402 accepts; empty while payments are not configured. */
        accepts: setting._tag === "Ready" ? [requirementsOf(setting.terms, act.priceAtomic)] : [],
      }
    })
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}

export type Offer = Offers["Service"][number]
