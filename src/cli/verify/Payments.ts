/** Looks up a chain's payments at a node of the reader's choice: the altar says where to look, and proves nothing. */
import { hash } from "node:crypto"
import { Effect, Schema } from "effect"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { TransactionHash } from "../../../schema/Common.ts"
import { Binding } from "../../../schema/payments/Binding.ts"
import { type BoundRequest, boundBytes, nonceOf } from "../../../schema/payments/BindingRecipe.ts"
import { Finality } from "../../../schema/payments/Payment.ts"
import type { Sale } from "../../../schema/payments/Sale.ts"
import { usdcOn } from "../../../schema/payments/Usdc.ts"
import { inLowerCase, pays } from "../../payments/chain/Eip3009.ts"
import * as Download from "./Download.ts"
import * as Node from "./Node.ts"
import { plain } from "../Output.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"

export interface PaidStone {
  readonly sequence: number
  readonly id: string
  readonly transaction: string
  readonly payer: string
}

const Answer = Schema.Struct({
  receipt: Schema.Struct({
    asset: Schema.String,
    payTo: Schema.String,
    amountAtomic: Schema.String,
    finality: Schema.optionalKey(Finality),
    currentTransaction: Schema.optionalKey(TransactionHash),
    binding: Schema.NullOr(Binding),
  }),
})
const transferTopic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

