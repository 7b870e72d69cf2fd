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
  type Log,
  type SignedAuthorization,
  type TokenLog,
  topicOf,
  transferTopic,
} from "./Eip3009.ts"
import * as JsonRpc from "./JsonRpc.ts"
import * as LogSearch from "./LogSearch.ts"
import { type Block, type BlockId, type BlockRange, type EvidenceNode, isFinalBy, type ScanNode } from "./Questions.ts"
import { type ChainUnavailable, isNotUnderstood, isRevert, reader } from "./Rpc.ts"

const BlockAnswer = Schema.Struct({ number: Quantity, hash: Word, timestamp: Quantity })
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
const ReceiptAnswer = Schema.NullOr(
  Schema.Struct({
    transactionHash: Word,
    blockNumber: Quantity,
    blockHash: Word,
    status: HexText,
    logs: LogAnswers,
  }),
)

const readBlock = reader("eth_getBlockByNumber", BlockAnswer)
const readHeader = reader("eth_getBlockByNumber", Schema.Struct({ ...BlockAnswer.fields, parentHash: Word }))
const readBlockIfAny = reader("eth_getBlockByNumber", Schema.NullOr(BlockAnswer))
const readLogs = reader("eth_getLogs", LogAnswers)
const readReceipt = reader("eth_getTransactionReceipt", ReceiptAnswer)
const readWord = reader("eth_call", Word)
const readCount = reader("eth_getTransactionCount", Quantity)
const readOutput = reader("eth_call", HexText)

/** A dry run of the transfer on the newest block. `block` is the final one, where a search for its logs begins. */
export type Simulation =
  | { readonly _tag: "Accepted"; readonly block: bigint }
  | { readonly _tag: "Reverted"; readonly reason: string }

