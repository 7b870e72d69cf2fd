/** Checks a wallet's signature: by its key here, or by its contract on chain. */
import { Clock, Context, Effect, Function, Layer, Option } from "effect"
import {
  concat,
  domainSeparator,
  encodeFunctionData,
  type Hex,
  hashStruct,
  hexToBytes,
  isErc6492Signature,
  keccak256,
  parseAbi,
  parseErc6492Signature,
} from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { transferTypes } from "../../../../schema/payments/TransferTypes.ts"
import { BoundedMap } from "../../../platform/BoundedMap.ts"
import { Chain } from "../chain/Chain.ts"
import { chainIdOf, type SignedAuthorization } from "../chain/Eip3009.ts"
import type { Terms } from "../../PaymentTerms.ts"
import { call, hasCode } from "../chain/Questions.ts"
import { isRevert } from "../chain/Rpc.ts"

type Domain = Pick<Terms, "asset" | "assetName" | "assetVersion" | "network">

/** Milliseconds for which a wallet counts as one without code, and the maximum number remembered. */
const codelessFor = 30_000
const codelessKept = 10_000

const walletAbi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"])

/** The answer of a wallet that accepts a signature (EIP-1271). */
const standsForIt = `0x1626ba7e${"0".repeat(56)}`

/** Half of a digest's time would go into the token's domain, which stays the same. */
const separatorOf = Function.memoize(({ asset, assetName, assetVersion, network }: Domain) =>
  domainSeparator({
    domain: { name: assetName, version: assetVersion, chainId: chainIdOf(network), verifyingContract: asset },
  }),
)

/** The EIP-712 digest that a wallet signs for the token of the terms; none if a number does not fit its type. */
const digestOf = Option.liftThrowable(
  ({ from, nonce, to, validAfter, validBefore, value }: SignedAuthorization, domain: Domain): Hex => {
    const data = { from, to, value, validAfter, validBefore, nonce }
    const struct = hashStruct({ data, primaryType: "TransferWithAuthorization", types: transferTypes })
    return keccak256(concat(["0x1901", separatorOf(domain), struct]))
  },
)

/** r and s, and v as 0, 1, 27 or 28. */
const plainSignature = /^0x([0-9a-f]{128})(0[01]|1[bc])$/u

/** r, and s with the parity of y as its highest bit (EIP-2098). */
const compactSignature = /^0x([0-9a-f]{64})([0-9a-f])([0-9a-f]{63})$/u

/** Whether the signature has the length of a key's. Any other one can only be meant for code. */
export const isKeySized = ({ length }: Hex) => length === 130 || length === 132

const innerOf = Option.liftThrowable((signature: Hex) => parseErc6492Signature(signature).signature)

/** Removes one ERC-6492 wrapper. Its factory call is dropped, never run. A malformed wrapper stays. */
const unwrapped = (authorization: SignedAuthorization) => {
  const { signature } = authorization
  return isErc6492Signature(signature)
    ? { ...authorization, signature: Option.getOrElse(innerOf(signature), () => signature) }
    : authorization
}

const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

const isOdd = (v: string | undefined) => v === "01" || v === "1c"

/** The one spelling that tokens accept of a key's signature: 65 bytes, v 27 or 28. Any other text is unchanged. */
const plainly = (signature: Hex): Hex => {
  const [, r, first = "0", rest] = compactSignature.exec(signature) ?? []
  if (r !== undefined) {
    const bits = Number.parseInt(first, 16)
    return `0x${r}${(bits & 7).toString(16)}${rest}${bits < 8 ? "1b" : "1c"}`
  }
  const [, both, v] = plainSignature.exec(signature) ?? []
  return both === undefined ? signature : `0x${both}${isOdd(v) ? "1c" : "1b"}`
}

/** Whether s is in the upper half, where tokens refuse it. */
const isHighS = (signature: Hex) =>
  plainSignature.test(signature) && BigInt(`0x${signature.slice(66, 130)}`) > halfOrder

