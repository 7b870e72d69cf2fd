/** A stone bought by the unchanged x402 client: the answer, and everything that the client reads in it. */
import { ExactEvmScheme } from "@x402/evm"
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch"
import { Effect } from "effect"
import type { PrivateKeyAccount } from "viem/accounts"
import { newCommitment, newKey, post } from "../Fixture.ts"

export const stockPurchase = Effect.fnUntraced(function* (url: string, payer: PrivateKeyAccount) {
  const settlements: Array<object | undefined> = []
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(payer))
  client.onPaymentResponse(async ({ settleResponse }) => {
    settlements.push(settleResponse)
  })
  const key = newKey()
  const request = post({ commitment: newCommitment() }, { "idempotency-key": key })
  const answer = yield* Effect.promise(() => wrapFetchWithPayment(fetch, client)(`${url}/api/witness`, request))
  const result = yield* Effect.promise(() => new x402HTTPClient(client).processResponse(answer))
  return { server: url, answer, key, result, settlements }
})