const asTopic = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, "0")}`

/**
 * The prices that a stone ever had. They are fixed in the contract instead of read from a receipt: anyone can make a
 * transfer of zero that names any payer.
 */
export const pricesOf = ({ formerPrices, priceAtomic }: Pick<Sale, "formerPrices" | "priceAtomic">) => [
  priceAtomic,
  ...formerPrices,
]

const dataOf = (amount: string) => `0x${BigInt(amount).toString(16).padStart(64, "0")}`

/** The nonce that names the request of a binding. */
const nonceFrom = ({ bodySha256, method, salt, url }: BoundRequest & { readonly salt: string }) =>
  nonceOf(hash("sha256", boundBytes({ method, url, bodySha256 }, Buffer.from(salt, "base64url")), "buffer"))

/** The node and the token of the payments; the token is fixed here, whatever the altar says. */
interface Ledger {
  readonly rpcUrl: string
  readonly asset: string
  readonly prices: ReadonlyArray<bigint>
}

const ledgerAt = Effect.fnUntraced(function* (rpcUrl: string, prices: ReadonlyArray<bigint>) {
  const network = yield* Node.networkOf(rpcUrl)
  const asset = usdcOn(network)
  return asset === undefined
    ? yield* new CommandFailure({
        message: `${rpcUrl} is a node of ${network}, which altars do not use: name another --rpc.`,
      })
    : ({ rpcUrl, asset, prices } satisfies Ledger)
})

/** The result for a stone: lost by the altar's own statement, contradicted by the chain, or the chain's state. */
type Found =
  | { readonly _tag: "Lost" }
  | { readonly _tag: "Wrong"; readonly why: string }
  | { readonly _tag: "Absent"; readonly why: string; readonly mayMove: boolean }
  | {
      readonly _tag: "Paid"
      readonly payTo: string
      readonly transaction: string
      /** One transaction may pay for many stones, but one transfer pays for one. */
      readonly transfers: number
    }

const paymentOf = Effect.fnUntraced(function* (base: string, { asset, prices, rpcUrl }: Ledger, stone: PaidStone) {
  const { receipt } = yield* Download.json(`${base}/api/witness/${stone.id}`, Answer)
  const { amountAtomic, binding, currentTransaction, finality, payTo } = receipt
  const wrong = (why: string): Found => ({ _tag: "Wrong", why })
  if (receipt.asset.toLowerCase() !== asset.toLowerCase()) {
    return wrong(`its receipt names the token ${receipt.asset}, and USDC is ${asset} there`)
  }
  if (!prices.some((price) => price.toString() === amountAtomic)) {
    return wrong(`its receipt names ${amountAtomic} atomic USDC, and a stone costs ${prices.join(" or ")}`)
  }
  if (finality === "lost") return { _tag: "Lost" } satisfies Found
  // A reorganisation may have moved the transfer to another transaction; the link keeps the answered one.
  const transaction = currentTransaction ?? stone.transaction
  const absent = (what: string): Found => ({
    _tag: "Absent",
    why: `its transaction ${transaction} ${what}`,
    mayMove: finality === "pending",
  })
  const mined = yield* Node.minedIn(rpcUrl, transaction)
  if (mined === null) return absent("is not on the chain")
  if (mined.status !== "0x1") return absent("was reverted")
  if (binding !== null && binding.bodySha256 !== null) {
    const nonce = nonceFrom({ ...binding, bodySha256: binding.bodySha256 })
    const [from, to] = [inLowerCase(stone.payer), inLowerCase(payTo)]
    if (!pays(mined.logs, { asset: inLowerCase(asset), from, to, nonce, value: BigInt(amountAtomic) }))
      return absent("holds no payment by the nonce of its request")
  }
  const { length: transfers } = mined.logs.filter(
    ({ address, data, topics: [topic, from, to] }) =>
      address.toLowerCase() === asset.toLowerCase() &&
      topic === transferTopic &&
      from === asTopic(stone.payer) &&
      to === asTopic(payTo) &&
      data.toLowerCase() === dataOf(amountAtomic),
  )
  return transfers === 0
    ? absent("does not hold the payment")
    : ({ _tag: "Paid", payTo, transaction, transfers } satisfies Found)
})

export const broken = (sequence: number, why: string) =>
  new CheckFailed({ message: plain(`BROKEN at stone ${sequence}: ${why}`) })

const paymentsAtOnce = 8

/** Looks up payments at an RPC that went to `payees`, or else all to one address; stones come in their order. */
export const make = Effect.fnUntraced(function* (
  base: string,
  rpcUrl: string,
  payees: ReadonlyArray<string>,
  prices: ReadonlyArray<bigint> = pricesOf(setWitnessStone.sale),
) {
  const ledger = yield* ledgerAt(rpcUrl, prices)
  const lost: Array<number> = []
  const spent = new Map<string, number>()
  let paidTo = payees.map((one) => one.toLowerCase())

  const judge = Effect.fnUntraced(function* ({ payer, sequence }: PaidStone, found: Found) {
    if (found._tag === "Lost") return void lost.push(sequence)
    if (found._tag === "Wrong") return yield* broken(sequence, found.why)
    if (found._tag === "Absent") {
      return yield* found.mayMove
        ? new CommandFailure({
            message: plain(
              `Stone ${sequence} cannot be judged yet: ${found.why}, and its receipt says that a reorganisation of the chain may still move it. Check again in some minutes. If this lasts for hours, the stone is not paid for.`,
            ),
          })
        : broken(sequence, found.why)
    }
    const { payTo, transaction, transfers } = found
    const name = [transaction, payer, payTo].join(" ").toLowerCase()
    const before = spent.get(name) ?? 0
    spent.set(name, before + 1)
    if (transfers <= before) {
      return yield* broken(sequence, `its transaction ${transaction} does not hold the payment`)
    }
    if (paidTo.length === 0) paidTo = [payTo.toLowerCase()]
    if (paidTo.includes(payTo.toLowerCase())) return
    return yield* broken(
      sequence,
      `it was paid to ${payTo}, not to ${paidTo.join(" or ")}. If the altar has changed its address, name each with --pay-to.`,
    )
  })

  return {
    /** Fails with the first stone that is unpaid, or whose payment is not certain yet. */
    check: Effect.fnUntraced(function* (stones: ReadonlyArray<PaidStone>) {
      const all = yield* Effect.forEach(
        stones,
        (stone) => Effect.map(paymentOf(base, ledger, stone), (found) => ({ stone, found })),
        { concurrency: paymentsAtOnce },
      )
      for (const { found, stone } of all) yield* judge(stone, found)
    }),
    /** The addresses that were paid, and the stones whose payment the altar itself declares lost. */
    found: Effect.sync(() => ({ payTo: paidTo, lost: [...lost] })),
  }
})
