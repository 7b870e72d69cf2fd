/** Settles by our own relayer key: broadcasts one after the other, so a refused payment never costs its neighbours theirs. */
import { Clock, Duration, Effect, Layer, Option, Redacted, Ref, Schedule, Schema, Semaphore } from "effect"
import { BaseError, type Hex, hexToBigInt, hexToNumber, keccak256 } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { Attempt } from "../ledger/Attempt.ts"
import { type Broadcast, Broadcasts } from "./Broadcasts.ts"
import { Chain } from "./Chain.ts"
import { reasonOf, settlementCall, type SignedAuthorization } from "./Eip3009.ts"
import type { ChainPayment } from "../Payment.ts"
import { Settlement, type SettlementRequest, type Submission } from "../Settlement.ts"

export interface RelayerConfig {
  readonly privateKey: Redacted.Redacted<Hex>
  /** How long one broadcast may wait for the node. */
  readonly timeout: Duration.Duration
  /** After which a broadcast that is in no block counts as lost, where the node does not know it, or else as stuck. */
  readonly stuckAfter: Duration.Duration
}

class RpcFailure extends Schema.TaggedError<RpcFailure>()("RpcFailure", {
  text: Schema.String,
  answered: Schema.Boolean,
}) {}

/** What the node was sent last. */
interface Last {
  readonly nonce: number
  readonly hash: Hex | undefined
  readonly at: number
}

const never: Last = { nonce: -1, hash: undefined, at: 0 }

/** A transfer to bring to the chain. */
interface Cargo {
  /** The attempt's id. */
  readonly attempt: string
  readonly chainId: number
  readonly authorization: SignedAuthorization
}

/** Seconds an authorization must still live to be sent at our cost. */
const leastLife = 6n

/** Gas of one settlement at most: a plain transfer takes 75,000, a wallet deployed by it several times that. */
const settlementGas = 750_000n

/** What a wallet's contract may make us pay for is bounded, too: a signature check that takes more is not paid for. */
const gasTooHigh = "gas_too_high"

/** Milliseconds for which a wallet is refused whose contract agreed before a broadcast and reverted it in its block. */
const distrustedFor = 3_600_000
const distrusted = "wallet_reverted_settlement"

/** How long the relayer's balance is believed, and how long anybody waits for it. */
const solventFor = Duration.seconds(3)
const solventWithin = Duration.seconds(2)

/** Milliseconds for which our own count of nonces outweighs that of a node that does not know our last transaction. */
const believedFor = 2_000

const unsent = (reason: string): Submission => ({ _tag: "Refused", reason, unsent: true })
const unclear = (reason: string, transaction: Option.Option<Hex>): Submission => ({
  _tag: "Unclear",
  reason,
  transaction,
})

/** The network as offered and signed: a node of another chain will not take the transaction. */
const chainIdOf = (network: string) => Number(network.slice("eip155:".length))

/** Another process used this relayer's next nonce first: nothing of ours was taken, so the broadcast is made anew. */
const isNonceRace = (failure: RpcFailure) =>
  failure.answered &&
  /nonce too low|replacement transaction underpriced|nonce has already been used/iu.test(failure.text)

const isRevert = (failure: Pick<RpcFailure, "answered" | "text">) => failure.answered && /revert/iu.test(failure.text)

/** Why a transfer cannot be brought to the chain by us, if that is what the node says. */
const refusalOf = ({ answered, text }: RpcFailure): string | undefined => {
  if (text === gasTooHigh || (answered && /gas required exceeds|out of gas/iu.test(text))) return gasTooHigh
  return isRevert({ answered, text }) ? reasonOf(text) : undefined
}

/** The account that sends the transfers. */
export const addressOf = (privateKey: Redacted.Redacted<Hex>) => privateKeyToAccount(Redacted.value(privateKey)).address

