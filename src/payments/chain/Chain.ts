/** The node's answers about a token: dry runs, and the questions of the scan and of evidence. */
import { Context, type Duration, Effect, Layer, Option, Predicate, type Redacted, Schema } from "effect"
import { type Hex, hexToBigInt, numberToHex } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { receiptLimit } from "../../platform/Answers.ts"
import { AddressText, HexText, inLowerCase, Quantity, Word } from "../Hex.ts"
import {
  authorizationStateData,
  endTopics,
  reasonOf,
  settlementCall,
  type SignedAuthorization,
  type TokenLog,
  topicOf,
  transferTopic,
} from "./Eip3009.ts"
import * as JsonRpc from "./JsonRpc.ts"
import * as LogSearch from "./LogSearch.ts"
import {
  type Block,
  type BlockId,
  type BlockRange,
  type EvidenceNode,
  isFinalBy,
  type Receipt,
  type ScanNode,
} from "./Questions.ts"
import { type ChainUnavailable, isNotUnderstood, isRevert, reader } from "./Rpc.ts"

const BlockAnswer = Schema.Struct({ number: Quantity, hash: Word, timestamp: Quantity })
export const LogAnswer = Schema.Struct({ address: AddressText, topics: Schema.Array(Word), data: HexText })
const ReceiptAnswer = Schema.NullOr(
  Schema.Struct({
    transactionHash: Word,
    blockNumber: Quantity,
    blockHash: Word,
    status: HexText,
    logs: Schema.Array(LogAnswer),
  }),
)
const TokenLogs = Schema.Array(
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

const readBlock = reader("eth_getBlockByNumber", BlockAnswer)
const readHeader = reader("eth_getBlockByNumber", Schema.Struct({ ...BlockAnswer.fields, parentHash: Word }))
const readBlockIfAny = reader("eth_getBlockByNumber", Schema.NullOr(BlockAnswer))
const readTokenLogs = reader("eth_getLogs", TokenLogs)
const readReceiptLogs = reader("eth_getTransactionReceipt", Schema.NullOr(Schema.Struct({ logs: TokenLogs })))
const readReceipt = reader("eth_getTransactionReceipt", ReceiptAnswer)
const readWord = reader("eth_call", Word)
const readCount = reader("eth_getTransactionCount", Quantity)
const readOutput = reader("eth_call", HexText)

/** A dry run of the transfer on the newest block. `block` is the final one, where a search for its logs begins. */
export type Simulation =
  | { readonly _tag: "Accepted"; readonly block: bigint }
  | { readonly _tag: "Reverted"; readonly reason: string }

/** A transaction by its sender and nonce. */
interface Sent {
  readonly sender: Address
  readonly nonce: number
}

export interface ChainConfig {
  readonly rpcUrl: Redacted.Redacted<string>
  /** The block tag that counts as final. */
  readonly finalTag: "finalized" | "safe" | "latest"
  /** The sender of the transfers, if known. A wallet's contract may depend on it. */
  readonly sender?: Address | undefined
  /** The timeout of one request, to the last byte of its answer. */
  readonly timeout: Duration.Duration
}

export class Chain extends Context.Service<Chain>()("spirit-altar/payments/chain/Chain", {
  make: Effect.fnUntraced(function* (config: ChainConfig) {
    const { rpcUrl: url, timeout } = config
    const node = yield* JsonRpc.make({ url, timeout })
    const { ask, askPair, once } = node
    // The sender of a transaction chooses the length of its receipt. A separate client keeps long ones from delaying
    // other queries.
    const receipts = yield* JsonRpc.make({ url, timeout, limit: receiptLimit })

    const blockAt = (block: "latest" | "finalized" | "safe" | Hex): JsonRpc.RpcCall => [
      "eth_getBlockByNumber",
      [block, false],
    ]

    /** The newest final block. */
    const final = Effect.flatMap(ask(...blockAt(config.finalTag)), blockIn)

    const blocksAt = Effect.fnUntraced(function* (one: JsonRpc.RpcCall, other: JsonRpc.RpcCall) {
      const [first, second] = yield* askPair(one, other)
      return [yield* blockOf(first), yield* blockOf(second)] as const
    })

    const settling = (authorization: SignedAuthorization) => {
      const transfer = settlementCall(authorization)
      return config.sender === undefined ? transfer : { ...transfer, from: config.sender }
    }

    const simulate = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
      const transfer = settling(authorization)
      // The final block stays. A later block may be reorganised, with the transfer moved below today's head.
      const [head, run] = yield* askPair(blockAt(config.finalTag), ["eth_call", [transfer, "latest"]])
      const { number: block } = yield* blockOf(head)
      const revert = yield* revertIn(Effect.fromResult(run))
      return Option.match(revert, {
        onNone: (): Simulation => ({ _tag: "Accepted", block }),
        onSome: (text): Simulation => ({ _tag: "Reverted", reason: reasonOf(text) }),
      })
    })

    const receiptIn = (transaction: Hex, asset: Address) =>
      Effect.map(receipts.ask("eth_getTransactionReceipt", [transaction]), ownLogs(asset))

    const receiptOf = Effect.fnUntraced(function* (transaction: Hex, asset: Address) {
      const answer = yield* Effect.flatMap(receiptIn(transaction, asset), readReceipt)
      // An answer about another transaction is no answer.
      if (answer?.transactionHash.toLowerCase() !== transaction.toLowerCase()) return Option.none<Receipt>()
      return Option.some<Receipt>({
        block: { number: hexToBigInt(answer.blockNumber), hash: answer.blockHash },
        succeeded: answer.status === "0x1",
        logs: answer.logs,
      })
    })

    const stateIn = Effect.fnUntraced(function* (
      authorization: SignedAuthorization,
      block: Hex | { readonly blockHash: Hex },
    ) {
      const { asset, from, nonce } = authorization
      const [state, run] = yield* askPair(
        ["eth_call", [{ to: asset, data: authorizationStateData(from, nonce) }, block]],
        ["eth_call", [settling(authorization), block]],
      )
      const used = BigInt(yield* Effect.flatMap(Effect.fromResult(state), readWord)) === 1n
      const revert = yield* revertIn(Effect.flatMap(Effect.fromResult(run), readOutput))
      return { used, revert: Option.map(revert, reasonOf) }
    })

    /** Queries by hash, which a node on another branch cannot answer; by number if the node does not support hashes. */
    const stateAt = (authorization: SignedAuthorization, { hash, number }: BlockId) =>
      stateIn(authorization, { blockHash: hash }).pipe(
        Effect.catchIf(isNotUnderstood, () => stateIn(authorization, numberToHex(number))),
      )

    const isSpentUnusedIn = Effect.fnUntraced(function* (
      { nonce, sender }: Sent,
      { asset, from, nonce: signed }: SignedAuthorization,
      block: Hex | { readonly blockHash: Hex },
    ) {
      const [count, state] = yield* askPair(
        ["eth_getTransactionCount", [sender, block]],
        ["eth_call", [{ to: asset, data: authorizationStateData(from, signed) }, block]],
      )
      const spent = Number(yield* Effect.flatMap(Effect.fromResult(count), readCount))
      const used = BigInt(yield* Effect.flatMap(Effect.fromResult(state), readWord))
      return spent > nonce && used === 0n
    })

    /** Whether one final block has a transaction of this nonce, and the authorization is unused in the same block. */
    const isSpentUnused = Effect.fnUntraced(function* (sent: Sent, authorization: SignedAuthorization) {
      const { hash, number } = yield* final
      return yield* isSpentUnusedIn(sent, authorization, { blockHash: hash }).pipe(
        Effect.catchIf(isNotUnderstood, () => isSpentUnusedIn(sent, authorization, numberToHex(number))),
      )
    })

    /** The token's logs with these topics. Third parties choose the length of the answer. */
    const logsIn = (asset: Address, topics: ReadonlyArray<unknown>, { from, to }: BlockRange) =>
      receipts
        .ask("eth_getLogs", [{ address: asset, fromBlock: numberToHex(from), toBlock: numberToHex(to), topics }])
        .pipe(Effect.flatMap(readTokenLogs), Effect.map(tokenLogsOf(asset)))

    const search = LogSearch.make<ChainUnavailable>(isTooManyBlocks)

    const questions: EvidenceNode<ChainUnavailable> = {
      heads: Effect.map(blocksAt(blockAt("latest"), blockAt(config.finalTag)), ([newest, final]) => ({
        newest,
        final,
      })),
      finalAnd: Effect.fnUntraced(function* (number: bigint) {
        const newest = yield* final
        const [there, again] = yield* blocksAt(blockAt(numberToHex(number)), blockAt(numberToHex(newest.number)))
        return { final: newest, there, again }
      }),
      receiptOf,
      stateAt,
      endsOf: (authorization, within, newestFirst) =>
        search((range) => logsIn(authorization.asset, endTopics(authorization), range), within, newestFirst),
      transfersOf: ({ asset, from, to }, block) =>
        logsIn(asset, [transferTopic, topicOf(from), topicOf(to)], { from: block, to: block }),
    }

    const blockIfAny = (asked: JsonRpc.RpcResult) =>
      Effect.map(Effect.flatMap(Effect.fromResult(asked), readBlockIfAny), (answer) =>
        Option.map(Option.fromNullOr(answer), blockOfAnswer),
      )

    /** The questions of a scan for transfers of this token. */
    const scanOf = (asset: Address) =>
      Effect.succeed<ScanNode<ChainUnavailable>>({
        heads: Effect.flatMap(askPair(blockAt("latest"), blockAt(config.finalTag)), ([head, last]) =>
          Effect.all({
            newest: Effect.map(Effect.flatMap(Effect.fromResult(head), readHeader), (answer) => ({
              ...blockOfAnswer(answer),
              parentHash: answer.parentHash,
            })),
            final: blockOf(last),
          }),
        ),
        blockAt: (number) => Effect.flatMap(Effect.result(ask(...blockAt(numberToHex(number)))), blockIfAny),
        blockAndNewest: (number) =>
          Effect.flatMap(askPair(blockAt(numberToHex(number)), blockAt("latest")), ([one, head]) =>
            Effect.all({ there: blockIfAny(one), newest: blockOf(head) }),
          ),
        logs: (topics, range) => logsIn(asset, topics, range),
        logsIn: (transaction) =>
          Effect.map(Effect.flatMap(receiptIn(transaction, asset), readReceiptLogs), (answer) =>
            tokenLogsOf(asset)(answer?.logs ?? []),
          ),
        isTooWide: isTooManyBlocks,
        isTooLarge,
      })

    /** Whether a block is final. */
    const isFinal = (block: BlockId) => isFinalBy(questions, block)

    return { simulate, questions: Effect.succeed(questions), isFinal, final, isSpentUnused, ask, once, scanOf }
  }),
}) {
  static readonly layer = (config: ChainConfig) => Layer.effect(this, this.make(config))
}

