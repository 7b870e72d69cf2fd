/** A question to the node: calls that it answers together, the reader of their answers, and `ChainUnavailable`. */
import * as Trace from "../../../platform/Trace.ts"
import { Context, Effect, Exit, Metric, Option, Result, Schema } from "effect"
import { type Hex, numberToHex } from "viem"
import { seriesOf } from "../../../platform/Series.ts"
import type { Log, SignedAuthorization, TokenLog } from "./Eip3009.ts"
import type { Address } from "../../../../schema/Common.ts"

export interface BlockId {
  readonly number: bigint
  readonly hash: Hex
}

export interface Block extends BlockId {
  readonly timestamp: bigint
}

export interface Header extends Block {
  readonly parentHash: Hex
}

export interface BlockRange {
  readonly from: bigint
  readonly to: bigint
}

/** A transaction in a block, with its token's logs. */
export interface TransactionReceipt {
  readonly block: BlockId
  readonly succeeded: boolean
  readonly logs: ReadonlyArray<Log>
}

/** Values of a topic that are asked for; null for any. */
export type Topics = ReadonlyArray<Hex | ReadonlyArray<Hex> | null>

/** The answer to a question for logs, with what the same node knows of the range: the blocks before and at its end. */
export interface RangeLogs {
  readonly logs: ReadonlyArray<TokenLog>
  readonly before: Option.Option<Block>
  readonly end: Option.Option<Block>
  readonly newest: Block
}

export interface ScanNode {
  /** The newest block and the newest final one, in one request. */
  readonly heads: Effect.Effect<{ readonly newest: Header; readonly final: Block }, ChainUnavailable>
  readonly blockAt: (number: bigint) => Effect.Effect<Option.Option<Block>, ChainUnavailable>
  /** The token's logs with these topics and the blocks around them, in one request. */
  readonly logs: (topics: Topics, range: BlockRange) => Effect.Effect<RangeLogs, ChainUnavailable>
  /** All logs of the token in one transaction; none if the node does not know it. */
  readonly logsIn: (transaction: Hex) => Effect.Effect<Option.Option<ReadonlyArray<TokenLog>>, ChainUnavailable>
}

export interface EvidenceNode<E> {
  readonly heads: Effect.Effect<{ readonly newest: Block; readonly final: Block }, E>
  /** The newest final block. Then, in one request, the block of this number and the block `again` at the final number. */
  readonly finalAnd: (
    number: bigint,
  ) => Effect.Effect<{ readonly final: Block; readonly there: Block; readonly again: Block }, E>
  readonly receiptOf: (transaction: Hex, asset: Address) => Effect.Effect<Option.Option<TransactionReceipt>, E>
  /** Whether the authorization is used at a block, and why its transfer would revert there, in one request. */
  readonly stateAt: (
    authorization: SignedAuthorization,
    block: BlockId,
  ) => Effect.Effect<{ readonly used: boolean; readonly revert: Option.Option<string> }, E>
  /** The logs that use or cancel the authorization, from a bounded number of questions. */
  readonly endsOf: (
    authorization: SignedAuthorization,
    within: BlockRange,
    newestFirst: boolean,
  ) => Effect.Effect<ReadonlyArray<TokenLog>, E>
}

/** Whether one node has this block at or below its final block. Two nodes may be on different branches. */
export const isFinalBy = Effect.fnUntraced(function* <E>(
  { finalAnd }: Pick<EvidenceNode<E>, "finalAnd">,
  { hash, number }: BlockId,
) {
  const { again, final, there } = yield* finalAnd(number)
  // A node on another branch has another block at the final number, or none.
  return number <= final.number && again.hash === final.hash && there.hash === hash
})

/**
 * The chain did not answer, which proves nothing about any payment. The error is logged, so it omits the node's
 * address, which may hold a provider's key, and the call's parameters.
 */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  method: Schema.String,
  reason: Schema.String,
  status: Schema.optionalKey(Schema.Finite),
  /** The node's own JSON-RPC error: its code, and its text with the data of a revert. */
  code: Schema.optionalKey(Schema.Finite),
  detail: Schema.optionalKey(Schema.String),
}) {
  override get message() {
    return [this.method, this.reason, this.status, this.code].filter((part) => part !== undefined).join(" ")
  }
}

/** Counts a caller's requests to the node. A refusal that cost none does not count against its limit. */
export const NodeQueries = Context.Reference("spirit-altar/payments/x402/chain/Rpc/NodeQueries", {
  defaultValue: () => ({ count: 0 }),
})

