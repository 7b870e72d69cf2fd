/** What the chain knows about an authorization: the only evidence that ends an attempt. */
import { Context, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import {
  BaseError,
  createPublicClient,
  type Hex,
  hexToBigInt,
  http,
  HttpRequestError,
  numberToHex,
  type PublicClient,
  RpcRequestError,
} from "viem"
import type { Address } from "../../../schema/Common.ts"
import { answerLimit } from "../../platform/Answers.ts"
import { AddressText, HexText, Quantity, Word } from "../Hex.ts"
import { authorizationStateData, endTopics, reasonOf, settlementCall, type SignedAuthorization } from "./Eip3009.ts"
import * as Evidence from "./Evidence.ts"
import type { Block, BlockId, FoundLog, Receipt } from "./Evidence.ts"
import * as LogSearch from "./LogSearch.ts"

/**
 * The chain could not be asked; says nothing about any payment. It is logged, so it holds neither the node's address, in
 * which providers put their key, nor what was asked.
 */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  method: Schema.String,
  /** What kind of failure it was, in a few words. */
  reason: Schema.String,
  /** HTTP status of a refusal. */
  status: Schema.optionalKey(Schema.Finite),
  /** The node's own JSON-RPC error: its code, and its text with the data of a revert. */
  code: Schema.optionalKey(Schema.Finite),
  detail: Schema.optionalKey(Schema.String),
}) {
  override get message() {
    return [this.method, this.reason, this.status, this.code].filter((part) => part !== undefined).join(" ")
  }
}

/** What is kept of whatever a question to the node failed with. */
export const unavailable = (method: string, cause: unknown): ChainUnavailable => {
  if (!(cause instanceof BaseError))
    return new ChainUnavailable({ method, reason: "gave an answer that makes no sense" })
  const reason = `${cause.name}: ${cause.shortMessage}`
  const answered = cause.walk((inner) => inner instanceof RpcRequestError)
  if (answered instanceof RpcRequestError) {
    const detail = `${answered.details} ${String(answered.data ?? "")}`
    return new ChainUnavailable({ method, reason, code: answered.code, detail })
  }
  const refused = cause.walk((inner) => inner instanceof HttpRequestError)
  return refused instanceof HttpRequestError && refused.status !== undefined
    ? new ChainUnavailable({ method, reason, status: refused.status })
    : new ChainUnavailable({ method, reason })
}

const BlockAnswer = Schema.Struct({ number: Quantity, hash: Word, timestamp: Quantity })
const LogAnswer = Schema.Struct({ address: AddressText, topics: Schema.Array(Word), data: HexText })
const ReceiptAnswer = Schema.NullOr(
  Schema.Struct({
    transactionHash: Word,
    blockNumber: Quantity,
    blockHash: Word,
    status: HexText,
    logs: Schema.Array(LogAnswer),
  }),
)
const LogsAnswer = Schema.Array(
  Schema.Struct({ transactionHash: Word, blockHash: Word, removed: Schema.optionalKey(Schema.Boolean) }),
)

/** An answer that does not have the form of one is none. */
const read =
  <S extends Schema.Decoder<unknown>>(method: string, schema: S) =>
  (answer: unknown): Effect.Effect<S["Type"], ChainUnavailable> =>
    Schema.decodeUnknownEffect(schema)(answer).pipe(Effect.mapError((cause) => unavailable(method, cause)))

/** A dry run of the transfer on the newest block. `block`, the final one, is where a search for its logs may begin. */
export type Simulation =
  | { readonly _tag: "Accepted"; readonly block: bigint }
  | { readonly _tag: "Reverted"; readonly reason: string }

export interface ChainConfig {
  readonly rpcUrl: Redacted.Redacted<string>
  /** The block tag from which nothing is taken back. */
  readonly finalTag: "finalized" | "safe" | "latest"
  /** Who will send the transfers, where that is known: a wallet's contract may answer others otherwise. */
  readonly sender?: Address | undefined
  /** Limit of one call. */
  readonly timeout: Duration.Duration
}