const blockOfAnswer = ({ hash, number, timestamp }: typeof BlockAnswer.Type): Block => ({
  number: hexToBigInt(number),
  hash,
  timestamp: hexToBigInt(timestamp),
})

const blockIn = (answer: unknown) => Effect.map(readBlock(answer), blockOfAnswer)

/** A receipt without logs of other contracts, whose number its sender chooses: they are not decoded. */
const ownLogs =
  (asset: Address) =>
  (answer: unknown): unknown => {
    if (!Predicate.hasProperty(answer, "logs") || !Array.isArray(answer.logs)) return answer
    const all: ReadonlyArray<unknown> = answer.logs
    const isOwn = (log: unknown) =>
      Predicate.hasProperty(log, "address") && String(log.address).toLowerCase() === asset.toLowerCase()
    return { ...answer, logs: all.filter(isOwn) }
  }

const tokenLogsOf =
  (asset: Address) =>
  (logs: typeof TokenLogs.Type): ReadonlyArray<TokenLog> =>
    logs
      .filter((log) => log.removed !== true && inLowerCase(log.address) === inLowerCase(asset))
      .map(({ blockHash, blockNumber, data, logIndex, topics, transactionHash }) => ({
        topics,
        data,
        transaction: inLowerCase(transactionHash),
        block: hexToBigInt(blockNumber),
        blockHash,
        index: Number(logIndex),
      }))

