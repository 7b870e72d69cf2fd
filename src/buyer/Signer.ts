/** A challenge becomes one signed x402 v2 payment, made by the unchanged reference client. */
import type { ClientEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { x402Client, x402HTTPClient } from "@x402/fetch"
import { Effect } from "effect"
import type { Challenge } from "./core/Challenge.ts"
import { refuse } from "./PurchaseError.ts"

/** Anything that signs EIP-712 typed data for an address: a viem account, or a wallet of a browser. */
export type Account = ClientEvmSigner

/** The content of `PAYMENT-SIGNATURE`. What it may ask for is decided by `Policy.ts`, not by the client's own caps. */
export const sign = Effect.fn("Signer.sign")(function* (account: Account, challenge: Challenge, key: string) {
  const { x402Version, resource, accepts } = challenge
  const [offer] = accepts
  const [namespace, chainId] = offer.network.split(":")
  const client = new x402Client().register("eip155:*", new ExactEvmScheme(account)).setSpendControls(false)
  const headers = yield* Effect.tryPromise({
    try: () =>
      client
        .createPaymentPayload({
          x402Version,
          resource,
          accepts: [{ ...offer, network: `${namespace ?? ""}:${chainId ?? ""}`, extra: { ...offer.extra } }],
        })
        .then((payload) => new x402HTTPClient(client).encodePaymentSignatureHeader(payload)),
    catch: () => refuse("not_signed", "The wallet gave no signature. Nothing was charged.", key),
  })
  const header = headers["PAYMENT-SIGNATURE"]
  return header === undefined
    ? yield* refuse("not_signed", "The wallet gave no signature. Nothing was charged.", key)
    : header
})
