/** A chain whose blocks a test writes, and a node that answers the questions of a scan about it, truly or not. */
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type Hex, numberToHex, pad, stringToHex } from "viem"
import { type TokenLog, topicOf, transferTopic, usedTopic } from "../../src/payments/x402/chain/Eip3009.ts"
import {
  type Ask,
  ChainUnavailable,
  type Header,
  type RangeLogs,
  type ScanNode,
} from "../../src/payments/x402/chain/Rpc.ts"
import * as TransferRows from "../../src/payments/x402/chain/TransferRows.ts"
import * as Transfers from "../../src/payments/x402/chain/Transfers.ts"

export const wallet = (index: number): Hex => numberToHex(index, { size: 20 })
export const nonceOf = (index: number): Hex => numberToHex(index, { size: 32 })
export const us = wallet(0xaa)

const refused = (detail: string) =>
  Effect.fail(new ChainUnavailable({ method: "eth_getLogs", reason: "refused", detail }))

interface Content {
  readonly branch: string
  readonly logs: ReadonlyArray<Pick<TokenLog, "topics" | "data" | "transaction">>
}

/** The answers of the node; an omitted one is true. */
export interface Lies {
  readonly final?: number
  readonly head?: number
  /** The head of the node behind the same address that answers questions for logs. */
  readonly logsHead?: number
  /** A block that it does not have, although it has later ones. */
  readonly lacks?: number
  readonly forgets?: boolean
  /** The most blocks in one question for logs. */
  readonly logRange?: number
  /** Whether it refuses such a question for the size of its answer. */
  readonly isLarge?: boolean
  /** Whether it refuses every question for logs, as by a rate limit. */
  readonly isBusy?: boolean
  /** Runs after each answer about logs. */
  readonly afterLogs?: () => void
}

let transactions = 0
const newTransaction = () => nonceOf((transactions += 1))

export const use = (payer: Hex, nonce: Hex) => ({ topics: [usedTopic, topicOf(payer), nonce], data: "0x" as Hex })
export const move = (payer: Hex, to: Hex, amount: bigint) => ({
  topics: [transferTopic, topicOf(payer), topicOf(to)],
  data: pad(numberToHex(amount)),
})

/** The two logs of a payment. */
export const payment = (payer: number, nonce: number, amount = 10_000n, to = us) => [
  use(wallet(payer), nonceOf(nonce)),
  move(wallet(payer), to, amount),
]

export const transactionOf = (logs: ReadonlyArray<Pick<TokenLog, "topics" | "data">>) => {
  const transaction = newTransaction()
  return logs.map((log) => ({ ...log, transaction }))
}

