/** What a buyer signs for an offer, and how it goes into a header. */
import type { Hex } from "viem"
import type { Chain, Wallet } from "./Chain.ts"
import type { Random } from "./Random.ts"

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

/** A signed transfer: whoever has seen it can bring it to the chain. */
export interface Signed {
  readonly wallet: Wallet
  readonly to: Hex
  readonly value: bigint
  /** Seconds since 1970, by the chain. */
  readonly validBefore: number
  readonly nonce: Hex
  readonly signature: Hex
  /** `PAYMENT-SIGNATURE`. */
  readonly header: string
}

const types = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const

const cancelTypes = {
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" },
  ],
} as const

export const challengeIn = (header: string): Challenge =>
  JSON.parse(Buffer.from(header, "base64").toString()) as Challenge

const domainOf = ({ asset, extra, network }: Offer) => ({
  name: extra.name,
  version: extra.version,
  chainId: Number(network.split(":")[1]),
  verifyingContract: asset,
})

export const sign = async (
  wallet: Wallet,
  { accepts: [offer], resource }: Challenge,
  validBefore: number,
  random: Random,
): Promise<Signed> => {
  const nonce: Hex = `0x${random.hex(32)}`
  const value = BigInt(offer.amount)
  const message = {
    from: wallet.address,
    to: offer.payTo,
    value,
    validAfter: 0n,
    validBefore: BigInt(validBefore),
    nonce,
  }
  const signature = await wallet.signTypedData({
    domain: domainOf(offer),
    types,
    primaryType: "TransferWithAuthorization",
    message,
  })
  const authorization = { ...message, value: offer.amount, validAfter: "0", validBefore: String(validBefore) }
  const payment = { x402Version: 2, resource, accepted: offer, payload: { signature, authorization } }
  const header = Buffer.from(JSON.stringify(payment)).toString("base64")
  return { wallet, to: offer.payTo, value, validBefore, nonce, signature, header }
}

/** The payer's own word that this nonce shall never pay. */
export const signCancel = ({ nonce, wallet }: Signed, { asset, chainId }: Chain) =>
  wallet.signTypedData({
    domain: { name: "USDC", version: "2", chainId, verifyingContract: asset },
    types: cancelTypes,
    primaryType: "CancelAuthorization",
    message: { authorizer: wallet.address, nonce },
  })

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
