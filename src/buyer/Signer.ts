/** A challenge becomes one signed x402 v2 payment: an EIP-3009 transfer of the offer, and nothing else. */
import { Clock, Effect } from "effect"
import { type AuthorizationData, paymentHeaderOf, typedDataOf } from "./core/Authorization.ts"
import type { Challenge } from "./core/Challenge.ts"
import { refuse } from "./PurchaseError.ts"

/** Anything that signs EIP-712 typed data for an address: a viem account, or a wallet of a browser. */
export interface Account {
  readonly address: `0x${string}`
  readonly signTypedData: (data: AuthorizationData) => Promise<`0x${string}`>
}

/** The content of `PAYMENT-SIGNATURE`; what it may ask for is decided by `Policy.ts`. */
export const sign = Effect.fn("Signer.sign")(function* (account: Account, challenge: Challenge, key: string) {
  const data = typedDataOf(challenge, account.address, yield* Clock.currentTimeMillis)
  const signature = yield* Effect.tryPromise({
    try: () => account.signTypedData(data),
    catch: () => refuse("not_signed", "The wallet gave no signature. Nothing was charged.", key),
  })
  return paymentHeaderOf(challenge, data, signature)
})
