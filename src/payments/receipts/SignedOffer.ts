/** The signed offer of a 402 (x402 extension `offer-receipt`), where the operator configured a key for it. */
import type { Challenge } from "../../../schema/payments/Payment.ts"
import { jwsOf } from "./Jws.ts"
import type { ReceiptKey } from "./ReceiptKeys.ts"

/** Adds the offer. It names no end, so that a 402 stays the same for every caller and is written once. */
export const withOffer = (publicUrl: string, key: ReceiptKey, challenge: Challenge): Challenge => {
  const [{ amount, asset, network, payTo, scheme }] = challenge.accepts
  const claims = { version: 1, resourceUrl: challenge.resource.url, scheme, network, asset, payTo, amount }
  const offer = { format: "jws", acceptIndex: 0, signature: jwsOf(publicUrl, key, "x402-offer+jws", claims) } as const
  return {
    ...challenge,
    extensions: { ...challenge.extensions, "offer-receipt": { info: { offers: [offer] }, schema: {} } },
  }
}
