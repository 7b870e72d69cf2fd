/** EIP-3009 authorizations signed with viem; loaded only when somebody pays. */
import { privateKeyToAccount } from "viem/accounts"
import { randomHex } from "../digest.ts"
import { type Challenge, toBase64 } from "./challenge.ts"

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

/** Wallets are handed the type of the domain as well. */
const domainType = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
]

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

/** A wallet that belongs to the browser; it shows its owner what is signed. */
export const injected = async (provider: Provider, chainId: number) => {
  const accounts = await provider.request({ method: "eth_requestAccounts" })
  const address: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof address !== "string" || !/^0x[0-9a-f]{40}$/iu.test(address))
    throw new Error("The wallet named no account.")
  const sign = async (challenge: Challenge) => {
    const current = await provider.request({ method: "eth_chainId" })
    if (Number(current) !== chainId) {
      await provider.request({
        method: "wallet_switchEthereumChain",
        params: [{ chainId: `0x${chainId.toString(16)}` }],
      })
    }
    const data = typedData(challenge, address)
    const text = JSON.stringify({ ...data, types: { ...types, EIP712Domain: domainType }, message: written(data) })
    const signature = await provider.request({ method: "eth_signTypedData_v4", params: [address, text] })
    if (typeof signature !== "string") throw new Error("The wallet gave no signature.")
    return headerOf(challenge, data, signature)
  }
  return { address, sign }
}
