/** Scans the chain once, in order, for EIP-3009 transfers to us. Its table answers every question about them. */
import { Context, Effect, Layer, Metric, Option, Semaphore } from "effect"
import type { SqlError } from "effect/sql"
import type { Address } from "../../../../schema/Common.ts"
import { lasting } from "../../../platform/Lasting.ts"
import { log } from "../../../platform/LogMessages.ts"
import * as Trace from "../../../platform/Trace.ts"
import type { Block, BlockId, ChainUnavailable, ScanNode, Topics } from "./Rpc.ts"
import { isTooLarge, isTooManyBlocks } from "./Questions.ts"
import { Chain } from "./Chain.ts"
import {
  addressIn,
  isPayment,
  pairsInReceipt,
  pairsOf,
  type SignedAuthorization,
  topicOf,
  type Transfer,
  transferTopic,
  usedTopic,
} from "./Eip3009.ts"
import * as DatabaseWatch from "../../../platform/DatabaseWatch.ts"
import type { Terms } from "../../PaymentTerms.ts"
import { UnmatchedPayments } from "../../store/Unmatched.ts"
import * as TransferRows from "./TransferRows.ts"
import type { Cursor, ReadRange } from "./TransferRows.ts"

export interface ScanConfig {
  readonly payTo: Address
  /** Seconds that an authorization can live. Blocks are at least a second apart, so N seconds span at most N blocks. */
  readonly longestLife: number
  /** Milliseconds between two scans, of all servers together. */
  readonly everyMillis: number
}

export interface TransfersConfig extends Omit<ScanConfig, "payTo"> {
  readonly terms: Terms
}

/** Maximum payers in one query for `AuthorizationUsed` logs. */
const payersAtMost = 500

/** Maximum transactions of one range whose receipts are read. USDC needs none: its two logs are always adjacent. */
const receiptsAtMost = 20

/** A pass over blocks starts no new range after this many requests. A scan has two passes. */
export const questionsAtMost = 150

/** Blocks of the first range. Most providers accept as many. */
const firstSpan = 1_000n

const behind = Metric.gauge("altar.scan.behind", {
  description: "Blocks between the newest one and the last one read, when this server last began a scan.",
})

const chunksOf = <A>(all: ReadonlyArray<A>, size: number) =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))

/** The transfers of a range, and the questions they took beside those about its blocks. */
interface Reading {
  readonly transfers: ReadonlyArray<Transfer>
  readonly questions: number
}

