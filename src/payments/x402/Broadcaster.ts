/** Brings one transfer to the chain: rehearsed, signed, noted and sent, in this order and one after the other. */
import { Clock, Effect, Option, Ref, Schedule, Semaphore } from "effect"
import { type Hex, keccak256 } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import type { Broadcast, Broadcasts } from "../ledger/Broadcasts.ts"
import type { Submission } from "../Settlement.ts"
import { settlementCall, type SignedAuthorization } from "./Eip3009.ts"
import * as Fees from "./Fees.ts"
import { gasTooHigh, isNonceRace, refusalOf, type RelayerNode, RpcFailure } from "./RelayerNode.ts"
import * as RelayerNonces from "./RelayerNonces.ts"

/** A transfer to bring to the chain. */
export interface Transfer {
  /** The attempt's id. */
  readonly attempt: string
  readonly chainId: number
  readonly authorization: SignedAuthorization
}

/** Certainly not sent by us, and why. */
export const unsent = (reason: string): Submission => ({ _tag: "Refused", reason, unsent: true })

const unclear = (reason: string, transaction: Option.Option<Hex>): Submission => ({
  _tag: "Unclear",
  reason,
  transaction,
})

export const make = Effect.fnUntraced(function* (
  node: RelayerNode,
  broadcasts: Broadcasts["Service"],
  account: PrivateKeyAccount,
) {
  const turn = yield* Semaphore.make(1)
  const nonces = RelayerNonces.make(node, account.address)
  const fees = Fees.current(node)

  /** An empty transaction to ourselves takes the place of a stuck one: all later ones wait for it. */
  const replaceByNothing = Effect.fnUntraced(function* (
    attempt: string,
    { hash: stuck, maxFeePerGas: offered, nonce }: Broadcast,
    chainId: number,
  ) {
    const fee = Fees.above(yield* fees, offered)
    const signed = yield* node.call(() =>
      account.signTransaction({ type: "eip1559", chainId, nonce, to: account.address, gas: 21_000n, ...fee }),
    )
    const atMillis = yield* Clock.currentTimeMillis
    const { maxFeePerGas } = fee
    const isOurs = yield* broadcasts.note(attempt, Option.some(stuck), {
      nonce,
      hash: keccak256(signed),
      maxFeePerGas,
      atMillis,
    })
    if (isOurs) yield* node.send(signed)
  })

  /**
   * `stuck` is a broadcast whose place is taken at a higher fee: it is part of the pending state itself, so the
   * rehearsal then is on the newest block.
   */
  const sendOnce = Effect.fnUntraced(function* (
    { attempt, authorization, chainId }: Transfer,
    gas: bigint,
    noted: Ref.Ref<Option.Option<Hex>>,
    stuck: Option.Option<Broadcast>,
  ) {
    const { data, to } = settlementCall(authorization)
    const [nonce, now] = yield* Effect.all(
      [
        Option.isSome(stuck) ? Effect.succeed(stuck.value.nonce) : nonces.next,
        fees,
        node.rehearse(account.address, to, data, Option.isSome(stuck) ? "latest" : "pending"),
      ],
      { concurrency: "unbounded" },
    )
    const fee = Option.match(stuck, {
      onNone: () => now,
      onSome: ({ maxFeePerGas }) => Fees.above(now, maxFeePerGas),
    })
    const signed = yield* node.call(() =>
      account.signTransaction({ type: "eip1559", chainId, nonce, to, data, gas, ...fee }),
    )
    const hash = keccak256(signed)
    const atMillis = yield* Clock.currentTimeMillis
    const { maxFeePerGas } = fee
    const isOurs = yield* broadcasts
      .note(attempt, yield* Ref.get(noted), { nonce, hash, maxFeePerGas, atMillis })
      .pipe(Effect.mapError(({ message }) => new RpcFailure({ text: message, answered: false })))
    if (!isOurs) return unclear("somebody else has just broadcast it", Option.none())
    yield* Ref.set(noted, Option.some(hash))
    return yield* node.send(signed).pipe(
      Effect.tap(() => nonces.sent(nonce, hash)),
      Effect.as<Submission>({ _tag: "Submitted", transaction: hash }),
      Effect.tapError(() => nonces.forget),
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

  /** Never fails. `previous` is the hash that is noted for the attempt, if any. */
  const send = Effect.fn("Broadcaster.send")(function* (
    transfer: Transfer,
    previous: Option.Option<Hex>,
    stuck: Option.Option<Broadcast>,
  ) {
    const { data, to } = settlementCall(transfer.authorization)
    const noted = yield* Ref.make(previous)
    return yield* node.estimateGas(account.address, to, data, Option.isSome(stuck) ? "latest" : "pending").pipe(
      Effect.map((estimate) => (estimate * 13n) / 10n),
      Effect.filterOrFail(
        (gas) => gas <= Fees.settlementGas,
        () => new RpcFailure({ text: gasTooHigh, answered: true }),
      ),
      Effect.flatMap((gas) =>
        sendOnce(transfer, gas, noted, stuck).pipe(
          Effect.retry({
            while: (failure) => Option.isNone(stuck) && isNonceRace(failure),
            times: 20,
            schedule: Schedule.jittered(Schedule.spaced("20 millis")),
          }),
          turn.withPermits(1),
        ),
      ),
      Effect.catch((failure) => Effect.flatMap(Ref.get(noted), (hash) => refused(transfer.attempt, failure, hash))),
    )
  })

  return { send, replaceByNothing }
})
