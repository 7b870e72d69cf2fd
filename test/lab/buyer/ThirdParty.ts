/** Somebody else on the same chain, who sends what others have signed and makes their authorizations cancelled or used. */
import { Effect } from "effect"
import { type Hex, parseEther, parseGwei } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { onChain, stranger, token } from "../Chain.ts"
import { type Offer, signCancel, signTransfer } from "./Payment.ts"
import { price, type Purchase } from "./Purchase.ts"

interface Signed {
  readonly payer: { readonly address: Hex }
  readonly nonce: Hex
  readonly signature: Hex
  readonly validBefore: string
}

/** Brings a signed transfer to `to` on the chain; answers its transaction. */
const bring = ({ nonce, payer, signature, validBefore }: Signed, to: Hex) =>
  onChain(async (client, { asset }) => {
    const hash = await client.writeContract({
      address: asset,
      abi: token,
      functionName: "transferWithAuthorization",
      args: [payer.address, to, price, 0n, BigInt(validBefore), nonce, signature],
      account: stranger,
      chain: null,
    })
    await client.waitForTransactionReceipt({ hash })
    return hash
  })

/** Anyone who has seen a payment can bring it to the chain. */
export const broadcast = (signed: Signed) => Effect.flatMap(LocalChain, ({ payTo }) => bring(signed, payTo))

/** The payer cancels its own authorization. */
export const cancel = ({ nonce, payer }: Purchase) =>
  onChain(async (client, { asset, chainId }) => {
    const signature = await signCancel(payer, nonce, { asset, chainId })
    const args = [payer.address, nonce, signature] as const
    const call = { address: asset, abi: token, functionName: "cancelAuthorization", args } as const
    const hash = await client.writeContract({ ...call, account: stranger, chain: null })
    await client.waitForTransactionReceipt({ hash })
    return hash
  })

/** The payer uses the same nonce to pay somebody else. */
export const spendElsewhere = ({ nonce, payer, validBefore }: Pick<Purchase, "nonce" | "payer" | "validBefore">) =>
  onChain(async (_, { asset, network }) => {
    const offer: Offer = {
      scheme: "exact",
      network,
      amount: String(price),
      asset,
      payTo: stranger,
      maxTimeoutSeconds: 300,
      extra: { name: "USDC", version: "2" },
    }
    return (await signTransfer(payer, offer, { url: "" }, { validBefore, nonce })).payload.signature
  }).pipe(Effect.flatMap((signature) => bring({ nonce, payer, validBefore, signature }, stranger)))

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

/** Turns until its gas is gone. */
export const burning: Hex = "0x5b600056"

export const giveCode = (address: Hex, bytecode: Hex) => onChain((client) => client.setCode({ address, bytecode }))
