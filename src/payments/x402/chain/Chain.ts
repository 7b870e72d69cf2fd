/** The node's answers about a token: dry runs, and the questions of the scan and of evidence. */
import * as JsonRpc from "./JsonRpc.ts"
import { Context, type Duration, Effect, Layer, Option, Predicate, type Redacted, Schema } from "effect"
import { type Hex, numberToHex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { receiptLimit } from "../../../platform/Answers.ts"
import {
  AddressText,
  authorizationStateData,
  balanceData,
  endTopics,
  HexText,
  inLowerCase,
  type Log,
  Quantity,
  reasonOf,
  settlementCall,
  type SignedAuthorization,
  type TokenLog,
  Word,
} from "./Eip3009.ts"
import type { InFlight } from "../../store/Claim.ts"
import { logSearch } from "./LogSearch.ts"
import {
  atBlock,
  type BlockId,
  type BlockParameter,
  type BlockRange,
  both,
  call,
  callForWord,
  type ChainUnavailable,
  type EvidenceNode,
  getTransactionCount,
  isFinalBy,
  malformedAnswer,
  question,
  revertOf,
  type ScanNode,
} from "./Rpc.ts"

const Block = Schema.Struct({ number: Quantity, hash: Word, timestamp: Quantity })
const LogAnswers = Schema.Array(
  Schema.Struct({
    address: AddressText,
    topics: Schema.Array(Word),
    data: HexText,
    transactionHash: Word,
    blockNumber: Quantity,
    blockHash: Word,
    logIndex: Quantity,
    removed: Schema.optionalKey(Schema.Boolean),
  }),
)

const getBlock = question("eth_getBlockByNumber", Block)
const getBlockIfAny = question("eth_getBlockByNumber", Schema.OptionFromNullOr(Block))
const getHeader = question("eth_getBlockByNumber", Schema.Struct({ ...Block.fields, parentHash: Word }))
const getLogs = question("eth_getLogs", LogAnswers)

const wordAt = (asset: Address, data: Hex, block: BlockParameter) => callForWord({ to: asset, data }, block)

/** Logs of other contracts are not decoded: the sender of the transaction chooses their number. */
const getReceipt = question(
  "eth_getTransactionReceipt",
  Schema.NullOr(
    Schema.Struct({
      transactionHash: Word,
      blockNumber: Quantity,
      blockHash: Word,
      status: HexText,
      logs: Schema.Array(Schema.Unknown),
    }),
  ),
)
const decodeLogs = Schema.decodeUnknownEffect(LogAnswers)

/**
 * A dry run of the transfer on the newest block, with the payer's balance there in atomic units. `block` is the final
 * one, where a search for its logs begins.
 */
export type Simulation =
  | { readonly _tag: "Accepted"; readonly block: bigint; readonly balance: bigint }
  | { readonly _tag: "Reverted"; readonly reason: string }

type Authorization = Pick<SignedAuthorization, "asset" | "from" | "nonce">

/** A transaction's place among those of its key. */
interface Sent {
  readonly sender: Address
  readonly nonce: number
}

export interface ChainConfig {
  readonly rpcUrl: Redacted.Redacted<string>
  /** The sender of the transfers, if known. A wallet's contract may depend on it. */
  readonly sender?: Address | undefined
  /** The timeout of one request, to the last byte of its answer. */
  readonly timeout: Duration.Duration
}

export class Chain extends Context.Service<Chain>()("spirit-altar/payments/x402/chain/Chain", {
  make: Effect.fnUntraced(function* (config: ChainConfig) {
    const { rpcUrl: url, timeout } = config
    const { ask, once } = yield* JsonRpc.make({ url, timeout })
    // The sender of a transaction chooses the length of its receipt. A separate client keeps long ones from delaying
    // other queries.
    const receipts = yield* JsonRpc.make({ url, timeout, limit: receiptLimit })

    const at = (block: bigint) => [numberToHex(block), false] as const

    const getFinal = getBlock("finalized", false)
    const final = ask(getFinal)
    const newest = ask(getBlock("latest", false))

    const heads = Effect.map(ask(both(getHeader("latest", false), getFinal)), ([newest, final]) => ({ newest, final }))

    const revertAt = (authorization: SignedAuthorization, block: BlockParameter) => {
      const transfer = settlementCall(authorization)
      return revertOf(call(config.sender === undefined ? transfer : { ...transfer, from: config.sender }, block))
    }

    // The final block stays. A later block may be reorganised, with the transfer moved below today's head.
    const simulate = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
      const { asset, from } = authorization
      const asked = both(getFinal, both(revertAt(authorization, "latest"), wordAt(asset, balanceData(from), "latest")))
      const [{ number }, [revert, balance]] = yield* ask(asked)
      return Option.match(revert, {
        onNone: (): Simulation => ({ _tag: "Accepted", block: number, balance: BigInt(balance) }),
        onSome: (text): Simulation => ({ _tag: "Reverted", reason: reasonOf(text) }),
      })
    })

    const receiptOf = Effect.fnUntraced(function* (transaction: Hex, asset: Address) {
      const answer = yield* receipts.ask(getReceipt(transaction))
      // An answer about another transaction is no answer.
      if (answer === null || inLowerCase(answer.transactionHash) !== inLowerCase(transaction)) return Option.none()
      const logs = yield* decodeLogs(answer.logs.filter(isOf(asset))).pipe(
        Effect.mapError(() => malformedAnswer("eth_getTransactionReceipt")),
      )
      return Option.some({
        block: { number: answer.blockNumber, hash: answer.blockHash },
        succeeded: answer.status === "0x1",
        logs: tokenLogsOf(logs, asset),
      })
    })

    const stateAt = ({ asset, from, nonce }: Authorization, block: BlockParameter) =>
      wordAt(asset, authorizationStateData(from, nonce), block)

    /**
     * Whether the authorization is used, and its wallet's balance before these payments, which may have left it
     * unrecorded and must not count twice. All are read at one block.
     */
    const balanceBefore = Effect.fn("Chain.balanceBefore")(function* (
      { asset, from, nonce: own }: SignedAuthorization,
      inFlight: ReadonlyArray<InFlight>,
    ) {
      const states = [own, ...inFlight.map(({ nonce }) => nonce)].map((nonce) => authorizationStateData(from, nonce))
      const reads = [balanceData(from), ...states]
      const block = yield* newest
      // Pinned to one block, they need not share a request, which has at most as many calls as a node accepts.
      const answers = yield* Effect.forEach(reads, (data) => atBlock(ask, block, (at) => wordAt(asset, data, at)), {
        concurrency: "unbounded",
      })
      const [balance = 0n, ownState, ...used] = answers.map(BigInt)
      const paid = inFlight.map(({ amountAtomic }, index) => (used[index] === 1n ? amountAtomic : 0n))
      return { isUsed: ownState === 1n, balanceAtomic: paid.reduce((sum, part) => sum + part, balance) }
    })

    /** Whether a block has a transaction of this nonce, and has the authorization used. */
    const standingAt = (block: BlockId, { nonce, sender }: Sent, authorization: Authorization) =>
      Effect.map(
        atBlock(ask, block, (at) => both(getTransactionCount(sender, at), stateAt(authorization, at))),
        ([count, state]) => ({ isSpent: count > BigInt(nonce), isUsed: BigInt(state) === 1n }),
      )

    /** Whether one final block has a transaction of this nonce, and the authorization is unused in the same block. */
    const isSpentUnused = Effect.fnUntraced(function* (sent: Sent, authorization: Authorization) {
      const { isSpent, isUsed } = yield* standingAt(yield* final, sent, authorization)
      return isSpent && !isUsed
    })

    /** Whether the authorization is used in the newest block, by another transaction than the one of this nonce. */
    const isUsedElsewhere = Effect.fnUntraced(function* (sent: Sent, authorization: Authorization) {
      const { isSpent, isUsed } = yield* standingAt(yield* newest, sent, authorization)
      return isUsed && !isSpent
    })

    const logsOf = (asset: Address, topics: ReadonlyArray<unknown>, { from, to }: BlockRange) =>
      getLogs({ address: asset, fromBlock: numberToHex(from), toBlock: numberToHex(to), topics })

    /** The token's logs with these topics. Third parties choose the length of the answer. */
    const logsIn = (asset: Address, topics: ReadonlyArray<unknown>, range: BlockRange) =>
      Effect.map(receipts.ask(logsOf(asset, topics, range)), (logs) => tokenLogsOf(logs, asset))

    const search = logSearch()

    const questions: EvidenceNode<ChainUnavailable> = {
      heads,
      finalAnd: Effect.fnUntraced(function* (number: bigint) {
        const newest = yield* final
        const [there, again] = yield* ask(both(getBlock(...at(number)), getBlock(...at(newest.number))))
        return { final: newest, there, again }
      }),
      receiptOf,
      stateAt: (authorization, block) =>
        Effect.map(
          atBlock(ask, block, (at) => both(stateAt(authorization, at), revertAt(authorization, at))),
          ([state, revert]) => ({ used: BigInt(state) === 1n, revert: Option.map(revert, reasonOf) }),
        ),
      endsOf: (authorization, within, newestFirst) =>
        search(
          (range) => logsIn(authorization.asset, endTopics(authorization), range),
          within,
          newestFirst,
          `${authorization.from}:${authorization.nonce}`,
        ),
    }

    const scanOf = (asset: Address) =>
      Effect.succeed<ScanNode>({
        heads,
        blockAt: (number) => ask(getBlockIfAny(...at(number))),
        logs: Effect.fnUntraced(function* (topics, range) {
          const ends = both(getBlockIfAny(...at(range.from - 1n)), getBlockIfAny(...at(range.to)))
          const asked = both(both(logsOf(asset, topics, range), getBlock("latest", false)), ends)
          const [[logs, newest], [before, end]] = yield* receipts.ask(asked)
          return { logs: tokenLogsOf(logs, asset), before, end, newest }
        }),
        logsIn: (transaction) =>
          Effect.map(
            receiptOf(transaction, asset),
            Option.map(({ logs }) => logs),
          ),
      })

    const isFinal = (block: BlockId) => isFinalBy(questions, block)

    return {
      ...questions,
      simulate,
      isFinal,
      final,
      balanceBefore,
      isSpentUnused,
      isUsedElsewhere,
      ask,
      once,
      scanOf,
    }
  }),
}) {
  static readonly layer = (config: ChainConfig) => Layer.effect(this, this.make(config))
}

const isOf = (asset: Address) => (log: unknown) =>
  Predicate.hasProperty(log, "address") && String(log.address).toLowerCase() === asset.toLowerCase()

const tokenLogsOf = (logs: typeof LogAnswers.Type, asset: Address): ReadonlyArray<TokenLog & Log> =>
  logs
    .filter((log) => log.removed !== true && isOf(asset)(log))
    .map(({ address, blockHash, blockNumber, data, logIndex, topics, transactionHash }) => ({
      address,
      topics,
      data,
      transaction: inLowerCase(transactionHash),
      block: blockNumber,
      blockHash,
      index: Number(logIndex),
    }))
