/** Checks a wallet's signature: by its key here, or by its contract on chain. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { encodeFunctionData, type Hex, hashTypedData, parseAbi } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { transferTypes } from "../../../schema/payments/TransferTypes.ts"
import { BoundedMap } from "../../platform/BoundedMap.ts"
import { Chain } from "../chain/Chain.ts"
import { chainIdOf, type SignedAuthorization } from "../chain/Eip3009.ts"
import type { Terms } from "../PaymentTerms.ts"
import { call, getCode, isRevert } from "../chain/Rpc.ts"
import { isHighS, makeIsSigned, plainly, signings } from "./SigningKey.ts"

/** Milliseconds for which a wallet counts as one without code, and the maximum number remembered. */
const codelessFor = 30_000
const codelessKept = 10_000

const walletAbi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"])

/** The answer of a wallet that accepts a signature (EIP-1271). */
const standsForIt = `0x1626ba7e${"0".repeat(56)}`

/** The call that asks a wallet to verify a signature; none if a number does not fit its type. */
const walletCall = Option.liftThrowable((authorization: SignedAuthorization, terms: Terms): Hex => {
  const { asset, from, nonce, signature, to, validAfter, validBefore, value } = authorization
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

export class Signatures extends Context.Service<Signatures>()("spirit-altar/payments/verify/Signature", {
  make: Effect.gen(function* () {
    const { ask } = yield* Chain
    // WebAssembly of 16 MB, loaded for the first payment.
    const curve = yield* Effect.cached(Effect.promise(makeIsSigned))
    const signingOf = signings()
    /** A forger may name one wallet a thousand times, so the node is asked about it at most twice a minute. */
    const codeless = new BoundedMap<Address, number>(codelessKept)
    const hasCode = Effect.fnUntraced(function* (wallet: Address) {
      const now = yield* Clock.currentTimeMillis
      if (now - (codeless.get(wallet) ?? Number.NEGATIVE_INFINITY) < codelessFor) return false
      if ((yield* getCode(ask, wallet, "latest")).length > 2) return true
      codeless.set(wallet, now)
      return false
    })

    /** A malformed signature is not one of a wallet's own key. */
    const byKey = (authorization: SignedAuthorization, terms: Terms) => {
      const signing = signingOf(authorization, terms)
      return signing === undefined ? Effect.succeed(false) : Effect.map(curve, (isSigned) => isSigned(signing))
    }

    const plainOf = (authorization: SignedAuthorization) => ({
      ...authorization,
      signature: plainly(authorization.signature),
    })

    /**
     * The authorization as it goes on chain: a signature of the wallet's key in the spelling that tokens accept, any
     * other as it is. Undefined if neither the wallet's key signed nor its code could accept the signature. The rest is
     * no verdict: a wallet with code is judged by the chain.
     */
    const plausible = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
      const plain = plainOf(authorization)
      if (yield* byKey(plain, terms)) return plain
      return (yield* hasCode(authorization.from)) ? authorization : undefined
    })

    /** Whether the wallet's key signed with the upper of two values of s. */
    const isHigh = (authorization: SignedAuthorization, terms: Terms) =>
      isHighS(authorization.signature) ? byKey(authorization, terms) : Effect.succeed(false)

    const byWallet = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
      const data = walletCall(authorization, terms)
      if (Option.isNone(data)) return false
      return yield* call(ask, { to: authorization.from, data: data.value }, "latest").pipe(
        Effect.map((answer) => answer.startsWith(standsForIt)),
        Effect.catchIf(isRevert, () => Effect.succeed(false)),
      )
    })

    /**
     * Whether the wallet's key signed, or the wallet's code accepts the signature now. The token only checks signatures
     * of transfers, so this alone proves the owner of a used authorization.
     */
    const proven = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
      return (yield* byKey(authorization, terms)) || (yield* byWallet(authorization, terms))
    })

    /** Whether the wallet signed, in any spelling. A wallet without code costs the node nothing that is not cached. */
    const isSigner = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
      if (yield* byKey(plainOf(authorization), terms)) return true
      return (yield* hasCode(authorization.from)) && (yield* byWallet(authorization, terms))
    })

    return { isSigner, plausible, proven, isHigh }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
