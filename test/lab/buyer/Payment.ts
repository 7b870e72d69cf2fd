/** What a buyer signs for an offer, and how it goes into a header. */
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import type { Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import type { Random } from "../Random.ts"

export interface Offer {
  readonly scheme: string
  readonly network: string
  readonly amount: string
  readonly asset: Hex
  readonly payTo: Hex
  readonly maxTimeoutSeconds: number
  readonly extra: { readonly name: string; readonly version: string }
}

export interface Challenge {
  readonly resource: { readonly url: string }
  readonly accepts: readonly [Offer]
}

export interface Authorization {
  readonly from: Hex
  readonly to: Hex
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: Hex
}

export const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
} as const

/** Encodes what a header carries. */
export const encode = (payment: object) => Buffer.from(JSON.stringify(payment)).toString("base64")

export const challengeIn = (header: string): Challenge => JSON.parse(Buffer.from(header, "base64").toString())

/** The challenge of a 402. */
export const challengeOf = ({ headers }: { readonly headers: Headers }) =>
  challengeIn(headers.get("payment-required") ?? "")

const domainOf = ({ asset, extra, network }: Pick<Offer, "asset" | "extra" | "network">) => ({
  name: extra.name,
  version: extra.version,
  chainId: Number(network.split(":")[1]),
  verifyingContract: asset,
})

/** Signs an x402 v2 payment for an offer; `change` alters the authorization before it is signed. */
export const signTransfer = async (
  account: Pick<PrivateKeyAccount, "address" | "signTypedData">,
  offer: Offer,
  resource: Challenge["resource"],
  change: Partial<Authorization> = {},
) => {
  const authorization: Authorization = {
    from: account.address,
    to: offer.payTo,
    value: offer.amount,
    validAfter: "0",
    validBefore: String(Math.floor(Date.now() / 1000) + offer.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString("hex")}`,
    ...change,
  }
  const signature = await account.signTypedData({
    domain: domainOf(offer),
    types,
    primaryType: "TransferWithAuthorization",
    message: {
      from: authorization.from,
      to: authorization.to,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce,
    },
  })
  return { x402Version: 2, resource, accepted: offer, payload: { signature, authorization } }
}

export type Payment = Awaited<ReturnType<typeof signTransfer>>

export const sign = (...args: Parameters<typeof signTransfer>) => Effect.promise(() => signTransfer(...args))

/** Signs the payer's own word that this nonce shall never pay. */
export const signCancel = (
  account: Pick<PrivateKeyAccount, "address" | "signTypedData">,
  nonce: Hex,
  { asset, chainId }: { readonly asset: Hex; readonly chainId: number },
) =>
  account.signTypedData({
    domain: domainOf({ asset, network: `eip155:${chainId}`, extra: { name: "USDC", version: "2" } }),
    types,
    primaryType: "CancelAuthorization",
    message: { authorizer: account.address, nonce },
  })

/** A signed transfer: whoever has seen it can bring it to the chain. */
export interface Signed {
  readonly wallet: PrivateKeyAccount
  readonly to: Hex
  readonly value: bigint
  /** Seconds since 1970, by the chain. */
  readonly validBefore: number
  readonly nonce: Hex
  readonly signature: Hex
  /** `PAYMENT-SIGNATURE`. */
  readonly header: string
}

export const signUntil = async (
  wallet: PrivateKeyAccount,
  { accepts: [offer], resource }: Challenge,
  validBefore: number,
  random: Random,
): Promise<Signed> => {
  const nonce: Hex = `0x${random.hex(32)}`
  const payment = await signTransfer(wallet, offer, resource, { validBefore: String(validBefore), nonce })
  const { signature } = payment.payload
  const header = encode(payment)
  return { wallet, to: offer.payTo, value: BigInt(offer.amount), validBefore, nonce, signature, header }
}

/** A challenge of the Machine Payments Protocol: its parameters, and what it asks for. */
export interface CardChallenge {
  readonly parameters: Readonly<Record<string, string>>
  readonly cents: string
}

export const cardChallengeIn = (header: string): CardChallenge => {
  const parameters = Object.fromEntries(
    [...header.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/gu)].map(([, name, value]) => [name, value]),
  )
  const request = JSON.parse(Buffer.from(parameters["request"] ?? "", "base64url").toString()) as { amount: string }
  return { parameters, cents: request.amount }
}

/** The `Authorization` that answers a challenge with a granted token. */
export const credentialOf = ({ parameters: { description: _, ...challenge } }: CardChallenge, spt: string) =>
  `Payment ${Buffer.from(JSON.stringify({ challenge, payload: { spt } })).toString("base64url")}`
