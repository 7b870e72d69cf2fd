/** Typed queries to the node: their schemas, duration metrics and errors. */
import { Context, Effect, Exit, Metric, Option, Schema } from "effect"
import { type Hex, hexToBigInt } from "viem"
import type { Address } from "../../../schema/Common.ts"
import { seriesOf } from "../../platform/Series.ts"
import * as Trace from "../../platform/Trace.ts"
import { HexText, Quantity, Word } from "../Hex.ts"
import { balanceData } from "./Eip3009.ts"

/**
 * The chain did not answer, which proves nothing about any payment. The error is logged, so it omits the node's
 * address, which may hold a provider's key, and the query's parameters.
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

/** Counts the queries of one caller: a refusal without a query is not held against the caller. */
export const NodeQueries = Context.Reference("spirit-altar/payments/chain/Rpc/NodeQueries", {
  defaultValue: () => ({ count: 0 }),
})

/** Queries the node. Fails if it rejects the query or does not answer. */
export type Ask = (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, ChainUnavailable>

/** An answer that does not fit the query. */
export const malformedAnswer = (method: string) =>
  new ChainUnavailable({ method, reason: "gave an answer that makes no sense" })

/** Whether the node executed the call and it reverted. Any other error is no answer. */
export const isRevert = ({ code, detail = "" }: ChainUnavailable): boolean => code === 3 || /revert/iu.test(detail)

/** Decodes an answer. One of another shape fails. */
export const reader = <S extends Schema.Decoder<unknown>>(method: string, schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (answer: unknown): Effect.Effect<S["Type"], ChainUnavailable> =>
    Effect.mapError(decode(answer), () => malformedAnswer(method))
}

/** A query whose answer is decoded by a schema. */
export const question = <S extends Schema.Decoder<unknown>>(method: string, schema: S) => {
  const read = reader(method, schema)
  return (ask: Ask, ...params: ReadonlyArray<unknown>) => Effect.flatMap(ask(method, params), read)
}

export const call = question("eth_call", HexText)
const callForWord = question("eth_call", Word)
export const getCode = question("eth_getCode", HexText)
export const getBalance = question("eth_getBalance", Quantity)
export const getTransactionCount = question(
  "eth_getTransactionCount",
  Quantity.check(Schema.makeFilter((count) => Number.isSafeInteger(Number(count)))),
)

/** Balance of `owner` in atomic units of `asset` at a block. */
export const balanceOf = (ask: Ask, asset: Address, owner: Address, block: Hex | "latest") =>
  Effect.map(callForWord(ask, { to: asset, data: balanceData(owner) }, block), hexToBigInt)

const getHead = question("eth_getBlockByNumber", Schema.Struct({ number: Quantity, hash: Word }))

/** Whether the node does not support queries by a block's hash. */
export const isNotUnderstood = ({ code }: ChainUnavailable): boolean => code === -32_602

/** Several reads of a token at the newest block, by its hash: a node on another branch cannot answer them. */
export const readAll = Effect.fnUntraced(function* (ask: Ask, asset: Address, reads: ReadonlyArray<Hex>) {
  const { hash, number } = yield* getHead(ask, "latest", false)
  const at = (block: Hex | { readonly blockHash: Hex }) =>
    Effect.forEach(reads, (data) => Effect.map(callForWord(ask, { to: asset, data }, block), hexToBigInt), {
      concurrency: "unbounded",
    })
  return yield* Effect.catchIf(at({ blockHash: hash }), isNotUnderstood, () => at(number))
})

const durations = seriesOf(
  Metric.histogram("altar.rpc.duration", {
    description: "Duration of JSON-RPC calls to the node, by method and outcome: answered, refused or failed.",
    attributes: { unit: "s" },
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
)

const nowhere = Context.empty()

const outcomeOf = (exit: Exit.Exit<unknown, ChainUnavailable>) => {
  if (Exit.isSuccess(exit)) return "answered"
  return Option.exists(Exit.findErrorOption(exit), ({ code }) => code !== undefined) ? "refused" : "failed"
}

/** Measures the duration of a query by its outcome. */
export const timed =
  (method: string) =>
  <A>(asked: Effect.Effect<A, ChainUnavailable>): Effect.Effect<A, ChainUnavailable> =>
    Effect.flatMap(Trace.current, (parent) => {
      const began = performance.now()
      const noted = Effect.onExit(asked, (exit) =>
        Effect.sync(() =>
          durations({ "rpc.method": method, outcome: outcomeOf(exit) }).updateUnsafe(
            (performance.now() - began) / 1000,
            nowhere,
          ),
        ),
      )
      return parent === undefined ? noted : Effect.withSpan(noted, method, { kind: "client" })
    })
