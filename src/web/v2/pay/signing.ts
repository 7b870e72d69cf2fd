/** EIP-3009 authorizations signed with viem; loaded only when somebody pays. */
import { createClient, custom } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { getChainId, requestAddresses, signTypedData, switchChain } from "viem/actions"
import { randomHex } from "../digest.ts"
import { type Challenge, toBase64 } from "./challenge.ts"
import { networkName, refusalOf } from "./refusals.ts"

/** EIP-1193. */
export interface Provider {
  readonly request: (call: { readonly method: string; readonly params?: ReadonlyArray<unknown> }) => Promise<unknown>
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

const hex = (text: string): `0x${string}` => `0x${text.replace(/^0x/u, "").toLowerCase()}`

const typedData = ({ accepts: [offer] }: Challenge, from: string) => ({
  domain: {
    name: offer.extra.name,
    version: offer.extra.version,
    chainId: Number(offer.network.split(":")[1]),
    verifyingContract: hex(offer.asset),
  },
  types,
  primaryType: "TransferWithAuthorization" as const,
  message: {
    from: hex(from),
    to: hex(offer.payTo),
    value: BigInt(offer.amount),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + offer.maxTimeoutSeconds),
    nonce: hex(randomHex(32)),
  },
})

type TypedData = ReturnType<typeof typedData>

/** On the wire its numbers are decimal strings. */
const written = ({ message }: TypedData) => ({
  ...message,
  value: String(message.value),
  validAfter: String(message.validAfter),
  validBefore: String(message.validBefore),
})

const headerOf = (challenge: Challenge, data: TypedData, signature: string) =>
  toBase64(
    JSON.stringify({
      x402Version: 2,
      resource: challenge.resource,
      accepted: challenge.accepts[0],
      payload: { signature, authorization: written(data) },
    }),
  )

/** A key this tab made. */
export const own = (key: `0x${string}`) => {
  const account = privateKeyToAccount(key)
  return {
    address: account.address,
    sign: async (challenge: Challenge) => {
      const data = typedData(challenge, account.address)
      return headerOf(challenge, data, await account.signTypedData(data))
    },
  }
}

/** A wallet that belongs to the browser; it shows its owner what is signed, and is asked once. */
export const injected = async (provider: Provider, chainId: number) => {
  const client = createClient({ transport: custom(provider, { retryCount: 0 }) })
  const [address] = await requestAddresses(client).catch((error: unknown) => {
    throw new Error(refusalOf(error, "The wallet named no account."))
  })
  if (address === undefined) throw new Error("The wallet named no account.")
  const sign = async (challenge: Challenge) => {
    if ((await getChainId(client)) !== chainId) {
      await switchChain(client, { id: chainId }).catch((error: unknown) => {
        throw new Error(refusalOf(error, `The wallet did not change to ${networkName(chainId)}.`))
      })
    }
    const data = typedData(challenge, address)
    return headerOf(challenge, data, await signTypedData(client, { account: address, ...data }))
  }
  return {
    address,
    sign: (challenge: Challenge) =>
      sign(challenge).catch((error: unknown) => {
        throw new Error(refusalOf(error, "The wallet gave no signature."))
      }),
  }
}
