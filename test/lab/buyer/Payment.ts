/** A buyer's signature for an offer, and its headers. */
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import { Challenge as CardChallenge, Credential } from "mppx"
import type { Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { transferTypes } from "../../../schema/payments/TransferTypes.ts"
import { toBase64 } from "../../../src/buyer/core/Authorization.ts"
import type { Challenge, Offer as Terms } from "../../../src/buyer/core/Challenge.ts"

export type Offer = Omit<Terms, "extra"> & { readonly extra: Omit<Terms["extra"], "paymentFlow"> }

export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

type Signer = Pick<PrivateKeyAccount, "address" | "signTypedData">

export const encode = (payment: object) => toBase64(JSON.stringify(payment))

export const challengeOf = ({ headers }: { readonly headers: Headers }): Challenge =>
  JSON.parse(Buffer.from(headers.get("payment-required") ?? "", "base64").toString())

const domainOf = ({ asset, extra, network }: Pick<Offer, "asset" | "extra" | "network">) => ({
  name: extra.name,
  version: extra.version,
  chainId: Number(network.split(":")[1]),
  verifyingContract: asset as Hex,
})

/** Signs an x402 v2 payment for an offer; `change` alters the authorization before it is signed. */
export const signTransfer = async (
  account: Signer,
  offer: Offer,
  resource: Pick<Challenge["resource"], "url">,
  change: Partial<Authorization> = {},
) => {
  const authorization: Authorization = {
    from: account.address,
    to: offer.payTo as Hex,
    value: offer.amount,
    validAfter: "0",
    validBefore: String(Math.floor(Date.now() / 1000) + offer.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString("hex")}`,
    ...change,
  }
  const { validAfter, validBefore, value } = authorization
  const signature = await account.signTypedData({
    domain: domainOf(offer),
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message: {
      ...authorization,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
    },
  })
  return { x402Version: 2, resource, accepted: offer, payload: { signature, authorization } }
}

export type Payment = Awaited<ReturnType<typeof signTransfer>>

export const sign = (...args: Parameters<typeof signTransfer>) => Effect.promise(() => signTransfer(...args))

/** Signs a payment of a stone's price without a server's offer. */
export const signUnasked = async (
  account: Signer,
  { asset, network, payTo }: Pick<Offer, "asset" | "network" | "payTo">,
  change?: Partial<Authorization>,
) => {
  const extra = { name: "USDC", version: "2" }
  const offer = { scheme: "exact", network, amount: "10000", asset, payTo, maxTimeoutSeconds: 300, extra }
  return (await signTransfer(account, offer, { url: "" }, change)).payload
}

export const cancelTypes = {
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
} as const

/** Signs the payer's cancellation of this nonce. */
export const signCancel = (
  account: Signer,
  nonce: Hex,
  { asset, chainId }: { readonly asset: Hex; readonly chainId: number },
) =>
  account.signTypedData({
    domain: domainOf({ asset, network: `eip155:${chainId}`, extra: { name: "USDC", version: "2" } }),
    types: cancelTypes,
    primaryType: "CancelAuthorization",
    message: { authorizer: account.address, nonce },
  })

type Answered = Parameters<typeof CardChallenge.fromHeaders>[0]

/** The charge that a 402 asks a card for, in cents. */
export const cardChallengeOf = ({ headers }: { readonly headers: Answered }) =>
  CardChallenge.fromHeaders(headers).request as { readonly amount: string }

/** The `Authorization` that answers a card challenge with a granted token. */
export const credentialFor = ({ headers }: { readonly headers: Answered }, spt: string) =>
  Credential.serialize({ challenge: CardChallenge.fromHeaders(headers), payload: { spt } })