export const make = (node: ScanNode, rows: TransferRows.TransferRows, config: ScanConfig) => {
  /** Blocks of the next range, by what the provider has accepted. */
  let span = firstSpan
  const payTo = config.payTo.toLowerCase() as Address

  /** The logs of the blocks after `before` up to `end`; none unless the node has both blocks and one newer than `end`. */
  const logsOf = Effect.fnUntraced(function* (topics: Topics, before: BlockId, end: BlockId) {
    const answer = yield* node.logs(topics, { from: before.number + 1n, to: end.number })
    // A node that ignores a filter answers logs that were not asked for.
    const logs = answer.logs.filter(({ block }) => block > before.number && block <= end.number)
    const isCertain =
      answer.newest.number > end.number &&
      Option.exists(answer.before, ({ hash }) => hash === before.hash) &&
      Option.exists(answer.end, ({ hash }) => hash === end.hash) &&
      logs.every(({ block, blockHash }) => block !== end.number || blockHash === end.hash)
    return isCertain ? Option.some(logs) : Option.none()
  })

  /** The transfers to us in these blocks, and how many questions they took; none if an answer is not certain. */
  const transfersIn = Effect.fnUntraced(function* (before: BlockId, end: BlockId, recipients: ReadonlyArray<Address>) {
    const ours = new Set<string>(recipients)
    const moves = yield* logsOf([transferTopic, null, recipients.map(topicOf)], before, end)
    if (Option.isNone(moves)) return Option.none<Reading>()
    const payments = moves.value.filter((move) => isPayment(move, ours))
    const payers = chunksOf([...new Set(payments.map(({ topics }) => addressIn(topics[1])))], payersAtMost)
    const uses = Option.all(
      yield* Effect.forEach(payers, (some) => logsOf([usedTopic, some.map(topicOf)], before, end)),
    )
    if (Option.isNone(uses)) return Option.none<Reading>()
    const { pairs, unclear } = pairsOf([...payments, ...uses.value.flat()], ours)
    const receipts = Option.all(yield* Effect.forEach([...unclear].slice(0, receiptsAtMost), node.logsIn))
    return Option.map(receipts, (all): Reading => ({
      transfers: [...pairs, ...all.flatMap((logs) => pairsInReceipt(logs, ours))],
      questions: 1 + payers.length + all.length,
    }))
  })

  /** The same for a range that the node may refuse: without transfers, if it answers only about fewer blocks. */
  const readRange = Effect.fnUntraced(function* (
    before: BlockId,
    end: Block,
    recipients: ReadonlyArray<Address>,
  ): Effect.fn.Return<Option.Option<Partial<Reading>>, ChainUnavailable | SqlError.SqlError> {
    const from = before.number + 1n
    const answer = yield* Effect.result(transfersIn(before, end, recipients))
    if (answer._tag === "Success") return answer.success
    const refusal = answer.failure
    if (!isTooManyBlocks(refusal)) return yield* refusal
    if (from < end.number) return Option.some({})
    span = firstSpan
    const seen = yield* rows.missing({ from, end, transfers: [] })
    if (!isTooLarge(refusal) || seen.length > 0) return yield* refusal
    // A block that a stranger filled must not stop the scan. Attempts find their own transfers by a search.
    yield* log("block not scanned", { block: String(from) })
    return Option.some({ transfers: [] })
  })

  /**
   * Reads the blocks after `first` up to `target` in ranges that the provider accepts, and commits each of them. Ends
   * early at the bound on questions. False at a range that is not certain, or when another server was faster.
   */
  const pass = Effect.fnUntraced(function* (
    first: BlockId,
    target: Block,
    recipients: ReadonlyArray<Address>,
    commit: (range: ReadRange, before: BlockId) => Effect.Effect<boolean, ChainUnavailable | SqlError.SqlError>,
  ) {
    let before = first
    let questions = 0
    /** The smallest range that the provider refused in this pass. */
    let refused: bigint | undefined
    while (before.number < target.number && questions < questionsAtMost) {
      const from = before.number + 1n
      const isLast = target.number - from < span
      const end = isLast ? Option.some(target) : yield* node.blockAt(from + span - 1n)
      if (Option.isNone(end)) return false
      const reading = yield* readRange(before, end.value, recipients)
      if (Option.isNone(reading)) return false
      questions += 2 + (reading.value.questions ?? 0)
      const { transfers } = reading.value
      if (transfers === undefined) {
        refused = end.value.number - before.number
        span = refused / 2n
        continue
      }
      if (!(yield* commit({ from, end: end.value, transfers }, before))) return false
      const wider = span + span / 8n + 1n
      if (!isLast) span = refused !== undefined && wider >= refused ? refused - 1n : wider
      before = end.value
    }
    return true
  })

  /** Starts one longest life of an authorization below the final block, or at the last scanned final block if lower. */
  const start = Effect.fnUntraced(function* (final: Block, cursor: Cursor | undefined) {
    const life = BigInt(config.longestLife)
    const lowest = final.number > life ? final.number - life : 0n
    const isLower = cursor !== undefined && cursor.final.number < lowest
    const first = yield* node.blockAt(isLower ? cursor.final.number : lowest)
    const recipients = [...new Set([...(cursor?.recipients ?? []), payTo])]
    if (Option.isSome(first)) yield* rows.startAt(first.value, recipients)
  })

  const replacement = lasting()
  /** The cursor to go on from; none while the node lags behind it or has another block there. */
  const begin = Effect.fnUntraced(function* (last: Cursor | undefined, final: Block, there: Option.Option<Block>) {
    if (last === undefined || !last.recipients.includes(payTo)) yield* start(final, last)
    else if (Option.isNone(there)) return Option.none<Cursor>()
    else if (there.value.hash !== last.final.hash) {
      yield* replacement.goesOn("", log("final block replaced", { block: String(last.final.number) }))
      if (!last.isDoubtOld) return yield* Effect.as(rows.doubt, Option.none<Cursor>())
      yield* start(final, last)
    } else yield* replacement.ends
    return yield* rows.cursor(config.everyMillis)
  })

  /** Commits a final range. Refuses if a transfer seen earlier is missing although its block still stands. */
  const commitFinal = Effect.fnUntraced(function* (range: ReadRange) {
    const seen = yield* rows.missing(range)
    const there = yield* Effect.forEach(seen, ({ number }) => node.blockAt(number))
    const replaced = seen.filter(({ hash }, index) => {
      const now = there[index] ?? Option.none()
      return Option.isSome(now) && now.value.hash !== hash
    })
    return yield* rows.commitFinal(
      range,
      replaced.map(({ hash }) => hash),
    )
  })

  /** Reads the blocks above the final ones, which were read up to `target`. */
  const scanAbove = Effect.fnUntraced(function* (target: Block, parent: Block, recipients: ReadonlyArray<Address>) {
    const cursor = yield* rows.cursor(config.everyMillis)
    if (Option.isNone(cursor)) return
    const { final, head } = cursor.value
    const floor: BlockId = target.number > final.number ? target : final
    // The next scan may reach a node that does not lag behind the last one.
    const isNodeBehind = parent.number < head.number && head.number > floor.number
    if (isNodeBehind) return
    if (head.number >= floor.number) {
      const isRead = head.number < parent.number && (yield* pass(head, parent, recipients, rows.commitHead))
      if (isRead) return
      const there = yield* node.blockAt(head.number)
      // A node that lacks the block may only be behind.
      const mayStand = Option.isNone(there) || there.value.hash === head.hash
      if (mayStand) return
    }
    if (yield* rows.resetHead(floor, head)) yield* pass(floor, parent, recipients, rows.commitHead)
  })

  /** Reads what is new: first the blocks that have become final, then those above them. */
  const scanFrom = Effect.fnUntraced(function* (last: Cursor | undefined) {
    const [{ final, newest }, finalNow] = yield* Effect.all(
      [node.heads, last === undefined ? Effect.succeedNone : node.blockAt(last.final.number)],
      { concurrency: "unbounded" },
    )
    const isContradiction = newest.number < 1n || newest.number < final.number
    if (isContradiction) return
    if (last !== undefined) yield* Metric.update(behind, Number(newest.number - last.head.number))
    const cursor = yield* begin(last, final, finalNow)
    if (Option.isNone(cursor)) return
    const { recipients } = cursor.value
    // The newest block may still gain logs, so a range ends one block below it.
    const parent: Block = { number: newest.number - 1n, hash: newest.parentHash, timestamp: newest.timestamp }
    const target = final.number < newest.number ? final : parent
    yield* pass(cursor.value.final, target, recipients, commitFinal)
    yield* scanAbove(target, parent, recipients)
  })

  const cursor = Effect.map(rows.cursor(config.everyMillis), Option.getOrUndefined)

  /** Scans if no server has scanned within `everyMillis`. Returns whether this server did. */
  const scan = Effect.gen(function* () {
    const last = yield* cursor
    if (last !== undefined && !(yield* rows.lease(config.everyMillis))) return false
    yield* scanFrom(last)
    return true
  }).pipe(Trace.span("Transfers.scan"))

  /** Scans at once, without the lease. */
  const scanNow = Effect.flatMap(cursor, scanFrom).pipe(Trace.span("Transfers.scanNow"))

  return { scan, scanNow }
}

