/** `verify --wallet`: counts a wallet's stones again from the checked chain, and its payments from every transfer. */
import { Effect, Option, Schema } from "effect"
import { readWallet } from "../../../schema/altar/Wallet.ts"
import { Address, listMaximum } from "../../../schema/Common.ts"
import { broken, holds, open, type ReceiptCheck } from "../../buyer/receipt/Checks.ts"
import { filled } from "../../payments/Act.ts"
import { inLowerCase, type Transfer } from "../../payments/x402/chain/Eip3009.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { optionalText } from "../Define.ts"
import * as Download from "./Download.ts"
import { type Node, nodeAt } from "./Node.ts"
import type { RevealedStone } from "./Reveals.ts"

export const walletFlag = optionalText(
  "wallet",
  "Count the stones of this wallet again, and with --rpc its payments: whether its record leaves any out",
  "address",
)

const Page = Schema.Struct({
  sealed: Schema.Int,
  opened: Schema.Int,
  closed: Schema.Int,
  hidden: Schema.Int,
  asOf: Schema.Struct({ head: Schema.Struct({ sequence: Schema.Int }) }),
  stones: Schema.Array(Schema.Struct({ sequence: Schema.Int })),
  next: Schema.NullOr(Schema.Int),
})

const pageOf = (base: string, wallet: string, before: number | null) =>
  Download.json(
    `${base}${filled(readWallet.path, { wallet })}?limit=${listMaximum}${before === null ? "" : `&before=${before}`}`,
    Page,
  )

/** The record as the altar shows it, with the sequences of all its stones. */
const recordOf = Effect.fnUntraced(function* (base: string, wallet: string) {
  const first = yield* pageOf(base, wallet, null)
  const sequences = first.stones.map(({ sequence }) => sequence)
  for (let { next } = first; next !== null;) {
    const page: typeof Page.Type = yield* pageOf(base, wallet, next)
    sequences.push(...page.stones.map(({ sequence }) => sequence))
    if (page.next !== null && page.next >= next)
      return yield* new CommandFailure({ message: "The record of the wallet leads back, so it would never end." })
    next = page.next
  }
  return { ...first, sequences: new Set(sequences) }
})

/** The first payment of the chain says where payments went, and from which block on. */
const FirstLink = Schema.Struct({ entries: Schema.Array(Schema.Struct({ id: Schema.String })) })
const FirstStone = Schema.Struct({
  receipt: Schema.Struct({
    transaction: Schema.String,
    payTo: Schema.String,
    currentTransaction: Schema.optionalKey(Schema.String),
  }),
})

const transfersAt = Effect.fnUntraced(function* (
  base: string,
  wallet: Address,
  { receiptOf, transfersFrom, usdc }: Node,
  payees: ReadonlyArray<string>,
) {
  const { entries } = yield* Download.json(`${base}/api/witness/chain?from=1&limit=1`, FirstLink)
  const [first] = entries
  if (first === undefined) return "no stone says where payments went"
  if (usdc === undefined) return "no USDC is known on the network of this node"
  const { receipt } = yield* Download.json(`${base}/api/witness/${first.id}`, FirstStone)
  const mined = yield* receiptOf(receipt.currentTransaction ?? receipt.transaction, usdc)
  if (Option.isNone(mined)) return "the payment of the first stone is not on the chain"
  const recipients = payees.length === 0 ? [receipt.payTo] : payees
  const { number: since } = mined.value.block
  return { recipients, since, transfers: yield* transfersFrom(usdc, wallet, recipients, since) }
})

/** The record and the transfers, to compare with the chain. They are read first, so that their acts are listed later. */
export const openWallet = Effect.fn("openWallet")(function* (
  base: string,
  given: string,
  rpcUrl: Option.Option<string>,
  payees: ReadonlyArray<string>,
) {
  if (!Schema.is(Address)(given))
    return yield* new CommandFailure({ message: "--wallet is 0x and 40 hexadecimal digits." })
  const wallet = inLowerCase(given)
  const transfers = Option.isNone(rpcUrl)
    ? "name the network's RPC with --rpc"
    : yield* Effect.flatMap(nodeAt(rpcUrl.value), (node) => transfersAt(base, wallet, node, payees)).pipe(
        Effect.catchTag("ChainUnavailable", ({ message }) => Effect.succeed(message)),
      )
  return { wallet, transfers, record: yield* recordOf(base, wallet) }
})

