/** Everybody else on the chain and on the wire: they settle, copy, move, cancel or drain the payers' signed payments. */
import { setTimeout } from "node:timers/promises"
import type { Hex } from "viem"
import { type Purchase, sendPaid, type Shop } from "./Shopper.ts"
import { stranger, token } from "../../lab/Chain.ts"
import type { Order } from "./Goods.ts"
import type { Wallet } from "../../lab/OwnChain.ts"
import { type Payment, signUnasked } from "../../lab/buyer/Payment.ts"
import { submit, submitCancel } from "../../lab/buyer/ThirdParty.ts"
import type { Harness } from "../Harness.ts"

export type Outsiders = ReturnType<typeof outsiders>

const copies = 256

/** Attacks for each thousand signed payments. */
const shares = { frontRun: 30, steal: 25, move: 25, drain: 15, cancel: 15, spend: 15 } as const

/** `strikes` is told of each thing that they do. */
export const outsiders = (world: Harness, strikes: () => void) => {
  const { asset, client } = world.chain
  /** The node numbers a stranger's transactions as they arrive: one at a time. */
  let turn: Promise<unknown> = Promise.resolve()
  const busy = new Set<Promise<unknown>>()
  let replays = 0

  const later = (work: () => Promise<unknown>) => {
    const under = work()
      .catch((cause: unknown) => world.log(`an outsider failed: ${String(cause).slice(0, 120)}`))
      .finally(() => busy.delete(under))
    busy.add(under)
  }
  const onChain = (write: () => Promise<Hex>) => {
    const mine = turn.then(write)
    turn = mine.catch(() => {})
    return mine
  }
  const base = { address: asset, abi: token, account: stranger, chain: null, gas: 200_000n } as const

  const bring = ({ payload }: Payment) => onChain(() => submit(client, asset, payload))

  /** All that the wallet has goes elsewhere, at a fee before everybody else's, and comes back some blocks later. */
  const drain = async ({ address }: Wallet, pauseMs: number) => {
    const balance = await client.readContract({ ...base, functionName: "balanceOf", args: [address] })
    if (balance === 0n) return
    await client.impersonateAccount({ address })
    await client.setBalance({ address, value: 10n ** 18n })
    await client.writeContract({
      ...base,
      account: address,
      functionName: "transfer",
      args: [stranger, balance],
      maxPriorityFeePerGas: 90_000_000_000n,
      maxFeePerGas: 200_000_000_000n,
    })
    await setTimeout(pauseMs)
    await onChain(() => client.writeContract({ ...base, functionName: "mint", args: [address, 200_000_000n] }))
  }

  /** An outsider may act on a payment that has just been signed. */
  const see = async (shop: Shop, purchase: Purchase) => {
    const { signed } = purchase
    if (signed === undefined) return
    // The purchase's own lot decides its attack, in any order of signing.
    const random = purchase.random.fork("outsiders")
    if (replays > 0) {
      replays -= 1
      strikes()
      later(() => Promise.all(Array.from({ length: copies }, () => sendPaid(shop, purchase, 60_000))))
      return
    }
    let lot = random.below(1000)
    const falls = (share: number) => {
      lot -= share
      if (lot < 0) strikes()
      return lot < 0
    }
    if (falls(shares.frontRun)) {
      if (random.chance(0.5)) await bring(signed).catch(() => {})
      else later(() => setTimeout(random.below(2_500)).then(() => bring(signed)))
    } else if (falls(shares.steal)) {
      const copy = { ...purchase, key: `thief-${purchase.key}` }
      later(() => setTimeout(random.below(1_500)).then(() => sendPaid(shop, copy)))
    } else if (falls(shares.move)) {
      const body = JSON.stringify({ commitment: random.hex(32) })
      const order: Order =
        purchase.order.kind === "stone"
          ? { kind: "keeper", path: "/api/acquire/moss-hare", body: undefined }
          : { kind: "stone", path: "/api/witness", body }
      const copy = { ...purchase, key: `moved-${purchase.key}`, order }
      later(() => setTimeout(random.below(800)).then(() => sendPaid(shop, copy)))
    } else if (falls(shares.drain)) {
      later(() => setTimeout(random.below(1_500)).then(() => drain(purchase.wallet, random.between(2_000, 6_000))))
    } else if (falls(shares.cancel)) {
      later(() =>
        setTimeout(random.below(2_500)).then(() =>
          onChain(() => submitCancel(client, world.chain, purchase.wallet, signed.payload.authorization.nonce)),
        ),
      )
    } else if (falls(shares.spend)) {
      // The payer uses the nonce for nothing.
      const { nonce, validBefore } = signed.payload.authorization
      const change = { nonce, validBefore, value: "0" }
      later(async () => {
        await setTimeout(random.below(1_500))
        const payload = await signUnasked(purchase.wallet, world.chain, change)
        await onChain(() => submit(client, asset, payload))
      })
    }
  }

  return {
    see,
    /** The next payment that is signed is sent 256 times at once. */
    replayNext: () => void (replays += 1),
    /** Waits until all of them have done what they began. */
    done: async () => {
      while (busy.size > 0) await Promise.all(busy)
    },
  }
}
