/** The surroundings of every page: the public address, links, and whether the money is real. */
import { Context, Effect, Layer } from "effect"
import { base } from "../../schema/payments/Usdc.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import type { Surroundings } from "./templates/Layout.ts"

export class Frame extends Context.Service<Frame, Surroundings>()("spirit-altar/pages/Frame") {
  static readonly layer = Layer.effect(
    Frame,
    Effect.gen(function* () {
      const payment = yield* PaymentTerms
      const terms = payment._tag === "Ready" ? payment.terms : undefined
      return {
        publicUrl: yield* PublicUrl,
        money: terms?.isPlayMoney === true ? "play" : terms === undefined || terms.network === base ? "real" : "test",
      }
    }),
  )
}
