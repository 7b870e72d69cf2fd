/** Scans the chain once, in order, for EIP-3009 transfers to us. Its table answers every question about them. */
import { Context, Effect, Layer, Option, Semaphore } from "effect"
import type { Address } from "../../../schema/Common.ts"
import { log } from "../../platform/LogMessages.ts"
import * as Trace from "../../platform/Trace.ts"
import type { Block, BlockId, BlockRange, ScanNode } from "./Questions.ts"
import { Chain } from "./Chain.ts"
import {
  addressIn,
  isPayment,
  pairsInReceipt,
  pairsOf,
  type SignedAuthorization,
  type TokenLog,
  topicOf,
  transferTopic,
  usedTopic,
} from "./Eip3009.ts"
import * as DatabaseWatch from "../../platform/DatabaseWatch.ts"
import type { Terms } from "../PaymentTerms.ts"
import * as TransferRows from "./TransferRows.ts"
import type { Cursor, ReadRange } from "./TransferRows.ts"

export interface TransfersConfig {
  readonly terms: Terms
  /** Seconds that an authorization can live. */
  readonly longestLife: number
  /** Milliseconds between two scans, of all servers together. */
  readonly everyMillis: number
}

export interface ScanConfig {
  /** The wallet that is paid. */
  readonly payTo: Address
  /** Seconds that an authorization can live. Blocks are at least a second apart, so it spans no more blocks. */
  readonly longestLife: number
  /** Milliseconds between two scans, of all servers together. */
  readonly everyMillis: number
}

/** Payers in one question for their uses. */
const payersAtMost = 500

/** Transactions of one range whose receipts are read. USDC needs none: its two logs are always adjacent. */
const receiptsAtMost = 20

/** Questions after which a pass over blocks begins no new range. A scan has two passes. */
export const questionsAtMost = 150

/** Blocks of the first question. Most providers accept as many. */
const firstSpan = 1_000n

const chunksOf = <A>(all: ReadonlyArray<A>, size: number) =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, index) => all.slice(index * size, (index + 1) * size))

const atLeast = (one: bigint, other: bigint) => (one > other ? one : other)

