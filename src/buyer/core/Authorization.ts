/** The EIP-3009 authorization of an offer as typed data, and the header that carries it once signed. */
import { base64, utf8 } from "../../../schema/log/Bytes.ts"
import {
  bindingExtension,
  bindingSaltMinimum,
  bodyText,
  boundBytes,
  type BoundRequest,
  nonceOf,
} from "../../../schema/payments/BindingRecipe.ts"
import { transferTypes } from "../../../schema/payments/TransferTypes.ts"
import type { Account, AuthorizationData } from "./Account.ts"
import type { Challenge, Offer } from "./Challenge.ts"
import { sha256, sha256Bytes } from "./Digest.ts"
import { isMembers, type Members } from "./Json.ts"

const hex = (text: string): `0x${string}` => `0x${text.replace(/^0x/u, "").toLowerCase()}`

export const toBase64 = (text: string): string => base64(utf8(text))

const toBase64Url = (bytes: Uint8Array): string =>
  base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")

/** The nonce that names a request. */
export const boundNonce = async (request: BoundRequest, salt: Uint8Array) =>
  nonceOf(await sha256Bytes(boundBytes(request, salt)))

/** The parts of a challenge that its payment repeats. */
interface Offered<Accepted, Resource> {
  readonly accepts: readonly [Accepted]
  readonly resource: Resource
}

/** Derives the nonce of a payment from the request that it buys. `body` is JSON; empty when there is none. */
export const boundTo = async (
  { resource: { url } }: Pick<Offered<unknown, { readonly url: string }>, "resource">,
  body: string,
  method = "POST",
) => {
  const salt = crypto.getRandomValues(new Uint8Array(bindingSaltMinimum))
  const bodySha256 = await sha256(bodyText(JSON.parse(body === "" ? "{}" : body)))
  return { nonce: await boundNonce({ method, url, bodySha256 }, salt), salt: toBase64Url(salt) }
}

/** A nonce that names one request, and the salt in base64url that proves it. */
type Bound = Awaited<ReturnType<typeof boundTo>>

/** The members of an offer that a transfer is made of. */
export type TransferOffer = Pick<Offer, "network" | "amount" | "asset" | "payTo" | "maxTimeoutSeconds"> & {
  readonly extra: Pick<Offer["extra"], "name" | "version">
}

/** EIP-712 typed data for one transfer of exactly the offered amount, signed at `nowMs`. */
export const typedDataOf = (
  { accepts: [offer] }: Pick<Offered<TransferOffer, unknown>, "accepts">,
  { nonce }: Bound,
  from: string,
  nowMs: number,
) => ({
  domain: {
    name: offer.extra.name,
    version: offer.extra.version,
    chainId: Number(offer.network.split(":")[1]),
    verifyingContract: hex(offer.asset),
  },
  types: transferTypes,
  primaryType: "TransferWithAuthorization" as const,
  message: {
    from: hex(from),
    to: hex(offer.payTo),
    value: BigInt(offer.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(nowMs / 1000) + offer.maxTimeoutSeconds),
    nonce,
  },
})

export type { Account, AuthorizationData }

const extensionIn = ({ [bindingExtension]: offered }: Members): Members => (isMembers(offered) ? offered : {})

/** The payment; on the wire numbers are decimal strings. `extensions` are those of the offer, where they are echoed. */
export const paymentOf = <Accepted, Resource>(
  { accepts: [accepted], resource }: Offered<Accepted, Resource>,
  { salt }: Bound,
  { message }: AuthorizationData,
  signature: string,
  extensions: Members = {},
) => ({
  x402Version: 2,
  resource,
  accepted,
  payload: {
    signature,
    authorization: {
      ...message,
      value: String(message.value),
      validAfter: String(message.validAfter),
      validBefore: String(message.validBefore),
    },
  },
  extensions: {
    ...extensions,
    [bindingExtension]: { ...extensionIn(extensions), info: { version: 1, salt } },
  },
})

/** The content of `PAYMENT-SIGNATURE`. */
export const paymentHeaderOf = (...payment: Parameters<typeof paymentOf<unknown, unknown>>): string =>
  toBase64(JSON.stringify(paymentOf(...payment)))

/** Signs a challenge for its request: the content of `PAYMENT-SIGNATURE`. The caller has approved the offer. */
export const signedBy = async (
  { address, signTypedData }: Account,
  challenge: Challenge,
  body: string,
  nowMs: number,
): Promise<string> => {
  const bound = await boundTo(challenge, body)
  const data = typedDataOf(challenge, bound, address, nowMs)
  return paymentHeaderOf(challenge, bound, data, await signTypedData(data))
}