export class Transfers extends Context.Service<Transfers>()("spirit-altar/payments/x402/chain/Transfers", {
  make: Effect.fnUntraced(function* ({ terms, ...times }: TransfersConfig) {
    const node = yield* (yield* Chain).scanOf(terms.asset)
    const rows = yield* TransferRows.make(terms)
    const unmatched = yield* UnmatchedPayments
    const { scan, scanNow } = make(node, rows, { payTo: terms.payTo, ...times })
    const turn = yield* Semaphore.make(1)
    let scans = 0

    const find = ({ asset, from, nonce }: SignedAuthorization) => rows.find(asset, { payer: from, nonce })

    const isCovered = ({ asset, to, validBefore }: SignedAuthorization) =>
      // No scan reads an earlier token. Its authorizations are explained by their state and their own logs.
      asset.toLowerCase() !== terms.asset.toLowerCase()
        ? Effect.succeed(true)
        : Effect.map(
            rows.cursor(times.everyMillis),
            Option.exists(
              ({ final, recipients }) =>
                final.timestamp >= validBefore && recipients.some((wallet) => wallet === to.toLowerCase()),
            ),
          )

    /** Scans, or waits for a scan that started after this call. An error leaves everything as it was. */
    const readOn = Effect.suspend(() => {
      const before = scans
      return turn.withPermits(1)(
        Effect.suspend(() => {
          if (scans > before) return Effect.void
          scans += 1
          return scanNow
        }),
      )
    }).pipe(DatabaseWatch.watched("transfer scan failed"), Effect.ignoreCause)

    /** Whether every final block in which the authorization could be used has been read. Scans first if not. */
    const hasReadPast = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
      if (yield* isCovered(authorization)) return true
      yield* readOn
      return yield* isCovered(authorization)
    })

    const recordUnmatched = (authorization: SignedAuthorization, transfer: Pick<Transfer, "amount" | "transaction">) =>
      unmatched.recordTransfer({ network: terms.network, authorization }, transfer)

    return { scan, find, hasReadPast, recordUnmatched }
  }),
}) {
  static readonly layer = (config: TransfersConfig) => Layer.effect(this, this.make(config))
}
