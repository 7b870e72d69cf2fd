/** Questions to the node: what their answers are read as, how long they take, and how they fail. */
import { Context, Effect, Exit, Metric, Option, Schema } from "effect"
import { type Hex, hexToBigInt } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { seriesOf } from "../../../platform/Series.ts"
import * as Trace from "../../../platform/Trace.ts"
import { HexText, Quantity, Word } from "../../Hex.ts"
import { balanceData, readTogether, togetherCall } from "../verification/Eip3009.ts"

/**
 * The chain could not be asked; says nothing about any payment. It is logged, so it holds neither the node's address, in
 * which providers put their key, nor what was asked.
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

/** Asks the node; fails when it refuses the question or does not answer it. */
export type Ask = (method: string, params: ReadonlyArray<unknown>) => Effect.Effect<unknown, ChainUnavailable>

/** The node answered, but not this question. */
export const senseless = (method: string) =>
  new ChainUnavailable({ method, reason: "gave an answer that makes no sense" })

/** A node that answered with an execution error has been asked and has refused; anything else is no answer. */
export const isRevert = ({ code, detail = "" }: ChainUnavailable): boolean => code === 3 || /revert/iu.test(detail)

/** Who asked the same together has the same answer, and a receipt is as long as its group: it is read once for all of them. */
export const reader = <S extends Schema.Decoder<unknown>>(method: string, schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  const known = new WeakMap<object, S["Type"]>()
  return (answer: unknown): Effect.Effect<S["Type"], ChainUnavailable> => {
    const shared = typeof answer === "object" && answer !== null ? answer : undefined
    const before = shared && known.get(shared)
    if (before !== undefined) return Effect.succeed(before)
    return Effect.mapBoth(decode(answer), {
      onFailure: () => senseless(method),
      onSuccess: (read) => {
        if (shared !== undefined) known.set(shared, read)
        return read
      },
    })
  }
}

/** A question whose answer is read by a schema; an answer that does not have its form is none. */
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

/** Atomic units of `asset` that `owner` holds at a block. */
export const balanceOf = (ask: Ask, asset: Address, owner: Address, block: Hex | "latest") =>
  Effect.map(callForWord(ask, { to: asset, data: balanceData(owner) }, block), hexToBigInt)

/** What several reads of a token return in one answer, so of one node at one moment. */
export const readAll = (ask: Ask, asset: Address, reads: ReadonlyArray<Hex>) =>
  call(ask, togetherCall(asset, reads), "latest").pipe(
    Effect.flatMap((answer) => Effect.try({ try: () => readTogether(answer), catch: () => senseless("eth_call") })),
    Effect.filterOrFail(
      (words) => words.length === reads.length,
      () => senseless("eth_call"),
    ),
  )

const durations = seriesOf(
  Metric.histogram("altar.rpc.duration", {
    description: "Duration of JSON-RPC questions to the node, by method and outcome: answered, refused or failed.",
    attributes: { unit: "s" },
    boundaries: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
)

const nowhere = Context.empty()

const outcomeOf = (exit: Exit.Exit<unknown, ChainUnavailable>) => {
  if (Exit.isSuccess(exit)) return "answered"
  return Option.exists(Exit.findErrorOption(exit), ({ code }) => code !== undefined) ? "refused" : "failed"
}

/** Measures how long a question takes, by how it ends. */
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
