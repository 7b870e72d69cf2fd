/** Looks up a chain's payments at a node of the reader's choice: the altar says where to look, and proves nothing. */
import { Effect, Option, Schema } from "effect"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { TransactionHash } from "../../../schema/Common.ts"
import { Binding } from "../../../schema/payments/Binding.ts"
import { Finality } from "../../../schema/payments/Payment.ts"
import type { Sale } from "../../../schema/payments/Sale.ts"
import { boundNonce } from "../../buyer/core/Authorization.ts"
import { same } from "../../buyer/core/Expectation.ts"
import { inLowerCase, pays, topicOf, transferTopic } from "../../payments/chain/Eip3009.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"
import { plain } from "../Output.ts"
import * as Download from "./Download.ts"
import { type Node, nodeAt } from "./Node.ts"

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

/**
 * The prices that a stone ever had. They are fixed in the contract instead of read from a receipt: anyone can make a
 * transfer of zero that names any payer.
 */
export const pricesOf = ({ formerPrices, priceAtomic }: Pick<Sale, "formerPrices" | "priceAtomic">) => [
  priceAtomic,
  ...formerPrices,
]

/** The result for a stone: lost by the altar's own statement, contradicted by the chain, or paid. */
type Found =
  | { readonly _tag: "Lost" }
  | { readonly _tag: "Wrong"; readonly why: string; readonly mayMove: boolean }
  | {
      readonly _tag: "Paid"
      readonly payTo: string
      readonly transaction: string
      /** One transaction may pay for many stones, but one transfer pays for one. */
      readonly transfers: number
    }

const paymentOf = Effect.fnUntraced(function* (
  base: string,
  { receiptOf, usdc }: Pick<Node, "receiptOf"> & { readonly usdc: `0x${string}` },
  prices: ReadonlyArray<bigint>,
  stone: PaidStone,
) {
  const { receipt } = yield* Download.json(`${base}/api/witness/${stone.id}`, Answer)
  const { amountAtomic, asset, binding, currentTransaction, finality, payTo } = receipt
  const wrong = (why: string, mayMove = false): Found => ({ _tag: "Wrong", why, mayMove })
  if (!same(usdc, asset)) return wrong(`its receipt names the token ${asset}, and USDC is ${usdc} there`)
  const value = prices.find((price) => price.toString() === amountAtomic)
  if (value === undefined)
    return wrong(`its receipt names ${amountAtomic} atomic USDC, and a stone costs ${prices.join(" or ")}`)
  if (finality === "lost") return { _tag: "Lost" } satisfies Found
  // A reorganisation may have moved the transfer to another transaction; the link keeps the answered one.
  const transaction = currentTransaction ?? stone.transaction
  const absent = (what: string) => wrong(`its transaction ${transaction} ${what}`, finality === "pending")
  const mined = yield* receiptOf(transaction, usdc)
  if (Option.isNone(mined)) return absent("is not on the chain")
  const { logs, succeeded } = mined.value
  if (!succeeded) return absent("was reverted")
  const [from, to] = [inLowerCase(stone.payer), inLowerCase(payTo)]
  if (binding !== null) {
    const nonce = yield* Effect.promise(() => boundNonce(binding, Buffer.from(binding.salt, "base64url")))
    if (!pays(logs, { asset: inLowerCase(usdc), from, to, nonce, value }))
      return absent("holds no payment by the nonce of its request")
  }
  const topics = [transferTopic, topicOf(from), topicOf(to)].join(" ")
  const { length: transfers } = logs.filter(
    (log) => log.topics.join(" ") === topics && log.data.length === 66 && BigInt(log.data) === value,
  )
  return transfers === 0
    ? absent("does not hold the payment")
    : ({ _tag: "Paid", payTo: to, transaction, transfers } satisfies Found)
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
  const { network, receiptOf, usdc } = yield* nodeAt(rpcUrl)
  if (usdc === undefined)
    return yield* new CommandFailure({
      message: `${rpcUrl} is a node of ${network}, which altars do not use: name another --rpc.`,
    })
  const lost: Array<number> = []
  const spent = new Map<string, number>()
  let payTo = payees.map((one) => one.toLowerCase())

  const judge = Effect.fnUntraced(function* ({ payer, sequence }: PaidStone, found: Found) {
    if (found._tag === "Lost") return void lost.push(sequence)
    if (found._tag === "Wrong")
      return yield* found.mayMove
        ? new CommandFailure({
            message: plain(
              `Stone ${sequence} cannot be judged yet: ${found.why}, and its receipt says that a reorganisation of the chain may still move it. Check again in some minutes. If this lasts for hours, the stone is not paid for.`,
            ),
          })
        : broken(sequence, found.why)
    const { transaction, transfers } = found
    const name = [transaction, payer, found.payTo].join(" ").toLowerCase()
    const before = spent.get(name) ?? 0
    spent.set(name, before + 1)
    if (transfers <= before) return yield* broken(sequence, `its transaction ${transaction} does not hold the payment`)
    if (payTo.length === 0) payTo = [found.payTo]
    if (payTo.includes(found.payTo)) return
    return yield* broken(
      sequence,
      `it was paid to ${found.payTo}, not to ${payTo.join(" or ")}. If the altar has changed its address, name each with --pay-to.`,
    )
  })

  return {
    /** Fails with the first stone that is unpaid, or whose payment is not certain yet. */
    check: Effect.fnUntraced(function* (stones: ReadonlyArray<PaidStone>) {
      const all = yield* Effect.forEach(
        stones,
        (stone) => Effect.map(paymentOf(base, { receiptOf, usdc }, prices, stone), (found) => ({ stone, found })),
        { concurrency: paymentsAtOnce },
      )
      for (const { found, stone } of all) yield* judge(stone, found)
    }),
    /** The addresses that were paid, and the stones whose payment the altar itself declares lost. */
    found: () => ({ payTo, lost }),
  }
})

export type Payments = Effect.Success<ReturnType<typeof make>>