export const make = <E>(node: ScanNode<E>, rows: TransferRows.TransferRows, config: ScanConfig) => {
  /** Blocks of a question that the provider accepted last. */
  let span = firstSpan
  const payTo = config.payTo.toLowerCase() as Address

  /** The transfers to us in a range, and how many questions they took. */
  const transfersIn = Effect.fnUntraced(function* (range: BlockRange, recipients: ReadonlyArray<Address>) {
    const ours = new Set<string>(recipients)
    // A node that ignores a filter answers logs that were not asked for.
    const isInside = ({ block }: TokenLog) => block >= range.from && block <= range.to
    const moved = (yield* node.logs([transferTopic, null, recipients.map(topicOf)], range)).filter(
      (one) => isInside(one) && isPayment(one, ours),
    )
    const payers = chunksOf([...new Set(moved.map(({ topics }) => addressIn(topics[1])))], payersAtMost)
    const uses = yield* Effect.forEach(payers, (some) => node.logs([usedTopic, some.map(topicOf)], range))
    const logs = [...moved, ...uses.flat().filter(isInside)]
    const { pairs, unclear } = pairsOf(logs, ours)
    const receipts = yield* Effect.forEach([...unclear].slice(0, receiptsAtMost), node.logsIn)
    const named = receipts.map((all) => all.filter(isInside))
    return {
      logs: [...logs, ...named.flat()],
      transfers: [...pairs, ...named.flatMap((all) => pairsInReceipt(all, ours))],
      asked: 1 + payers.length + receipts.length,
    }
  })

  /** The transfers of a range that ends with this block. None if the node may not have known all of its blocks. */
  const read = Effect.fnUntraced(function* (from: bigint, end: Block, recipients: ReadonlyArray<Address>) {
    const found = yield* transfersIn({ from, to: end.number }, recipients)
    const { newest, there } = yield* node.blockAndNewest(end.number)
    const isSame = Option.exists(there, ({ hash }) => hash === end.hash)
    const isOfIt = found.logs.every(({ block, blockHash }) => block !== end.number || blockHash === end.hash)
    return isSame && isOfIt && newest.number > end.number ? Option.some(found) : Option.none()
  })

  /**
   * Reads the blocks up to `target` in ranges that the provider accepts, and commits each of them. Ends early at the
   * bound on questions, at a range that is not certain, or when another server was faster.
   */
  const pass = Effect.fnUntraced(function* (
    first: bigint,
    target: Block,
    recipients: ReadonlyArray<Address>,
    commit: (range: ReadRange) => Effect.Effect<boolean, E>,
  ) {
    let from = first
    let asked = 0
    /** Blocks that are too many in this pass. */
    let refused: bigint | undefined
    while (from <= target.number && asked < questionsAtMost) {
      const isWhole = target.number - from < span
      const to = isWhole ? target.number : from + span - 1n
      const end = isWhole ? Option.some(target) : yield* node.blockAt(to)
      if (Option.isNone(end)) return
      const answer = yield* Effect.result(read(from, end.value, recipients))
      if (answer._tag === "Failure") {
        if (!node.isTooWide(answer.failure)) return yield* Effect.fail(answer.failure)
        asked += 2
        if (from < to) {
          refused = to - from + 1n
          span = refused / 2n
          continue
        }
        span = firstSpan
        const seen = yield* rows.missing({ from, end: end.value, transfers: [] })
        if (!node.isTooLarge(answer.failure) || seen.length > 0) return yield* Effect.fail(answer.failure)
        // One block of a stranger's transfers must not stop the scan. Attempts are still searched one by one.
        yield* log("block not scanned", { block: String(from) })
      } else if (Option.isNone(answer.success)) return
      else asked += answer.success.value.asked + 3
      const transfers =
        answer._tag === "Success"
          ? Option.match(answer.success, { onNone: () => [], onSome: (found) => found.transfers })
          : []
      if (!(yield* commit({ from, end: end.value, transfers }))) return
      const wider = span + span / 8n + 1n
      if (!isWhole) span = refused !== undefined && wider >= refused ? refused - 1n : wider
      from = to + 1n
    }
  })

  /** Starts below the final block by the longest life of an authorization, or where the last scan ended if lower. */
  const start = Effect.fnUntraced(function* (final: Block, cursor: Cursor | undefined) {
    const lowest = atLeast(final.number - BigInt(config.longestLife), 0n)
    const isLower = cursor !== undefined && cursor.final.number < lowest
    const first = yield* node.blockAt(isLower ? cursor.final.number : lowest)
    const recipients = [...new Set([...(cursor?.recipients ?? []), payTo])]
    if (Option.isSome(first)) yield* rows.startAt(first.value, recipients)
  })

  /** The cursor to go on from; none while the node contradicts it or is behind it. */
  const begin = Effect.fnUntraced(function* (known: Cursor | undefined, final: Block, there: Option.Option<Block>) {
    if (known === undefined || !known.recipients.includes(payTo)) yield* start(final, known)
    else if (Option.isNone(there)) return Option.none<Cursor>()
    else if (there.value.hash !== known.final.hash) {
      yield* log("final block replaced", { block: String(known.final.number) })
      if (!known.isDoubtOld) return yield* Effect.as(rows.doubt, Option.none<Cursor>())
      yield* start(final, known)
    }
    return yield* rows.cursor(config.everyMillis)
  })

  /** Whether a final reading lacks no transfer that was seen before, unless that one's block was replaced. */
  const isComplete = Effect.fnUntraced(function* (range: ReadRange) {
    for (const { hash, number } of yield* rows.missing(range)) {
      const there = yield* node.blockAt(number)
      if (Option.isNone(there) || there.value.hash === hash) return false
    }
    return true
  })

  /** Reads what is new: first the blocks that have become final, then those above them. */
  const scanFrom = Effect.fnUntraced(function* (known: Cursor | undefined) {
    const noBlock = Effect.succeedNone
    const [{ final, newest }, finalNow, headNow] = yield* Effect.all(
      [
        node.heads,
        known === undefined ? noBlock : node.blockAt(known.final.number),
        known === undefined ? noBlock : node.blockAt(known.head.number),
      ],
      { concurrency: "unbounded" },
    )
    if (newest.number < 1n || newest.number < final.number) return
    const cursor = yield* begin(known, final, finalNow)
    if (Option.isNone(cursor)) return
    const { recipients } = cursor.value
    // The head may still be filled with logs, so a range ends below it. No block that is unread is older than this.
    const parent: Block = { number: newest.number - 1n, hash: newest.parentHash, timestamp: newest.timestamp }
    const target = final.number < newest.number ? final : parent
    yield* pass(cursor.value.final.number + 1n, target, recipients, (range) =>
      Effect.flatMap(isComplete(range), (complete) => (complete ? rows.commitFinal(range) : Effect.succeed(false))),
    )

    const now = yield* rows.cursor(config.everyMillis)
    if (Option.isNone(now)) return
    const { final: read, head } = now.value
    const floor: BlockId = target.number > read.number ? target : read
    // Behind what was read before: the next scan may meet a node that is not.
    if (newest.number <= head.number && head.number > floor.number) return
    const isChecked = known?.head.number === head.number && known.head.hash === head.hash
    const holds = !isChecked || Option.exists(headNow, ({ hash }) => hash === head.hash)
    const isKept = holds && head.number >= floor.number
    if (!isKept && !(yield* rows.resetHead(floor, head))) return
    let before = isKept ? head : floor
    yield* pass(before.number + 1n, parent, recipients, (range) =>
      Effect.tap(rows.commitHead(range, before), () => Effect.sync(() => (before = range.end))),
    )
  })

  const cursor = Effect.map(rows.cursor(config.everyMillis), Option.getOrUndefined)

  /** One scan, unless another server has made one in this time. True if it was this server's turn. */
  const scan = Effect.gen(function* () {
    const known = yield* cursor
    if (known !== undefined && !(yield* rows.lease(config.everyMillis))) return false
    yield* scanFrom(known)
    return true
  }).pipe(Trace.span("Transfers.scan"))

  /** A scan whose turn it is not. */
  const scanNow = Effect.flatMap(cursor, scanFrom).pipe(Trace.span("Transfers.scanNow"))

  return { scan, scanNow }
}