const blockOf = (asked: JsonRpc.RpcResult) => Effect.flatMap(Effect.fromResult(asked), blockIn)

/**
 * Whether a refusal speaks of the number of blocks or results, in the words of common providers. A rate limit and a
 * block that the node lacks do not become better by a narrower question.
 */
export const isTooManyBlocks = (error: ChainUnavailable): boolean =>
  isTooLarge(error) || (/\b(?:blocks?|range|logs)\b/iu.test(error.detail ?? "") && !isOtherwise(error))

/** Whether a refusal speaks of the size of the answer. Even a single block can have too large a one. */
export const isTooLarge = (error: ChainUnavailable): boolean =>
  error.reason === "AnswerTooLarge" ||
  error.status === 413 ||
  (/\b(?:results?|response size)\b/iu.test(error.detail ?? "") && !isOtherwise(error))

const isOtherwise = ({ detail = "" }: ChainUnavailable) =>
  /\brate\b|too many requests|per (?:second|minute|day)|request limit|credits?|quota|compute|not found|unknown|missing|beyond|unavailable|cannot be found|not available|pruned|failed to/iu.test(
    detail,
  )

/** The reason a dry run reverted, if it did. Fails without an answer. */
const revertIn = <A>(run: Effect.Effect<A, ChainUnavailable>) =>
  run.pipe(
    Effect.as(Option.none<string>()),
    Effect.catchIf(isRevert, (error) => Effect.succeedSome(error.detail ?? "")),
  )
