/** Looks up a chain's payments at a node of the reader's choice: the altar says where to look, and proves nothing. */
import { Effect, Option, Schema } from "effect"
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { TransactionHash } from "../../../schema/Common.ts"
import { Binding } from "../../../schema/payments/Binding.ts"
import { Finality } from "../../../schema/payments/Payment.ts"
import type { Sale } from "../../../schema/payments/Sale.ts"
import { boundNonce } from "../../buyer/core/Authorization.ts"
import { same } from "../../buyer/core/Expectation.ts"
import { inLowerCase, pays, topicOf, transferTopic } from "../../payments/x402/chain/Eip3009.ts"
import { broken, CommandFailure } from "../CommandFailure.ts"
import { plain } from "../Output.ts"
import * as Download from "./Download.ts"
import { nodeAt } from "./Node.ts"

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

  /** The payment of a stone; null where the altar itself declares it lost. */
  const provenIn = Effect.fnUntraced(function* (
    { payer, sequence }: PaidStone,
    { amountAtomic, asset, binding, finality, payTo }: typeof Answer.Type.receipt,
    transaction: string,
    mined: Effect.Success<ReturnType<typeof receiptOf>>,
  ) {
    if (!same(usdc, asset))
      return yield* broken(`stone ${sequence}`, `its receipt names the token ${asset}, and USDC is ${usdc} there`)
    const value = prices.find((price) => price.toString() === amountAtomic)
    if (value === undefined)
      return yield* broken(
        `stone ${sequence}`,
        `its receipt names ${amountAtomic} atomic USDC, and a stone costs ${prices.join(" or ")}`,
      )
    if (finality === "lost") return null
    const absent = (what: string) =>
      finality === "pending"
        ? new CommandFailure({
            message: plain(
              `Stone ${sequence} cannot be judged yet: its transaction ${transaction} ${what}, and its receipt says that a reorganisation of the chain may still move it. Check again in some minutes. If this lasts for hours, the stone is not paid for.`,
            ),
          })
        : broken(`stone ${sequence}`, `its transaction ${transaction} ${what}`)
    if (Option.isNone(mined)) return yield* absent("is not on the chain")
    const { logs, succeeded } = mined.value
    if (!succeeded) return yield* absent("was reverted")
    const [from, to] = [inLowerCase(payer), inLowerCase(payTo)]
    if (binding !== null) {
      const nonce = yield* Effect.promise(() => boundNonce(binding, Buffer.from(binding.salt, "base64url")))
      if (!pays(logs, { asset: inLowerCase(usdc), from, to, nonce, value }))
        return yield* absent("holds no payment by the nonce of its request")
    }
    const topics = [transferTopic, topicOf(from), topicOf(to)].join(" ")
    // One transaction may pay for many stones, but one transfer pays for one.
    const { length: transfers } = logs.filter(
      (log) => log.topics.join(" ") === topics && log.data.length === 66 && BigInt(log.data) === value,
    )
    return transfers === 0 ? yield* absent("does not hold the payment") : { from, to, transaction, transfers }
  })

  /** The judgement of a stone, which may be a failure; without an answer of altar or node there is none. */
  const paymentOf = Effect.fnUntraced(function* (stone: PaidStone) {
    const { receipt } = yield* Download.json(`${base}/api/witness/${stone.id}`, Answer)
    // A reorganisation may have moved the transfer to another transaction; the link keeps the answered one.
    const transaction = receipt.currentTransaction ?? stone.transaction
    const mined = yield* receiptOf(transaction, usdc)
    return [stone.sequence, yield* Effect.result(provenIn(stone, receipt, transaction, mined))] as const
  })

  const lost: Array<number> = []
  const spent = new Map<string, number>()
  let payTo = payees.map((payee) => payee.toLowerCase())

  const judge = Effect.fnUntraced(function* (
    sequence: number,
    { from, to, transaction, transfers }: NonNullable<Effect.Success<ReturnType<typeof provenIn>>>,
  ) {
    const name = [transaction, from, to].join(" ").toLowerCase()
    const before = spent.get(name) ?? 0
    spent.set(name, before + 1)
    if (transfers <= before)
      return yield* broken(`stone ${sequence}`, `its transaction ${transaction} does not hold the payment`)
    if (payTo.length === 0) payTo = [to]
    if (!payTo.includes(to))
      return yield* broken(
        `stone ${sequence}`,
        `it was paid to ${to}, not to ${payTo.join(" or ")}. If the altar has changed its address, name each with --pay-to.`,
      )
  })

  return {
    /** Fails with the first stone that is unpaid, or whose payment is not certain yet. */
    check: Effect.fnUntraced(function* (stones: ReadonlyArray<PaidStone>) {
      const all = yield* Effect.forEach(stones, paymentOf, { concurrency: paymentsAtOnce })
      for (const [sequence, judgement] of all) {
        const payment = yield* Effect.fromResult(judgement)
        if (payment === null) lost.push(sequence)
        else yield* judge(sequence, payment)
      }
    }),
    /** The addresses that were paid, and the stones whose payment the altar itself declares lost. */
    summary: () => ({ payTo, lost }),
  }
})

export type Payments = Effect.Success<ReturnType<typeof make>>