/** Loads a function that recovers the wallet whose key signed: several times as fast as viem's, which is JavaScript. */
export const makeRecover = async () => {
  const { instantiateSecp256k1 } = await import("@bitauth/libauth")
  const curve = await instantiateSecp256k1()
  /** Undefined if no key can have signed. */
  return (authorization: SignedAuthorization, domain: Domain): Address | undefined => {
    const [, both, v] = plainSignature.exec(authorization.signature) ?? []
    const digest = both === undefined ? Option.none() : digestOf(authorization, domain)
    if (both === undefined || Option.isNone(digest)) return undefined
    const signature = Buffer.from(both, "hex")
    const key = curve.recoverPublicKeyUncompressed(signature, isOdd(v) ? 1 : 0, hexToBytes(digest.value))
    return typeof key === "string" ? undefined : `0x${keccak256(key.subarray(1)).slice(-40)}`
  }
}

export class Signatures extends Context.Service<Signatures>()("spirit-altar/payments/x402/verify/Signature", {
  make: Effect.gen(function* () {
    const { ask } = yield* Chain
    // WebAssembly of 16 MB, loaded for the first payment.
    const recover = yield* Effect.cached(Effect.promise(makeRecover))
    /**
     * A forger may name one wallet a thousand times, so the node is asked about it at most twice a minute. A wrapped
     * signature is no reason to wait: its wallet may be deployed at any moment.
     */
    const codeless = new BoundedMap<Address, number>(codelessKept)
    const isContract = Effect.fnUntraced(function* ({ from, signature }: SignedAuthorization) {
      const now = yield* Clock.currentTimeMillis
      const isKept = !isErc6492Signature(signature)
      if (isKept && now - (codeless.get(from) ?? Number.NEGATIVE_INFINITY) < codelessFor) return false
      if (yield* ask(hasCode(from))) return true
      if (isKept) codeless.set(from, now)
      return false
    })

    /** A malformed signature is not one of a wallet's own key. */
    const byKey = (authorization: SignedAuthorization, terms: Terms) =>
      Effect.map(recover, (signerOf) => signerOf(authorization, terms) === authorization.from)

    const plainOf = (authorization: SignedAuthorization) => ({
      ...authorization,
      signature: plainly(authorization.signature),
    })

    /**
     * The authorization as it goes on chain: a signature of the wallet's key in the spelling that tokens accept, any
     * other without one wrapper. Undefined if neither the wallet's key signed nor its code could accept the signature.
     * Any other signature is left to the chain, because a wallet with code decides about its own.
     */
    const plausible = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
      const inner = unwrapped(authorization)
      const plain = plainOf(inner)
      const isByKey = yield* byKey(plain, terms)
      if (isByKey && !isErc6492Signature(authorization.signature)) return plain
      const signed = isByKey ? plain : inner
      return (yield* isContract(authorization)) ? signed : undefined
    })

    /** Whether the wallet's key signed with the upper of two values of s. */
    const isHigh = (authorization: SignedAuthorization, terms: Terms) =>
      isHighS(authorization.signature) ? byKey(authorization, terms) : Effect.succeed(false)

    const byWallet = Effect.fnUntraced(function* (authorization: SignedAuthorization, terms: Terms) {
      const { from, signature } = authorization
      const digest = digestOf(authorization, terms)
      if (Option.isNone(digest)) return false
      const args = [digest.value, signature] as const
      const data = encodeFunctionData({ abi: walletAbi, functionName: "isValidSignature", args })
      return yield* ask(call({ to: from, data }, "latest")).pipe(
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
      const inner = unwrapped(authorization)
      if (yield* byKey(plainOf(inner), terms)) return true
      return (yield* isContract(authorization)) && (yield* byWallet(inner, terms))
    })

    return { isSigner, plausible, proven, isHigh }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
