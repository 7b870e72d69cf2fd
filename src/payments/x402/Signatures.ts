/** Whether a wallet signed: ordinary wallets are checked here, and only a wallet with code has to be asked. */
import { Clock, Context, Effect, Layer } from "effect"
import { verifyTypedData } from "viem/utils"
import type { Address } from "../../../schema/Common.ts"
import { Chain } from "./Chain.ts"
import type { ChainUnavailable } from "./ChainUnavailable.ts"
import { chainIdOf, deploymentOf, type SignedAuthorization } from "./Eip3009.ts"
import type { Terms } from "../PaymentTerms.ts"
import { ask } from "./Rpc.ts"

const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const

/** Milliseconds for which a wallet without code is taken for one, and how many are remembered. */
const codelessFor = 30_000
const codelessKept = 10_000

/** Whether the wallet's own key signed; what cannot be read as such a signature is none. */
const isSignedByKey = ({ asset, signature, ...message }: SignedAuthorization, terms: Terms) =>
  Effect.tryPromise(() =>
    verifyTypedData({
      address: message.from,
      domain: {
        name: terms.assetName,
        version: terms.assetVersion,
        chainId: chainIdOf(terms.network),
        verifyingContract: asset,
      },
      types,
      primaryType: "TransferWithAuthorization",
      message,
      signature,
    }),
  ).pipe(Effect.orElseSucceed(() => false))

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
      const { client } = yield* Chain
      /** When each wallet was seen to have no code, oldest first. */
      const codeless = new Map<Address, number>()

      /** A forger may name one wallet a thousand times: the node is asked about it twice a minute. */
      const hasCode = Effect.fnUntraced(function* (wallet: Address) {
        const now = yield* Clock.currentTimeMillis
        if (now - (codeless.get(wallet) ?? -codelessFor) < codelessFor) return false
        const code = yield* ask("eth_getCode", () =>
          client.request({ method: "eth_getCode", params: [wallet, "latest"] }).then((found) => BigInt(found.length)),
        )
        if (code > 2n) return true
        codeless.delete(wallet)
        codeless.set(wallet, now)
        const oldest = codeless.size > codelessKept ? codeless.keys().next().value : undefined
        if (oldest !== undefined) codeless.delete(oldest)
        return false
      })

      const plausible = Effect.fn("Signatures.plausible")(function* (authorization: SignedAuthorization, terms: Terms) {
        if (deploymentOf(authorization.signature) !== undefined) return true
        return (yield* isSignedByKey(authorization, terms)) || (yield* hasCode(authorization.from))
      })

      return Signatures.of({ plausible })
    }),
  )
}
