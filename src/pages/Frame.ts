/** The facts that all pages of a server share. */
import { Effect } from "effect"
import { base } from "../../schema/payments/Usdc.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"

export interface Surroundings {
  readonly publicUrl: string
  /** USDC on Base, tokens of a test network, or the sandbox's own. The last two are worth nothing. */
  readonly money: "real" | "test" | "play"
}

export const surroundings = Effect.gen(function* () {
  const payment = yield* PaymentTerms
  const terms = payment._tag === "Ready" ? payment.terms : undefined
  const isReal = terms === undefined || terms.network === base
  const money = terms?.isPlayMoney === true ? "play" : isReal ? "real" : "test"
  return { publicUrl: yield* PublicUrl, money } satisfies Surroundings
})