/** A block of a state: its hash, or its number. */
type BlockParameter = Hex | { readonly blockHash: Hex }

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
    const { ask, askTogether, once } = node
    // The sender of a transaction chooses the length of its receipt. A separate client keeps long ones from delaying
    // other queries.
    const receipts = yield* JsonRpc.make({ url, timeout, limit: receiptLimit })

    const blockAt = (block: "latest" | "finalized" | "safe" | bigint): JsonRpc.RpcCall => [
      "eth_getBlockByNumber",
      [typeof block === "bigint" ? numberToHex(block) : block, false],
    ]

    /** The newest final block. */
    const final = Effect.map(Effect.flatMap(ask(...blockAt(config.finalTag)), readBlock), blockOf)

    /** The newest block and the newest final one, of one node. */
    const heads = Effect.gen(function* () {
      const answers = yield* askTogether({ newest: blockAt("latest"), final: blockAt(config.finalTag) })
      const newest = yield* Effect.flatMap(Effect.fromResult(answers.newest), readHeader)
      return {
        newest: { ...blockOf(newest), parentHash: newest.parentHash },
        final: blockOf(yield* Effect.flatMap(Effect.fromResult(answers.final), readBlock)),
      }
    })

    const settling = (authorization: SignedAuthorization) => {
      const transfer = settlementCall(authorization)
      return config.sender === undefined ? transfer : { ...transfer, from: config.sender }
    }

    const simulate = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
      const answers = yield* askTogether({
        // The final block stays. A later block may be reorganised, with the transfer moved below today's head.
        final: blockAt(config.finalTag),
        run: ["eth_call", [settling(authorization), "latest"]],
      })
      const { number } = yield* Effect.flatMap(Effect.fromResult(answers.final), readBlock)
      const revert = yield* revertIn(Effect.fromResult(answers.run))
      return Option.match(revert, {
        onNone: (): Simulation => ({ _tag: "Accepted", block: hexToBigInt(number) }),
        onSome: (text): Simulation => ({ _tag: "Reverted", reason: reasonOf(text) }),
      })
    })

    const receiptOf = Effect.fnUntraced(function* (transaction: Hex, asset: Address) {
      const asked = receipts.ask("eth_getTransactionReceipt", [transaction])
      const answer = yield* Effect.flatMap(Effect.map(asked, ownLogs(asset)), readReceipt)
      // An answer about another transaction is no answer.
      if (answer === null || inLowerCase(answer.transactionHash) !== inLowerCase(transaction)) return Option.none()
      return Option.some({
        block: { number: hexToBigInt(answer.blockNumber), hash: answer.blockHash },
        succeeded: answer.status === "0x1",
        logs: tokenLogsOf(answer.logs, asset),
      })
    })

    /** Asks about a block by its hash, which a node on another branch cannot answer; by number if it must be. */
    const atBlock = <A>(
      { hash, number }: BlockId,
      ask: (block: BlockParameter) => Effect.Effect<A, ChainUnavailable>,
    ) => Effect.catchIf(ask({ blockHash: hash }), isNotUnderstood, () => ask(numberToHex(number)))

    const stateCall = ({ asset, from, nonce }: SignedAuthorization, block: BlockParameter): JsonRpc.RpcCall => [
      "eth_call",
      [{ to: asset, data: authorizationStateData(from, nonce) }, block],
    ]

    const isUsedIn = (state: JsonRpc.RpcResult) =>
      Effect.map(Effect.flatMap(Effect.fromResult(state), readWord), (word) => BigInt(word) === 1n)

    const stateIn = Effect.fnUntraced(function* (authorization: SignedAuthorization, block: BlockParameter) {
      const { run, state } = yield* askTogether({
        state: stateCall(authorization, block),
        run: ["eth_call", [settling(authorization), block]],
      })
      const used = yield* isUsedIn(state)
      const revert = yield* revertIn(Effect.flatMap(Effect.fromResult(run), readOutput))
      return { used, revert: Option.map(revert, reasonOf) }
    })

    /** Whether one final block has a transaction of this nonce, and the authorization is unused in the same block. */
    const isSpentUnused = Effect.fnUntraced(function* (
      sent: { readonly sender: Address; readonly nonce: number },
      authorization: SignedAuthorization,
    ) {
      const { count, state } = yield* atBlock(yield* final, (block) =>
        Effect.flatMap(
          askTogether({
            count: ["eth_getTransactionCount", [sent.sender, block]],
            state: stateCall(authorization, block),
          }),
          ({ count, state }) =>
            Effect.all({ count: Effect.flatMap(Effect.fromResult(count), readCount), state: isUsedIn(state) }),
        ),
      )
      return Number(count) > sent.nonce && !state
    })

    const logsCall = (asset: Address, topics: ReadonlyArray<unknown>, { from, to }: BlockRange): JsonRpc.RpcCall => [
      "eth_getLogs",
      [{ address: asset, fromBlock: numberToHex(from), toBlock: numberToHex(to), topics }],
    ]

    /** The token's logs with these topics. Third parties choose the length of the answer. */
    const logsIn = (asset: Address, topics: ReadonlyArray<unknown>, range: BlockRange) =>
      Effect.map(Effect.flatMap(receipts.ask(...logsCall(asset, topics, range)), readLogs), (logs) =>
        tokenLogsOf(logs, asset),
      )

    const search = LogSearch.make<ChainUnavailable>(isTooManyBlocks)

    const questions: EvidenceNode<ChainUnavailable> = {
      heads,
      finalAnd: Effect.fnUntraced(function* (number: bigint) {
        const newest = yield* final
        const { again, there } = yield* askTogether({ there: blockAt(number), again: blockAt(newest.number) })
        return {
          final: newest,
          there: blockOf(yield* Effect.flatMap(Effect.fromResult(there), readBlock)),
          again: blockOf(yield* Effect.flatMap(Effect.fromResult(again), readBlock)),
        }
      }),
      receiptOf,
      stateAt: (authorization, block) => atBlock(block, (at) => stateIn(authorization, at)),
      endsOf: (authorization, within, newestFirst) =>
        search((range) => logsIn(authorization.asset, endTopics(authorization), range), within, newestFirst),
      transfersOf: ({ asset, from, to }, block) =>
        logsIn(asset, [transferTopic, topicOf(from), topicOf(to)], { from: block, to: block }),
    }

    /** The questions of a scan for transfers of this token. */
    const scanOf = (asset: Address) =>
      Effect.succeed<ScanNode<ChainUnavailable>>({
        heads,
        blockAt: (number) => Effect.flatMap(Effect.result(ask(...blockAt(number))), blockIfAny),
        logs: Effect.fnUntraced(function* (topics, range) {
          const { before, end, logs, newest } = yield* receipts.askTogether({
            logs: logsCall(asset, topics, range),
            before: blockAt(range.from - 1n),
            end: blockAt(range.to),
            newest: blockAt("latest"),
          })
          return {
            logs: tokenLogsOf(yield* Effect.flatMap(Effect.fromResult(logs), readLogs), asset),
            before: yield* blockIfAny(before),
            end: yield* blockIfAny(end),
            newest: blockOf(yield* Effect.flatMap(Effect.fromResult(newest), readBlock)),
          }
        }),
        logsIn: (transaction) =>
          Effect.map(
            receiptOf(transaction, asset),
            Option.map(({ logs }) => logs),
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

const blockOf = ({ hash, number, timestamp }: typeof BlockAnswer.Type): Block => ({
  number: hexToBigInt(number),
  hash,
  timestamp: hexToBigInt(timestamp),
})

const blockIfAny = (asked: JsonRpc.RpcResult) =>
  Effect.map(Effect.flatMap(Effect.fromResult(asked), readBlockIfAny), (answer) =>
    Option.map(Option.fromNullOr(answer), blockOf),
  )

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

const tokenLogsOf = (logs: typeof LogAnswers.Type, asset: Address): ReadonlyArray<TokenLog & Log> =>
  logs
    .filter((log) => log.removed !== true && inLowerCase(log.address) === inLowerCase(asset))
    .map(({ address, blockHash, blockNumber, data, logIndex, topics, transactionHash }) => ({
      address,
      topics,
      data,
      transaction: inLowerCase(transactionHash),
      block: hexToBigInt(blockNumber),
      blockHash,
      index: Number(logIndex),
    }))

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