export class Transfers extends Context.Service<Transfers>()("spirit-altar/payments/chain/Transfers", {
  make: Effect.fnUntraced(function* ({ everyMillis, longestLife, terms }: TransfersConfig) {
    const node = yield* (yield* Chain).scanOf(terms.asset)
    const rows = yield* TransferRows.make(terms)
    const { scan, scanNow } = make(node, rows, { payTo: terms.payTo, longestLife, everyMillis })
    const turn = yield* Semaphore.make(1)
    let scans = 0

    const find = ({ asset, from, nonce }: SignedAuthorization) => rows.find(asset, { payer: from, nonce })

    const isCovered = ({ asset, to, validBefore }: SignedAuthorization) =>
      // No scan reads an earlier token. Its authorizations are explained by their state and their own logs.
      asset.toLowerCase() !== terms.asset.toLowerCase()
        ? Effect.succeed(true)
        : Effect.map(
            rows.cursor(everyMillis),
            Option.exists(
              ({ final, recipients }) =>
                final.timestamp >= validBefore && recipients.some((one) => one === to.toLowerCase()),
            ),
          )

    /** Scans unless a scan has begun since this was asked. An error leaves everything as it was. */
    const readOn = Effect.suspend(() => {
      const before = scans
      return turn.withPermits(1)(
        Effect.suspend(() => {
          if (scans > before) return Effect.void
          scans += 1
          return scanNow
        }),
      )
    }).pipe(Effect.catchCause(DatabaseWatch.failed("transfer scan failed")))

    /** Whether every final block in which the authorization could be used has been read, if need be now. */
    const hasReadPast = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
      if (yield* isCovered(authorization)) return true
      yield* readOn
      return yield* isCovered(authorization)
    })

    return { scan, find, hasReadPast }
  }),
}) {
  static readonly layer = (config: TransfersConfig) => Layer.effect(this, this.make(config))
}