export type OpenedWallet = Effect.Success<ReturnType<typeof openWallet>>

const listed = (sequences: Iterable<number>) => [...sequences].toSorted((left, right) => left - right).join(", ")

const recordCheck = (
  { record, wallet }: OpenedWallet,
  stones: ReadonlyArray<{ readonly id: string; readonly sequence: number }>,
  revealed: ReadonlyMap<string, RevealedStone>,
): ReceiptCheck => {
  const counted = stones.filter(({ sequence }) => sequence <= record.asOf.head.sequence)
  const words = counted.flatMap(({ id }) => revealed.get(id) ?? [])
  const hidden = words.filter(({ isHidden }) => isHidden).length
  const opened = words.length - hidden
  const chain = new Set(counted.map(({ sequence }) => sequence))
  const omitted = [...chain].filter((sequence) => !record.sequences.has(sequence))
  const foreign = [...record.sequences].filter((sequence) => !chain.has(sequence))
  const closed = counted.length - words.length
  const sums = `${counted.length} sealed, ${opened} opened, ${closed} closed, ${hidden} hidden`
  const faults = [
    ...(omitted.length > 0 ? [`it leaves out the stones ${listed(omitted)}`] : []),
    ...(foreign.length > 0 ? [`the stones ${listed(foreign)} are not of this wallet`] : []),
    ...(record.sealed === counted.length &&
    record.opened === opened &&
    record.closed === closed &&
    record.hidden === hidden
      ? []
      : [
          `it says ${record.sealed} sealed, ${record.opened} opened, ${record.closed} closed, ${record.hidden} hidden, and the chain has ${sums}`,
        ]),
  ]
  return faults.length === 0
    ? holds("record", `Wallet ${wallet}: ${sums}, as of stone ${record.asOf.head.sequence}. Its record says the same.`)
    : broken(
        "record",
        `The record of wallet ${wallet} differs: ${faults.join("; ")}. If stones were opened or hidden during this check, run it again.`,
      )
}

const countedBy = (transactions: ReadonlyArray<string>) =>
  new Map([...Map.groupBy(transactions, (hash) => hash.toLowerCase())].map(([hash, all]) => [hash, all.length]))

/** Each payment must have bought an act that the altar shows. */
const completenessCheck = (
  { transfers: looked }: Pick<OpenedWallet, "transfers">,
  paidIn: ReadonlyArray<string>,
): ReceiptCheck => {
  if (typeof looked === "string") return open("completeness", `Completeness not checked: ${looked}.`)
  const { recipients, since, transfers } = looked
  const acts = countedBy(paidIn)
  const payments = countedBy(transfers.map(({ transaction }: Transfer) => transaction))
  const unexplained = [...payments].filter(([hash, count]) => count > (acts.get(hash) ?? 0)).map(([hash]) => hash)
  return unexplained.length === 0
    ? holds(
        "completeness",
        `Each of its ${transfers.length} payments to ${recipients.join(" and ")} since block ${since} bought an act that the altar shows.`,
      )
    : broken(
        "completeness",
        `The altar shows no act for payments in ${unexplained.join(", ")}. Each is in flight, bought nothing, or bought an act that is left out.`,
      )
}

export const walletChecks = (
  opened: OpenedWallet,
  stones: ReadonlyArray<{ readonly id: string; readonly payer: string; readonly sequence: number }>,
  {
    paidBy,
    revealed,
  }: {
    readonly paidBy: ReadonlyMap<string, ReadonlyArray<string>>
    readonly revealed: ReadonlyMap<string, RevealedStone>
  },
) => {
  const own = stones.filter(({ payer }) => inLowerCase(payer) === opened.wallet)
  return [recordCheck(opened, own, revealed), completenessCheck(opened, paidBy.get(opened.wallet) ?? [])]
}
