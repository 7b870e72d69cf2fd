/** Another user of the same chain, who submits what others have signed and makes their authorizations cancelled or used. */
import { Effect } from "effect"
import { type Hex, parseEther, parseGwei, parseAbi } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { type chainClient, onChain, stranger, token } from "../Chain.ts"
import { type Payment, signCancel, signUnasked } from "./Payment.ts"
import { price, type Purchase } from "./Purchase.ts"

type Client = Pick<ReturnType<typeof chainClient>, "writeContract">

/** A transaction of the stranger on the token. Reverting transactions are sent as well. */
const base = (asset: Hex) => ({ address: asset, abi: token, account: stranger, chain: null, gas: 500_000n }) as const

/** Submits a signed transfer; answers its transaction. */
export const submit = (client: Client, asset: Hex, payload: Payment["payload"]) => {
  const { from, nonce, to, validAfter, validBefore, value } = payload.authorization
  const args = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce, payload.signature] as const
  return client.writeContract({ ...base(asset), functionName: "transferWithAuthorization", args })
}

/** Submits the payer's cancellation of a nonce; answers its transaction. */
export const submitCancel = async (
  client: Client,
  chain: Parameters<typeof signCancel>[2],
  payer: Parameters<typeof signCancel>[0],
  nonce: Hex,
) => {
  const args = [payer.address, nonce, await signCancel(payer, nonce, chain)] as const
  return client.writeContract({ ...base(chain.asset), functionName: "cancelAuthorization", args })
}

export interface Signed extends Pick<Purchase, "nonce" | "signature" | "validBefore"> {
  readonly payer: { readonly address: Hex }
}

/** Submits a signed transfer to `to` and waits for its block. */
export const bring = ({ nonce, payer, signature, validBefore }: Signed, to: Hex) =>
  onChain(async (client, { asset }) => {
    const value = String(price)
    const authorization = { from: payer.address, to, value, validAfter: "0", validBefore, nonce }
    const hash = await submit(client, asset, { signature, authorization })
    await client.waitForTransactionReceipt({ hash })
    return hash
  })

/** Anyone who has seen a payment can submit it. */
export const broadcast = (signed: Signed) => Effect.flatMap(LocalChain, ({ payTo }) => bring(signed, payTo))

export const cancel = ({ nonce, payer }: Purchase) =>
  onChain(async (client, chain) => {
    const hash = await submitCancel(client, chain, payer, nonce)
    await client.waitForTransactionReceipt({ hash })
    return hash
  })

/** The payer uses the same nonce for something else: another amount, another recipient, or both. */
export const spend = (
  { nonce, payer, validBefore }: Pick<Purchase, "nonce" | "payer" | "validBefore">,
  change: { readonly value?: bigint; readonly to?: Hex },
) =>
  onChain(async (client, chain) => {
    const { to = chain.payTo, value = price } = change
    const payload = await signUnasked(payer, chain, { nonce, to, validBefore, value: String(value) })
    const hash = await submit(client, chain.asset, payload)
    await client.waitForTransactionReceipt({ hash })
    return hash
  })

/** The payer uses the same nonce to pay a third party. */
export const spendElsewhere = (purchase: Parameters<typeof spend>[0]) => spend(purchase, { to: stranger })

/** All that it holds goes elsewhere, before whatever else is in its block. */
export const leave = (payer: PrivateKeyAccount) =>
  onChain(async (client, { asset }) => {
    await client.setBalance({ address: payer.address, value: parseEther("1") })
    const usdc = { address: asset, abi: token } as const
    const held = await client.readContract({ ...usdc, functionName: "balanceOf", args: [payer.address] })
    const call = { ...usdc, functionName: "transfer", args: [stranger, held] } as const
    return client.writeContract({
      ...call,
      account: payer,
      chain: null,
      gas: 100_000n,
      maxFeePerGas: parseGwei("100"),
      maxPriorityFeePerGas: parseGwei("50"),
    })
  })

export const empty = (payer: PrivateKeyAccount) =>
  Effect.flatMap(leave(payer), (hash) => onChain((client) => client.waitForTransactionReceipt({ hash })))

/** The code of a wallet that agrees to every signature. */
export const agrees = "631626ba7e60e01b60005260206000f3"
export const agreeing: Hex = `0x${agrees}`

/** Loops a hundred thousand times before it agrees: more gas than the server pays for, less than a dry run has. */
export const slow: Hex = `0x620186a05b60019003806004576000${agrees}`

/** Loops until its gas is used up. */
export const burning: Hex = "0x5b600056"

export const giveCode = (address: Hex, bytecode: Hex) => onChain((client) => client.setCode({ address, bytecode }))

const abi = parseAbi([
  "function pause()",
  "function unpause()",
  "function blacklist(address account)",
  "function unBlacklist(address account)",
])

type OwnersCall = readonly ["pause" | "unpause"] | readonly ["blacklist" | "unBlacklist", `0x${string}`]

/** The owner of the token pauses it, or blocks a wallet. */
export const usdcOwner = ([functionName, ...args]: OwnersCall) =>
  onChain(async (client, { asset }) => {
    const [account] = await client.getAddresses()
    const call = { address: asset, abi, functionName, args, account, chain: null } as never
    await client.waitForTransactionReceipt({ hash: await client.writeContract(call) })
  })
