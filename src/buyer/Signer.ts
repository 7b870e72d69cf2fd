/** Signs a challenge as an x402 v2 payment: an EIP-3009 transfer of exactly the offer. */
import { Clock, Effect } from "effect"
import { type AuthorizationData, boundTo, paymentHeaderOf, typedDataOf } from "./core/Authorization.ts"
import type { Challenge } from "./core/Challenge.ts"
import { refuse } from "./PurchaseError.ts"

/** A signer of EIP-712 typed data for an address: a viem account, or a browser's wallet. */
export interface Account {
  readonly address: `0x${string}`
  readonly signTypedData: (data: AuthorizationData) => Promise<`0x${string}`>
}

/** Returns the content of `PAYMENT-SIGNATURE`, bound to the request; `Policy.ts` must have approved the challenge. */
export const sign = Effect.fn("Signer.sign")(function* (
  account: Account,
  challenge: Challenge,
  body: string,
  key: string,
) {
  const bound = yield* Effect.promise(() => boundTo(challenge, body))
  const data = typedDataOf(challenge, bound, account.address, yield* Clock.currentTimeMillis)
  const signature = yield* Effect.tryPromise({
    try: () => account.signTypedData(data),
    catch: () => refuse("not_signed", "The wallet gave no signature. Nothing was charged.", key),
  })
  return paymentHeaderOf(challenge, bound, data, signature)
})
