/** Settles by our own relayer key: broadcasts one after the other, so a refused payment never costs its neighbours theirs. */
import { Clock, type Duration, Effect, Layer, Option, Redacted, Ref, Schedule, Schema, Semaphore } from "effect"
import { BaseError, type Hex, hexToBigInt, hexToNumber, keccak256 } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { Chain } from "./Chain.ts"
import { reasonOf, settlementCall } from "./Eip3009.ts"
import { Settlement, type SettlementRequest, type Submission } from "./Settlement.ts"

export interface RelayerConfig {
  readonly privateKey: Redacted.Redacted<Hex>
  /** How long one broadcast may wait for the node. */
  readonly timeout: Duration.Duration
}

class RpcFailure extends Schema.TaggedError<RpcFailure>()("RpcFailure", {
  text: Schema.String,
  answered: Schema.Boolean,
}) {}

interface Broadcast {
  readonly nonce: number
  readonly hash: Hex | undefined
  readonly at: number
}

const never: Broadcast = { nonce: -1, hash: undefined, at: 0 }

/** Milliseconds for which our own count of nonces outweighs that of a node that does not know our last transaction. */
const believedFor = 2_000

const refused = (reason: string) => ({ _tag: "Refused", reason }) as const
const unclear = (reason: string, transaction: Option.Option<Hex>): Submission => ({
  _tag: "Unclear",
  reason,
  transaction,
})

/** The network as offered and signed: a node of another chain will not take the transaction. */
const chainIdOf = ({ requirements }: SettlementRequest) => Number(requirements.network.slice("eip155:".length))

/** Another process used this relayer's next nonce first: nothing of ours was taken, so the broadcast is made anew. */
const isNonceRace = (failure: RpcFailure) =>
  failure.answered &&
  /nonce too low|replacement transaction underpriced|nonce has already been used/iu.test(failure.text)

const isRevert = (failure: RpcFailure) => failure.answered && /revert/iu.test(failure.text)

const told = (failure: RpcFailure): Submission =>
  isRevert(failure) ? refused(reasonOf(failure.text)) : unclear(failure.text, Option.none())

export const layer = (config: RelayerConfig): Layer.Layer<Settlement, never, Chain> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const { client } = yield* Chain
      const account = privateKeyToAccount(Redacted.value(config.privateKey))
      const turn = yield* Semaphore.make(1)
      const lastBroadcast = yield* Ref.make<Broadcast>(never)

      const rpc = <A>(run: () => Promise<A>) =>
        Effect.tryPromise({
          try: run,
          catch: (cause) =>
            new RpcFailure({
              text: cause instanceof BaseError ? `${cause.shortMessage} ${cause.details}` : String(cause),
              answered:
                cause instanceof BaseError &&
                cause.walk((inner) => inner instanceof Object && "code" in inner) !== null,
            }),
        }).pipe(
          Effect.timeoutOrElse({
            duration: config.timeout,
            orElse: () => Effect.fail(new RpcFailure({ text: "the node did not answer in time", answered: false })),
          }),
        )

      const isKnown = (hash: Hex | undefined) =>
        hash === undefined
          ? Effect.succeed(false)
          : Effect.map(
              rpc(() => client.request({ method: "eth_getTransactionByHash", params: [hash] })),
              (transaction) => transaction !== null,
            )

      /** The node may lag behind our own last broadcast for a moment, or may have dropped it: then its count is right. */
      const nonceNow = Effect.gen(function* () {
        const pending = hexToNumber(
          yield* rpc(() => client.request({ method: "eth_getTransactionCount", params: [account.address, "pending"] })),
        )
        const last = yield* Ref.get(lastBroadcast)
        if (pending > last.nonce) return pending
        const recent = (yield* Clock.currentTimeMillis) - last.at < believedFor
        return recent || (yield* isKnown(last.hash)) ? last.nonce + 1 : pending
      })

      const fees = rpc(() => client.request({ method: "eth_getBlockByNumber", params: ["latest", false] })).pipe(
        Effect.map((block) => {
          const tip = 1_000_000n
          return { maxPriorityFeePerGas: tip, maxFeePerGas: hexToBigInt(block?.baseFeePerGas ?? "0x0") * 3n + tip }
        }),
      )

      const broadcastOnce = Effect.fnUntraced(function* (chainId: number, to: Hex, data: Hex, gas: bigint) {
        const nonce = yield* nonceNow
        const transaction = {
          type: "eip1559",
          chainId,
          nonce,
          to,
          data,
          gas,
          ...(yield* fees),
        } as const
        const signed = yield* rpc(() => account.signTransaction(transaction))
        const hash = keccak256(signed)
        // Sent once: to a repetition the node says "nonce too low", which looks like a race with somebody else.
        return yield* rpc(() =>
          client.request({ method: "eth_sendRawTransaction", params: [signed] }, { retryCount: 0 }),
        ).pipe(
          Effect.tap(() =>
            Effect.flatMap(Clock.currentTimeMillis, (at) => Ref.set(lastBroadcast, { nonce, hash, at })),
          ),
          Effect.as<Submission>({ _tag: "Submitted", transaction: hash }),
          Effect.tapError(() => Ref.set(lastBroadcast, never)),
          Effect.catchIf(
            (failure) => !failure.answered,
            (failure) => Effect.succeed(unclear(failure.text, Option.some(hash))),
          ),
        )
      })

      const submit = Effect.fn("RelayerSettlement.submit")(function* (request: SettlementRequest) {
        const { data, to } = settlementCall(request.authorization)
        return yield* rpc(() =>
          client.request({ method: "eth_estimateGas", params: [{ from: account.address, to, data }] }),
        ).pipe(
          Effect.map((estimate) => (hexToBigInt(estimate) * 13n) / 10n),
          Effect.flatMap((gas) =>
            broadcastOnce(chainIdOf(request), to, data, gas).pipe(
              Effect.retry({
                while: isNonceRace,
                times: 20,
                schedule: Schedule.jittered(Schedule.spaced("20 millis")),
              }),
              turn.withPermits(1),
              Effect.catch((failure) => Effect.succeed(told(failure))),
            ),
          ),
          // Refused here, it was never handed to a node.
          Effect.catch((failure) =>
            Effect.succeed<Submission>(
              isRevert(failure) ? { ...refused(reasonOf(failure.text)), unsent: true } : told(failure),
            ),
          ),
        )
      })

      return Settlement.of({ submit })
    }),
  )