export const make = (branch = "a") => {
  const blocks: Array<Content> = [{ branch, logs: [] }]
  const heard: Array<string> = []
  let lies: Lies = {}

  const hashAt = (number: number): Hex =>
    pad(
      stringToHex(
        blocks.slice(0, number + 1).reduce((all, { branch }) => (all.endsWith(branch) ? all : all + branch), "") +
          number,
      ),
    )
  const header = (number: number): Header => ({
    number: BigInt(number),
    hash: hashAt(number),
    parentHash: hashAt(Math.max(0, number - 1)),
    timestamp: BigInt(1_000 + 2 * number),
  })
  const head = (most = lies.head) => Math.min(most ?? Infinity, blocks.length - 1)
  const ask = <A>(what: string, answer: () => A) =>
    Effect.sync(() => {
      heard.push(what)
      return answer()
    })
  const logsAt = (number: number): ReadonlyArray<TokenLog> =>
    (blocks[number]?.logs ?? []).map((log, index) => ({
      ...log,
      block: BigInt(number),
      blockHash: hashAt(number),
      index: 3 + index,
    }))
  const isLike = (log: TokenLog, topics: ReadonlyArray<unknown>) =>
    topics.every((topic, index) => topic === null || [topic].flat().includes(log.topics[index]))
  const blockIfAny = (number: bigint, most = head()) =>
    Number(number) > most || Number(number) === lies.lacks ? Option.none<Header>() : Option.some(header(Number(number)))

  const node: ScanNode = {
    heads: ask("heads", () => ({ newest: header(head()), final: header(Math.max(0, lies.final ?? head() - 4)) })),
    blockAt: (number) => ask("block", () => blockIfAny(number)),
    logs: (topics, { from, to }) =>
      Effect.suspend((): Effect.Effect<RangeLogs, ChainUnavailable> => {
        const width = Number(to - from) + 1
        heard.push(topics[0] === transferTopic ? `transfers ${width}` : `uses ${[topics[1]].flat().length}`)
        if (lies.isBusy === true) return refused("rate limit")
        if (width > (lies.logRange ?? Infinity))
          return refused(lies.isLarge === true ? "response size exceeded" : "block range too wide")
        const last = Math.min(Number(to), head(lies.logsHead ?? lies.head))
        const numbers = Array.from({ length: Math.max(0, last - Number(from) + 1) }, (_, index) => Number(from) + index)
        const logs = lies.forgets === true ? [] : numbers.flatMap(logsAt).filter((log) => isLike(log, topics))
        lies.afterLogs?.()
        const most = head(lies.logsHead ?? lies.head)
        const [before, end] = [blockIfAny(from - 1n, most), blockIfAny(to, most)]
        return Effect.succeed({ logs, before, end, newest: header(most) })
      }),
    logsIn: (transaction) =>
      ask("receipt", () =>
        Option.some(blocks.flatMap((_, number) => logsAt(number)).filter((log) => log.transaction === transaction)),
      ),
  }

  return {
    node,
    /** The questions since the last call. */
    questions: () => heard.splice(0),
    block: (...transactions: ReadonlyArray<ReadonlyArray<Pick<TokenLog, "topics" | "data">>>) => {
      blocks.push({ branch, logs: transactions.flatMap(transactionOf) })
    },
    empty: (count: number) => {
      for (let left = count; left > 0; left -= 1) blocks.push({ branch, logs: [] })
    },
    /** Replaces the newest blocks by empty ones of another branch. */
    replace: (count: number) => {
      branch = `${branch}'`
      blocks.splice(blocks.length - count, count)
      for (let left = count; left > 0; left -= 1) blocks.push({ branch, logs: [] })
    },
    lie: (next: Lies) => {
      lies = next
    },
    height: () => blocks.length - 1,
  }
}

/** A node that gives every call this answer. */
export const answering =
  (answer: Effect.Effect<unknown, ChainUnavailable>): Ask =>
  ({ calls, decode }) =>
    Effect.flatMap(Effect.result(answer), (result) => Effect.fromResult(decode(calls.map(() => result))))

/** Blocks, and seconds. */
export const longestLife = 20

let networks = 0

/** A chain of blocks before any payment, and a scanner of it with rows of its own. */
export const scene = Effect.fnUntraced(function* (before = 30) {
  const token = { network: `eip155:${(networks += 1)}`, asset: wallet(0xcc) }
  const chain = make()
  chain.empty(before)
  const rows = yield* TransferRows.make(token)
  const client = yield* SqlClient.SqlClient
  const scannerOf = (payTo = us) => Transfers.make(chain.node, rows, { payTo, longestLife, everyMillis: 0 })
  const transfers = client<{ readonly row: string }>`
    SELECT CASE WHEN is_final THEN 'final ' ELSE 'above ' END || amount_atomic || ' in ' || block AS row
    FROM chain_transfers WHERE network = ${token.network} ORDER BY block, log_index`.pipe(
    Effect.map((all) => all.map(({ row }) => row)),
    Effect.orDie,
  )
  const cursor = Effect.map(rows.cursor(0), (stored) =>
    stored._tag === "Some" ? [Number(stored.value.final.number), Number(stored.value.head.number)] : [],
  )
  return { chain, client, cursor, transfers, rows, scan: scannerOf().scan, scannerOf, token }
})