export type Call = readonly [method: string, params: ReadonlyArray<unknown>]
export type Answer = Result.Result<unknown, ChainUnavailable>

/** Calls that one node answers together, and the decoder of their answers, which are in the same order. */
export interface Question<A> {
  readonly calls: ReadonlyArray<Call>
  readonly decode: (answers: ReadonlyArray<Answer>) => Result.Result<A, ChainUnavailable>
}

/** Asks the node. Fails if it rejects a call or does not answer it. */
export type Ask = <A>(question: Question<A>) => Effect.Effect<A, ChainUnavailable>

/** An answer that does not fit the call. */
export const malformedAnswer = (method: string) => new ChainUnavailable({ method, reason: "malformed answer" })

/** A question of one call. An answer of another shape than the schema fails. */
export const question = <S extends Schema.Decoder<unknown>>(method: string, schema: S) => {
  const decodeAnswer = Schema.decodeUnknownResult(schema)
  const malformed = () => malformedAnswer(method)
  return (...params: ReadonlyArray<unknown>): Question<S["Type"]> => ({
    calls: [[method, params]],
    decode: ([answer = Result.fail(malformed())]) =>
      Result.flatMap(answer, (json) => Result.mapError(decodeAnswer(json), malformed)),
  })
}

export const both = <A, B>(first: Question<A>, second: Question<B>): Question<readonly [A, B]> => ({
  calls: [...first.calls, ...second.calls],
  decode: (answers) => {
    const [firstAnswers, secondAnswers] = [answers.slice(0, first.calls.length), answers.slice(first.calls.length)]
    return Result.all([first.decode(firstAnswers), second.decode(secondAnswers)])
  },
})

export const mapped = <A, B>({ calls, decode }: Question<A>, change: (answer: A) => B): Question<B> => ({
  calls,
  decode: (answers) => Result.map(decode(answers), change),
})

/** Whether the node executed the call and it reverted. Any other error is no answer. */
export const isRevert = ({ code, detail = "" }: ChainUnavailable): boolean => code === 3 || /revert/iu.test(detail)

export const revertOf = ({ calls, decode }: Question<unknown>): Question<Option.Option<string>> => ({
  calls,
  decode: (answers) =>
    Result.match(decode(answers), {
      onSuccess: () => Result.succeed(Option.none()),
      onFailure: (error) => (isRevert(error) ? Result.succeed(Option.some(error.detail ?? "")) : Result.fail(error)),
    }),
})

/** A block by its tag, number or hash. With a hash, a node on another branch fails instead of telling of another block. */
export type BlockParameter = string | { readonly blockHash: Hex }

/** Asks about a block by its hash; by its number if the node does not support hashes. */
export const atBlock = <A>(
  ask: Ask,
  { hash, number }: { readonly hash: Hex; readonly number: bigint },
  questionAt: (block: BlockParameter) => Question<A>,
) =>
  Effect.catchIf(
    ask(questionAt({ blockHash: hash })),
    ({ code }) => code === -32_602,
    () => ask(questionAt(numberToHex(number))),
  )

const durations = seriesOf(
  Metric.histogram("altar.rpc.duration.seconds", {
    description: "Duration of JSON-RPC calls to the node, by method and outcome: answered, refused or failed.",
    attributes: { unit: "s" },
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
)

const nowhere = Context.empty()

const outcomeOf = (answer: Answer | undefined) => {
  if (answer === undefined) return "failed"
  return Result.isSuccess(answer) ? "answered" : answer.failure.code === undefined ? "failed" : "refused"
}

/** Measures the duration of calls by their outcomes. */
export const timed = <A extends ReadonlyArray<Answer>>(calls: ReadonlyArray<Call>, request: Effect.Effect<A>) =>
  Effect.flatMap(Trace.current, (parent) => {
    const began = performance.now()
    const measured = Effect.onExit(request, (exit) =>
      Effect.sync(() => {
        const answers = Exit.isSuccess(exit) ? exit.value : []
        const seconds = (performance.now() - began) / 1000
        for (const [index, [method]] of calls.entries())
          durations({ "rpc.method": method, outcome: outcomeOf(answers[index]) }).updateUnsafe(seconds, nowhere)
      }),
    )
    const name = calls.map(([method]) => method).join(" ")
    return parent === undefined ? measured : Effect.withSpan(measured, name, { kind: "client" })
  })
