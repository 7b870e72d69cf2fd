/** Whether a wallet signed: ordinary wallets are checked here, and only a wallet with code has to be asked. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { encodeFunctionData, type Hex, hashTypedData, parseAbi } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { transferTypes } from "../../../../schema/payments/TransferTypes.ts"
import { Chain, isRevert } from "../node/Chain.ts"
import type { ChainUnavailable } from "../node/ChainUnavailable.ts"
import { chainIdOf, deploymentOf, type SignedAuthorization } from "./Eip3009.ts"
import type { Terms } from "../../PaymentTerms.ts"
import { HexText } from "../../Hex.ts"
import { reader } from "../node/Rpc.ts"
import * as KeyChecks from "./KeyChecks.ts"
import { signings } from "./Signing.ts"

/** Milliseconds for which a wallet without code is taken for one, and how many are remembered. */
const codelessFor = 30_000
const codelessKept = 10_000

const readCode = reader("eth_getCode", HexText)
const readAnswer = reader("eth_call", HexText)

const walletAbi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"])

/** What a wallet says of a signature that it stands for (EIP-1271). */
const standsForIt = `0x1626ba7e${"0".repeat(56)}`

/** The question to a wallet whether it stands for a signature; none where a number does not fit its type. */
const walletCall = Option.liftThrowable((authorization: SignedAuthorization, terms: Terms, signature: Hex): Hex => {
  const { asset, from, nonce, to, validAfter, validBefore, value } = authorization
  const domain = {
    name: terms.assetName,
    version: terms.assetVersion,
    chainId: chainIdOf(terms.network),
    verifyingContract: asset,
  }
  const message = { from, to, value, validAfter, validBefore, nonce }
  const digest = hashTypedData({
    domain,
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message,
  })
  return encodeFunctionData({ abi: walletAbi, functionName: "isValidSignature", args: [digest, signature] })
})

export class Signatures extends Context.Service<
  Signatures,
  {
    /**
     * False when nobody can make the token take this signature: the wallet's key did not sign, and there is no code
     * at its address that could judge otherwise. True is no verdict: a wallet with code, or one that its signature
     * deploys, is judged by the chain.
     */
    plausible(authorization: SignedAuthorization, terms: Terms): Effect.Effect<boolean, ChainUnavailable>
    /**
     * Whether the wallet's key signed, or the wallet's code stands for the signature now. The token judges a signature
     * only where it moves money: of an authorization that is used, nothing else says whose it is.
     */
    proven(authorization: SignedAuthorization, terms: Terms): Effect.Effect<boolean, ChainUnavailable>
    /** Whether the signature would deploy its wallet, which has no code: nobody can say whose it is, and it cannot have paid. */
    isUndeployed(authorization: SignedAuthorization): Effect.Effect<boolean, ChainUnavailable>
  }
>()("spirit-altar/payments/x402/verification/Signatures") {
  static readonly layer = Layer.effect(
    Signatures,
    Effect.gen(function* () {
      const { ask } = yield* Chain
      const isSigned = yield* KeyChecks.make()
      const signingOf = signings()
      /** When each wallet was seen to have no code, oldest first. */
      const codeless = new Map<Address, number>()

      const isCodeless = (wallet: Address) =>
        ask("eth_getCode", [wallet, "latest"]).pipe(
          Effect.flatMap(readCode),
          Effect.map((code) => code.length <= 2),
        )

      /** A forger may name one wallet a thousand times: the node is asked about it twice a minute. */
      const hasCode = Effect.fnUntraced(function* (wallet: Address) {
        const now = yield* Clock.currentTimeMillis
        if (now - (codeless.get(wallet) ?? -codelessFor) < codelessFor) return false
        if (!(yield* isCodeless(wallet))) return true
        codeless.delete(wallet)
        codeless.set(wallet, now)
        const oldest = codeless.size > codelessKept ? codeless.keys().next().value : undefined
        if (oldest !== undefined) codeless.delete(oldest)
        return false
      })

      /** What cannot be read as a signature of a wallet's own key is none. */
      const byKey = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
        const signing = signingOf(authorization, terms)
        return signing !== undefined && (yield* isSigned(signing))
      })

      const plausible = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
        if (deploymentOf(authorization.signature) !== undefined) return true
        return (yield* byKey(authorization, terms)) || (yield* hasCode(authorization.from))
      })

      const byWallet = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
        const { from, signature } = authorization
        const call = walletCall(authorization, terms, deploymentOf(signature)?.signature ?? signature)
        if (Option.isNone(call)) return false
        return yield* ask("eth_call", [{ to: from, data: call.value }, "latest"]).pipe(
          Effect.flatMap(readAnswer),
          Effect.map((answer) => answer.startsWith(standsForIt)),
          Effect.catchIf(isRevert, () => Effect.succeed(false)),
        )
      })

      const proven = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
        return (yield* byKey(authorization, terms)) || (yield* byWallet(authorization, terms))
      })

      const isUndeployed = ({ from, signature }: SignedAuthorization) =>
        deploymentOf(signature) === undefined ? Effect.succeed(false) : isCodeless(from)

      return Signatures.of({ plausible, proven, isUndeployed })
    }),
  )
}
