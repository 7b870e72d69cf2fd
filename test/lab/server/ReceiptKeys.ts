/** Keys of signed receipts, and the receipt that an answer carries. */
import { extractReceiptFromResponse, isJWSSignedReceipt } from "@x402/extensions/offer-receipt"
import { assert } from "@effect/vitest"
import { Result } from "effect"
import { generate, plainFrom } from "../../../src/log/Signer.ts"
import type { Answer } from "../Fixture.ts"

export const keyNamed = (name: string) => Result.getOrThrow(Result.flatMap(generate(name), plainFrom))

export const [first, second] = [keyNamed("receipts-1"), keyNamed("receipts-2")]

export const signedIn = ({ headers }: Pick<Answer, "headers">) => {
  const receipt = extractReceiptFromResponse(new Response(null, { headers }))
  if (receipt === undefined || !isJWSSignedReceipt(receipt)) return assert.fail("no signed receipt")
  return receipt
}

export const didOf = (url: string) => `did:web:${encodeURIComponent(new URL(url).host)}`