export class Chain extends Context.Service<
  Chain,
  {
    /** Would this authorization be settled now? */
    simulate(authorization: SignedAuthorization): Effect.Effect<Simulation, ChainUnavailable>
    /** Everything that is proven about an authorization at this moment. */
    evidence(search: Evidence.Search): Effect.Effect<Evidence.Evidence, ChainUnavailable>
    /** The same of one that nothing is known of here but that the chain calls it used: whom it paid, and in what. */
    usedBy(authorization: SignedAuthorization): Effect.Effect<Evidence.Evidence, ChainUnavailable>
    /** Whether a block is on the chain and beyond being taken back. */
    isFinal(block: BlockId): Effect.Effect<boolean, ChainUnavailable>
    /** The newest block from which nothing is taken back. */
    readonly final: Effect.Effect<Block, ChainUnavailable>
    /** The bare JSON-RPC client, for the relayer. */
    readonly client: PublicClient
  }
>()("spirit-altar/payments/x402/Chain") {
  static readonly layer = (config: ChainConfig) =>
    Layer.sync(Chain, () => {
      const options = {
        retryCount: 1,
        timeout: Duration.toMillis(config.timeout),
        fetchOptions: { redirect: "error" },
      } as const
      const rpcUrl = Redacted.value(config.rpcUrl)
      const client = createPublicClient({
        transport: http(rpcUrl, { ...options, batch: { wait: 0 }, maxResponseBodySize: answerLimit }),
      })
      // Whoever ends an authorization chooses how long its receipt is: it is read whole, and nothing else suffers from it.
      const receipts = createPublicClient({
        transport: http(rpcUrl, { ...options, maxResponseBodySize: receiptLimit }),
      })

      // What is read from an answer is read inside: an answer that makes no sense is no answer.
      const call = <A>(method: string, run: () => Promise<A>) =>
        Effect.tryPromise({ try: run, catch: (cause) => unavailable(method, cause) })

      const blockAt = (block: "latest" | "finalized" | "safe" | Hex) =>
        call("eth_getBlockByNumber", () =>
          client.request({ method: "eth_getBlockByNumber", params: [block, false] }),
        ).pipe(
          Effect.flatMap(read("eth_getBlockByNumber", BlockAnswer)),
          Effect.map(({ hash, number, timestamp }): Block => ({
            number: hexToBigInt(number),
            hash,
            timestamp: hexToBigInt(timestamp),
          })),
        )

      const final = blockAt(config.finalTag)

      const settling = (authorization: SignedAuthorization) => {
        const call = settlementCall(authorization)
        return config.sender === undefined ? call : { ...call, from: config.sender }
      }

      const simulate = Effect.fn("Chain.simulate")(function* (authorization: SignedAuthorization) {
        const transfer = settling(authorization)
        // What is final stays; any later block may be replaced, and the transfer be put below the head that is seen now.
        const [{ number: block }, revert] = yield* Effect.all(
          [
            final,
            call("eth_call", () => client.request({ method: "eth_call", params: [transfer, "latest"] })).pipe(
              Effect.as(Option.none<string>()),
              Effect.catchIf(isRevert, (error) => Effect.succeedSome(revertText(error))),
            ),
          ],
          together,
        )
        return Option.match(revert, {
          onNone: (): Simulation => ({ _tag: "Accepted", block }),
          onSome: (text): Simulation => ({ _tag: "Reverted", reason: reasonOf(text) }),
        })
      })

      const receiptOf = (transaction: Hex) =>
        call("eth_getTransactionReceipt", () =>
          receipts.request({ method: "eth_getTransactionReceipt", params: [transaction] }),
        ).pipe(
          Effect.flatMap(read("eth_getTransactionReceipt", ReceiptAnswer)),
          // A node that speaks of another transaction has not answered.
          Effect.map((answer) =>
            answer?.transactionHash.toLowerCase() === transaction.toLowerCase()
              ? Option.some<Receipt>({
                  block: { number: hexToBigInt(answer.blockNumber), hash: answer.blockHash },
                  succeeded: answer.status === "0x1",
                  logs: answer.logs,
                })
              : Option.none<Receipt>(),
          ),
        )

      /** By hash, so that a node on another branch cannot answer; by number where hashes are not understood. */
      const callAt = (
        asked: { readonly from?: Hex; readonly to: Hex; readonly data: Hex },
        { hash, number }: BlockId,
      ) => {
        const at = (block: Hex | { readonly blockHash: Hex }) =>
          call("eth_call", () => client.request({ method: "eth_call", params: [asked, block] }))
        return at({ blockHash: hash }).pipe(Effect.catchIf(isNotUnderstood, () => at(numberToHex(number))))
      }

      const isUsed = ({ asset, from, nonce }: SignedAuthorization, block: BlockId) =>
        callAt({ to: asset, data: authorizationStateData(from, nonce) }, block).pipe(
          Effect.flatMap(read("eth_call", Word)),
          Effect.map((word) => BigInt(word) === 1n),
        )

      const revertAt = (authorization: SignedAuthorization, block: BlockId) =>
        callAt(settling(authorization), block).pipe(
          Effect.flatMap(read("eth_call", HexText)),
          Effect.as(Option.none<string>()),
          Effect.catchIf(isRevert, (error) => Effect.succeedSome(reasonOf(revertText(error)))),
        )

      const search = LogSearch.make<ChainUnavailable>(isTooWide)

      const logsOf = (authorization: SignedAuthorization, within: LogSearch.BlockRange, newestFirst: boolean) => {
        const { asset } = authorization
        const topics = endTopics(authorization)
        const ask = (range: LogSearch.BlockRange) =>
          call("eth_getLogs", () =>
            client.request({
              method: "eth_getLogs",
              params: [{ address: asset, fromBlock: numberToHex(range.from), toBlock: numberToHex(range.to), topics }],
            }),
          ).pipe(Effect.flatMap(read("eth_getLogs", LogsAnswer)))
        return search(ask, within, newestFirst).pipe(
          Effect.map((logs) =>
            logs.flatMap(({ blockHash, removed, transactionHash }): ReadonlyArray<FoundLog> =>
              removed === true ? [] : [{ transaction: transactionHash, blockHash }],
            ),
          ),
        )
      }

      const { evidence, isFinal, usedBy } = Evidence.make<ChainUnavailable>({
        heads: Effect.all({ newest: blockAt("latest"), final }, together),
        finalAnd: (number) => Effect.all({ final, there: blockAt(numberToHex(number)) }, together),
        receiptOf,
        stateAt: (authorization, block) =>
          Effect.all({ used: isUsed(authorization, block), revert: revertAt(authorization, block) }, together),
        logsOf,
      })

      return Chain.of({ simulate, evidence, usedBy, isFinal, final, client })
    })
}

/** Bytes of a receipt at most: a log costs 375 gas and a transaction may take 2^24, which makes 17 MB of empty logs. */
const receiptLimit = 33_554_432

/** What is asked together goes to the node in one batch. */
const together = { concurrency: "unbounded" } as const

/** JSON-RPC's "invalid params". */
const isNotUnderstood = ({ code }: ChainUnavailable): boolean => code === -32_602

/** A provider that has answered and does not like the question; one that counts requests (429) is left alone. */
const isTooWide = ({ code, status = 0 }: ChainUnavailable): boolean =>
  code !== undefined || [400, 413, 422].includes(status)

/** A node that answered with an execution error has been asked and has refused; anything else is no answer. */
const isRevert = ({ code, detail = "" }: ChainUnavailable): boolean => code === 3 || /revert/iu.test(detail)

const revertText = ({ detail = "" }: ChainUnavailable): string => detail
