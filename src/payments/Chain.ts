/** What the chain knows about an authorization: the only evidence that ends an attempt. */
import { Context, Duration, Effect, Layer, Option, Redacted, Schedule, Schema } from "effect"
import {
  BaseError,
  createPublicClient,
  type Hex,
  hexToBigInt,
  http,
  numberToHex,
  type PublicClient,
  RpcRequestError,
} from "viem"
import { answerLimit } from "./Answers.ts"
import {
  addressTopic,
  authorizationCanceled,
  authorizationStateData,
  authorizationUsed,
  pays,
  reasonOf,
  settlementCall,
  type SignedAuthorization,
} from "./Eip3009.ts"

/** The chain could not be asked; says nothing about any payment. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  method: Schema.String,
  cause: Schema.Defect(),
}) {}

/** A dry run of the transfer on the newest block. `block` is where a search for its logs may begin. */
export type Simulation =
  | { readonly _tag: "Accepted"; readonly block: bigint }
  | { readonly _tag: "Reverted"; readonly reason: string }

/**
 * What is proven. `Void` can never be paid; `Open` is everything else, with whether the newest block
 * still has the authorization unused.
 */
export type Evidence =
  | { readonly _tag: "Paid"; readonly transaction: Hex }
  | { readonly _tag: "Void"; readonly reason: string }
  | { readonly _tag: "Open"; readonly unused: boolean }

export interface Search {
  readonly authorization: SignedAuthorization
  /** First block whose logs can hold the transfer. */
  readonly fromBlock: bigint
  /** A transaction that is said to hold it. */
  readonly transaction: Option.Option<Hex>
  /** How long to wait for that transaction to be in a block; zero to look once. */
  readonly patience: Duration.Duration
}

interface Receipt {
  readonly succeeded: boolean
  readonly logs: ReadonlyArray<{ readonly address: Hex; readonly topics: ReadonlyArray<Hex>; readonly data: Hex }>
}

/** How many blocks one log query spans; public RPCs refuse long ranges. */
const logWindow = 2_000n

export interface ChainConfig {
  readonly rpcUrl: Redacted.Redacted<string>
  /** The block tag from which nothing is taken back. */
  readonly finalTag: "finalized" | "safe" | "latest"
  /** Limit of one call. */
  readonly timeout: Duration.Duration
}

export class Chain extends Context.Service<
  Chain,
  {
    /** Would this authorization be settled now? */
    simulate(authorization: SignedAuthorization): Effect.Effect<Simulation, ChainUnavailable>
    /** Everything that is proven about an authorization at this moment. */
    evidence(search: Search): Effect.Effect<Evidence, ChainUnavailable>
    /** The bare JSON-RPC client, for the relayer. */
    readonly client: PublicClient
  }