export const layer = (config: RelayerConfig): Layer.Layer<Settlement, never, Chain | Broadcasts> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const { client } = yield* Chain
      const broadcasts = yield* Broadcasts
      const account = privateKeyToAccount(Redacted.value(config.privateKey))
      const turn = yield* Semaphore.make(1)
      const lastBroadcast = yield* Ref.make<Last>(never)

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
        const pending = yield* rpc(() =>
          client
            .request({ method: "eth_getTransactionCount", params: [account.address, "pending"] })
            .then((count) => hexToNumber(count)),
        )
        const last = yield* Ref.get(lastBroadcast)
        if (pending > last.nonce) return pending
        const recent = (yield* Clock.currentTimeMillis) - last.at < believedFor
        return recent || (yield* isKnown(last.hash)) ? last.nonce + 1 : pending
      })

      const fees = rpc(() =>
        client.request({ method: "eth_getBlockByNumber", params: ["latest", false] }).then((block): Fee => {
          const tip = 1_000_000n
          return { maxPriorityFeePerGas: tip, maxFeePerGas: hexToBigInt(block?.baseFeePerGas ?? "0x0") * 3n + tip }
        }),
      )

      /** Nodes that keep no pending state say so; then the newest block has to do. */
      const orOnLatest = <A>(block: "pending" | "latest", at: (block: "pending" | "latest") => Promise<A>) =>
        rpc(() => at(block)).pipe(
          Effect.catchIf(
            (failure) => block === "pending" && failure.answered && !isRevert(failure),
            () => rpc(() => at("latest")),
          ),
        )

      /** Reverts as the broadcast would, were it sent now: nothing is spent on a payment that has just lost its funds. */
      const rehearse = (to: Hex, data: Hex, block: "pending" | "latest") =>
        orOnLatest(block, (at) =>
          client.request({ method: "eth_call", params: [{ from: account.address, to, data }, at] }),
        )

      /**
       * Signs, notes and sends, in this order. `stuck` is a broadcast whose place is taken at a higher fee: it is part
       * of the pending state itself, so the rehearsal then is on the newest block.
       */
      const broadcastOnce = Effect.fnUntraced(function* (
        { attempt, authorization, chainId }: Cargo,
        gas: bigint,
        noted: Ref.Ref<Option.Option<Hex>>,
        stuck: Option.Option<Broadcast>,
      ) {
        const { data, to } = settlementCall(authorization)
        const [nonce, now] = yield* Effect.all(
          [
            Option.isSome(stuck) ? Effect.succeed(stuck.value.nonce) : nonceNow,
            fees,
            rehearse(to, data, Option.isSome(stuck) ? "latest" : "pending"),
          ],
          { concurrency: "unbounded" },
        )
        const fee = Option.match(stuck, { onNone: () => now, onSome: ({ maxFeePerGas }) => above(now, maxFeePerGas) })
        const signed = yield* rpc(() =>
          account.signTransaction({ type: "eip1559", chainId, nonce, to, data, gas, ...fee }),
        )
        const hash = keccak256(signed)
        const atMillis = yield* Clock.currentTimeMillis
        const { maxFeePerGas } = fee
        const isOurs = yield* broadcasts
          .note(attempt, yield* Ref.get(noted), { nonce, hash, maxFeePerGas, atMillis })
          .pipe(Effect.mapError(() => new RpcFailure({ text: "the broadcast could not be noted", answered: false })))
        if (!isOurs) return unclear("somebody else has just broadcast it", Option.none())
        yield* Ref.set(noted, Option.some(hash))
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

      /** What was ever signed and sent, by whomever, may be on its way, whatever the node says now. */
      const refused = (attempt: string, failure: RpcFailure, noted: Option.Option<Hex>) => {
        const reason = refusalOf(failure)
        if (reason === undefined || Option.isSome(noted)) return Effect.succeed(unclear(failure.text, noted))
        return broadcasts.find(attempt).pipe(
          Effect.map((other) =>
            Option.isNone(other) ? unsent(reason) : unclear(failure.text, Option.some(other.value.hash)),
          ),
          Effect.orElseSucceed(() => unclear(failure.text, Option.none())),
        )
      }

      const broadcast = Effect.fn("RelayerSettlement.broadcast")(function* (
        cargo: Cargo,
        previous: Option.Option<Hex>,
        stuck: Option.Option<Broadcast>,
      ) {
        const { data, to } = settlementCall(cargo.authorization)
        const block = Option.isSome(stuck) ? "latest" : "pending"
        const noted = yield* Ref.make(previous)
        return yield* orOnLatest(block, (at) =>
          client
            .request({ method: "eth_estimateGas", params: [{ from: account.address, to, data }, at] })
            .then(hexToBigInt),
        ).pipe(
          Effect.map((estimate) => (estimate * 13n) / 10n),
          Effect.filterOrFail(
            (gas) => gas <= settlementGas,
            () => new RpcFailure({ text: gasTooHigh, answered: true }),
          ),
          Effect.flatMap((gas) =>
            broadcastOnce(cargo, gas, noted, stuck).pipe(
              Effect.retry({
                while: (failure) => Option.isNone(stuck) && isNonceRace(failure),
                times: 20,
                schedule: Schedule.jittered(Schedule.spaced("20 millis")),
              }),
              turn.withPermits(1),
            ),
          ),
          Effect.catch((failure) => Effect.flatMap(Ref.get(noted), (hash) => refused(cargo.attempt, failure, hash))),
        )
      })

      /** Wallets whose contract reverted what it had agreed to, and until when they are refused. */
      const distrust = new Map<string, number>()

      const submit = Effect.fnUntraced(function* ({ attempt, authorization, requirements }: SettlementRequest) {
        if ((distrust.get(authorization.from) ?? 0) > (yield* Clock.currentTimeMillis)) return unsent(distrusted)
        const cargo = { attempt, authorization, chainId: chainIdOf(requirements.network) }
        return yield* broadcast(cargo, Option.none(), Option.none())
      })

      /** Remembers the wallet of a broadcast that reverted in its block, if it is a contract that can do so at will. */
      const distrustIfReverted = Effect.fnUntraced(function* (hash: Hex, wallet: Hex) {
        const [receipt, code] = yield* Effect.all([
          rpc(() => client.request({ method: "eth_getTransactionReceipt", params: [hash] })),
          rpc(() => client.request({ method: "eth_getCode", params: [wallet, "latest"] })),
        ])
        if (receipt?.status !== "0x0" || code === "0x") return
        const now = yield* Clock.currentTimeMillis
        for (const [known, until] of distrust) if (until <= now) distrust.delete(known)
        distrust.set(wallet, now + distrustedFor)
        yield* Effect.logWarning(
          `The wallet ${wallet} reverted in ${hash} what it had agreed to; it is refused for an hour`,
        )
      })

      const isStuck = Effect.fnUntraced(function* ({ atMillis, hash }: Broadcast) {
        const now = yield* Clock.currentTimeMillis
        if (now - atMillis < Duration.toMillis(config.stuckAfter)) return false
        const known = yield* rpc(() => client.request({ method: "eth_getTransactionByHash", params: [hash] }))
        return known !== null && known.blockNumber === null
      })

      /** An empty transaction to ourselves takes its place: all later ones wait for it. */
      const abandon = Effect.fn("RelayerSettlement.abandon")(function* ({ id, payment }: Attempt) {
        if (payment.rail === "card") return
        const last = yield* broadcasts.find(id)
        if (Option.isNone(last) || !(yield* isStuck(last.value))) return
        const { hash: stuck, maxFeePerGas: offered, nonce } = last.value
        const fee = above(yield* fees, offered)
        const chainId = chainIdOf(payment.network)
        const signed = yield* rpc(() =>
          account.signTransaction({ type: "eip1559", chainId, nonce, to: account.address, gas: 21_000n, ...fee }),
        )
        const { maxFeePerGas } = fee
        const atMillis = yield* Clock.currentTimeMillis
        const broadcast = { nonce, hash: keccak256(signed), maxFeePerGas, atMillis }
        if (!(yield* broadcasts.note(id, Option.some(stuck), broadcast))) return
        yield* rpc(() => client.request({ method: "eth_sendRawTransaction", params: [signed] }, { retryCount: 0 }))
      })

      const abandonIfKnown = (attempt: Attempt) =>
        Effect.catch(abandon(attempt), (error) =>
          Effect.logWarning("A transaction that no block takes could not be replaced", error),
        )

      const again = Effect.fn("RelayerSettlement.again")(function* (
        attempt: Attempt,
        { authorization, network }: ChainPayment,
      ) {
        const now = yield* Clock.currentTimeMillis
        if (authorization.validBefore < BigInt(Math.floor(now / 1000)) + leastLife) {
          yield* abandon(attempt)
          return Option.none<Submission>()
        }
        const cargo: Cargo = { attempt: attempt.id, authorization, chainId: chainIdOf(network) }
        const patience = Duration.toMillis(config.stuckAfter)
        const last = yield* broadcasts.find(attempt.id)
        if (Option.isNone(last)) {
          // Its request may be about to send it; once somebody has looked for it, that was given up.
          const isAbandoned = attempt.checks > 0 || now - Date.parse(attempt.acceptedAt) > patience
          return isAbandoned
            ? Option.some(yield* broadcast(cargo, Option.none(), Option.none()))
            : Option.none<Submission>()
        }
        const { atMillis, hash } = last.value
        if (now - atMillis < patience) return Option.none<Submission>()
        const known = yield* rpc(() => client.request({ method: "eth_getTransactionByHash", params: [hash] }))
        // Mined without having paid: it reverted, and is not paid for a second time.
        if (known !== null && known.blockNumber !== null) {
          yield* distrustIfReverted(hash, authorization.from)
          return Option.none<Submission>()
        }
        const stuck = known === null ? Option.none<Broadcast>() : last
        return Option.some(yield* broadcast(cargo, Option.some(hash), stuck))
      })

      const againIfKnown = (attempt: Attempt, payment: ChainPayment) =>
        Effect.catch(again(attempt, payment), (error) =>
          Effect.as(Effect.logWarning("A payment could not be handed in again", error), Option.none<Submission>()),
        )

      /** Asked at most every few seconds, whoever wants to know; a node that does not answer is found out elsewhere. */
      const solvent = yield* Effect.all(
        [
          rpc(() =>
            client.request({ method: "eth_getBalance", params: [account.address, "latest"] }).then(hexToBigInt),
          ),
          fees,
        ],
        { concurrency: "unbounded" },
      ).pipe(
        Effect.map(([balance, { maxFeePerGas }]) => balance >= settlementGas * maxFeePerGas),
        Effect.tap((enough) =>
          enough ? Effect.void : Effect.logError(`The relayer ${account.address} cannot pay gas: send it some`),
        ),
        Effect.timeout(solventWithin),
        Effect.orElseSucceed(() => true),
        Effect.uninterruptible,
        Effect.cachedWithTTL(solventFor),
      )

      return Settlement.of({ submit, again: againIfKnown, abandon: abandonIfKnown, solvent })
    }),
  )

interface Fee {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

/** A quarter above what was offered, and no less than what is asked now, all of it as a tip: nodes replace for a tenth more. */
const above = (now: Fee, offered: bigint): Fee => {
  const raised = (offered * 5n) / 4n + 1n
  const maxFeePerGas = raised > now.maxFeePerGas ? raised : now.maxFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas }
}
