/** Whether a wallet signed: ordinary wallets are checked here, and only a wallet with code has to be asked. */
import { Clock, Context, Effect, Layer } from "effect"
import type { Address } from "../../../schema/Common.ts"
import { Chain } from "./Chain.ts"
import type { ChainUnavailable } from "./ChainUnavailable.ts"
import { deploymentOf, type SignedAuthorization } from "./Eip3009.ts"
import type { Terms } from "../PaymentTerms.ts"
import { HexText } from "../Hex.ts"
import { reader } from "./Rpc.ts"
import * as KeyChecks from "./KeyChecks.ts"
import { signings } from "./Signing.ts"

/** Milliseconds for which a wallet without code is taken for one, and how many are remembered. */
const codelessFor = 30_000
const codelessKept = 10_000

const readCode = reader("eth_getCode", HexText)

export class Signatures extends Context.Service<
  Signatures,
  {
    /**
     * False when nobody can make the token take this signature: the wallet's key did not sign, and there is no code
     * at its address that could judge otherwise. True is no verdict: a wallet with code, or one that its signature
     * deploys, is judged by the chain.
     */
    plausible(authorization: SignedAuthorization, terms: Terms): Effect.Effect<boolean, ChainUnavailable>
  }
>()("spirit-altar/payments/x402/Signatures") {
  static readonly layer = Layer.effect(
    Signatures,
    Effect.gen(function* () {
      const { ask } = yield* Chain
      const isSigned = yield* KeyChecks.make()
      const signingOf = signings()
      /** When each wallet was seen to have no code, oldest first. */
      const codeless = new Map<Address, number>()

      /** A forger may name one wallet a thousand times: the node is asked about it twice a minute. */
      const hasCode = Effect.fnUntraced(function* (wallet: Address) {
        const now = yield* Clock.currentTimeMillis
        if (now - (codeless.get(wallet) ?? -codelessFor) < codelessFor) return false
        const code = yield* Effect.flatMap(ask("eth_getCode", [wallet, "latest"]), readCode)
        if (code.length > 2) return true
        codeless.delete(wallet)
        codeless.set(wallet, now)
        const oldest = codeless.size > codelessKept ? codeless.keys().next().value : undefined
        if (oldest !== undefined) codeless.delete(oldest)
        return false
      })

      const plausible = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
        if (deploymentOf(authorization.signature) !== undefined) return true
        // What cannot be read as a signature of a wallet's own key is none.
        const signing = signingOf(authorization, terms)
        return (signing !== undefined && (yield* isSigned(signing))) || (yield* hasCode(authorization.from))
      })

      return Signatures.of({ plausible })
    }),
  )
}