>()("spirit-altar/payments/Chain") {
  static readonly layer = (config: ChainConfig) =>
    Layer.sync(Chain, () => {
      const client = createPublicClient({
        transport: http(Redacted.value(config.rpcUrl), {
          batch: { wait: 0 },
          retryCount: 1,
          timeout: Duration.toMillis(config.timeout),
          maxResponseBodySize: answerLimit,
          fetchOptions: { redirect: "error" },
        }),
      })

      // What is read from an answer is read inside: an answer that makes no sense is no answer.
      const call = <A>(method: string, run: () => Promise<A>) =>
        Effect.tryPromise({ try: run, catch: (cause) => new ChainUnavailable({ method, cause }) })

      const blockAt = (tag: "latest" | "finalized" | "safe") =>
        call("eth_getBlockByNumber", () => client.getBlock({ blockTag: tag })).pipe(
          Effect.map((block) => ({ number: block.number ?? 0n, timestamp: block.timestamp })),
        )

      const simulate = Effect.fn("Chain.simulate")(function* (authorization: SignedAuthorization) {
        const { data, to } = settlementCall(authorization)
        const [block, revert] = yield* Effect.all(
          [
            call("eth_blockNumber", () => client.request({ method: "eth_blockNumber" }).then(hexToBigInt)),
            call("eth_call", () => client.request({ method: "eth_call", params: [{ to, data }, "latest"] })).pipe(
              Effect.as(Option.none<string>()),
              Effect.catchIf(isRevert, (error) => Effect.succeedSome(revertText(error))),
            ),
          ],
          { concurrency: "unbounded" },
        )
        return Option.match(revert, {
          onNone: (): Simulation => ({ _tag: "Accepted", block }),
          onSome: (text): Simulation => ({ _tag: "Reverted", reason: reasonOf(text) }),
        })
      })

      const receiptOf = (hash: Hex) =>
        call("eth_getTransactionReceipt", () =>
          client.request({ method: "eth_getTransactionReceipt", params: [hash] }),
        ).pipe(
          Effect.map((receipt) =>
            receipt === null
              ? Option.none<Receipt>()
              : Option.some<Receipt>({ succeeded: receipt.status === "0x1", logs: receipt.logs }),
          ),
        )

      /** The receipt once there is one; a node that does not answer is asked again, until patience ends. */
      const awaitReceipt = Effect.fnUntraced(function* (hash: Hex, patience: Duration.Duration) {
        return yield* receiptOf(hash).pipe(
          Effect.orElseSucceed(() => Option.none<Receipt>()),
          Effect.repeat({ until: Option.isSome, schedule: receiptSchedule }),
          Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.succeedNone }),
        )
      })

      const paidIn = (authorization: SignedAuthorization, receipt: Option.Option<Receipt>) =>
        Option.exists(receipt, ({ logs, succeeded }) => succeeded && pays(logs, authorization))

      const isPaidBy = (authorization: SignedAuthorization, hash: Hex) =>
        Effect.map(receiptOf(hash), (receipt) => paidIn(authorization, receipt))

      const isUsed = (authorization: SignedAuthorization, block: Hex | "latest") =>
        call("eth_call", () =>
          client
            .request({
              method: "eth_call",
              params: [
                { to: authorization.asset, data: authorizationStateData(authorization.from, authorization.nonce) },
                block,
              ],
            })
            .then((result) => BigInt(result) === 1n),
        )

      const findLog = Effect.fn("Chain.findLog")(function* (authorization: SignedAuthorization, fromBlock: bigint) {
        const newest = (yield* blockAt("latest")).number
        for (let from = fromBlock; from <= newest; from += logWindow) {
          const to = from + logWindow - 1n < newest ? from + logWindow - 1n : newest
          const found = yield* call("eth_getLogs", () =>
            client
              .request({
                method: "eth_getLogs",
                params: [
                  {
                    address: authorization.asset,
                    fromBlock: numberToHex(from),
                    toBlock: numberToHex(to),
                    topics: [
                      [authorizationUsed, authorizationCanceled],
                      addressTopic(authorization.from),
                      authorization.nonce,
                    ],
                  },
                ],
              })
              .then((logs) => logs[0]),
          )
          if (found !== undefined) return Option.some(found)
        }
        return Option.none()
      })

      const evidence = Effect.fn("Chain.evidence")(function* (search: Search) {
        const { authorization, patience, transaction } = search
        if (Option.isSome(transaction)) {
          const hash = transaction.value
          const receipt = yield* Duration.isZero(patience) ? receiptOf(hash) : awaitReceipt(hash, patience)
          if (paidIn(authorization, receipt)) return paid(hash)
        }
        const final = yield* blockAt(config.finalTag)
        if (!(yield* isUsed(authorization, "latest"))) {
          const over =
            final.timestamp >= authorization.validBefore && !(yield* isUsed(authorization, numberToHex(final.number)))
          return over ? voided("authorization_expired") : open(true)
        }
        const log = yield* findLog(authorization, search.fromBlock)
        if (Option.isNone(log) || log.value.transactionHash === null) return open(false)
        if (yield* isPaidBy(authorization, log.value.transactionHash)) return paid(log.value.transactionHash)
        if (hexToBigInt(log.value.blockNumber ?? "0x0") > final.number) return open(false)
        return voided(
          log.value.topics[0] === authorizationCanceled ? "authorization_canceled" : "authorization_spent_elsewhere",
        )
      })

      return Chain.of({ simulate, evidence, client })
    })
}

const paid = (transaction: Hex): Evidence => ({ _tag: "Paid", transaction })
const voided = (reason: string): Evidence => ({ _tag: "Void", reason })
const open = (unused: boolean): Evidence => ({ _tag: "Open", unused })

/** Base makes a block every 2 s; the first looks are quick for chains that are quicker. */
const receiptSchedule = Schedule.min([Schedule.exponential("20 millis", 1.5), Schedule.spaced("1 second")])

const rpcError = (error: ChainUnavailable) =>
  error.cause instanceof BaseError ? error.cause.walk((cause) => cause instanceof RpcRequestError) : null

/** A node that answered with an execution error has been asked and has refused; anything else is no answer. */
const isRevert = (error: ChainUnavailable): boolean => {
  const answered = rpcError(error)
  return answered instanceof RpcRequestError && (answered.code === 3 || /revert/iu.test(answered.message))
}

const revertText = (error: ChainUnavailable): string => {
  const answered = rpcError(error)
  return answered instanceof RpcRequestError ? `${answered.details} ${String(answered.data ?? "")}` : ""
}
