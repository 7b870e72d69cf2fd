/** Repeats the inquiry about settled transfers until their block is final, and resubmits orphaned ones in time. */
import { Context, Duration, Effect, Layer, Option } from "effect"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import type { FailureVerdict } from "./store/Attempt.ts"
import { type SettledTransfer, SettledTransfers } from "./store/SettledTransfers.ts"
import * as Trace from "../platform/Trace.ts"
import { changed } from "./Changes.ts"
import { decide } from "./decision/Decision.ts"
import { Settlement } from "./settle/Settlement.ts"
import { Chain } from "./chain/Chain.ts"
import { findingOf } from "./chain/Evidence.ts"
import { log } from "../platform/LogMessages.ts"

export interface FinalityConfig {
  /** Pause between two sweeps, and the minimum time between two inquiries that agree that a transfer is lost. */
  readonly sweepEvery: Duration.Duration
  /** How long a submission may take. Until then no other server submits the same payment. */
  readonly patience: Duration.Duration
}

/** Settled transfers per sweep, and concurrent inquiries: one batch for the node. */
const sweepSize = 200
const inquiredAtOnce = 50

/** Milliseconds a sweep leases its transfers, on top of the patience of a submission. */
const leaseMillis = 60_000

/** Milliseconds until an inquiry without proof is repeated: from 2 s to an hour. */
const retryAfterMillis = (checks: number) => Math.min(3_600, 2 ** Math.min(checks + 1, 12)) * 1000

/** Milliseconds until the next inquiry: at most a minute before the block is final, so that resubmission is in time. */
const pauseOf = ({ checks, isEarly }: SettledTransfer) =>
  Math.min(retryAfterMillis(checks), isEarly ? 60_000 : Number.POSITIVE_INFINITY)

/** Maximum milliseconds until the next inquiry about an orphaned payment: its authorization expires within minutes. */
const orphanedAfterMillis = 10_000

/** Milliseconds until the next inquiry about a resubmitted payment, which needs some blocks to appear. */
const resubmittedAfterMillis = (checks: number) =>
  Math.max(orphanedAfterMillis, Math.min(retryAfterMillis(checks), 6 * orphanedAfterMillis))

export class Finality extends Context.Service<Finality>()("spirit-altar/payments/Finality", {
  make: Effect.fnUntraced(function* (config: FinalityConfig) {
    const transfers = yield* SettledTransfers
    const chain = yield* Chain
    const settlement = yield* Settlement
    const apart = Duration.toMillis(config.sweepEvery)
    const heldFor = leaseMillis + Duration.toMillis(config.patience)

    /** The act and its answer stay. The first server to record the loss raises the alarm. */
    const lose = Effect.fnUntraced(function* ({ act, id, transaction }: SettledTransfer, verdict: FailureVerdict) {
      if (yield* transfers.lose(id, verdict)) {
        yield* changed({ id, act, from: "settled", to: "lost", evidence: verdict.reason, transaction })
        yield* log("payment lost", {
          attempt: id,
          act,
          transaction,
          reason: verdict.reason,
        })
      }
    })

    /** Resubmits an orphaned payment of an act that stands. Only the server that holds the row submits. */
    const resubmit = Effect.fnUntraced(function* (transfer: SettledTransfer, reverts: boolean) {
      const held = yield* transfers.hold(transfer, heldFor)
      if (Option.isNone(held)) return
      const { acceptedAt, act, checks, id, payment, transaction } = held.value
      const unpaid = { id, acceptedAt, checks, state: "settled", paidIn: lastIn(held.value), reverts } as const
      const submission = yield* settlement.resubmit(unpaid, payment)
      if (Option.isNone(submission)) {
        return yield* transfers.defer(held.value, null, Math.min(retryAfterMillis(checks), orphanedAfterMillis))
      }
      yield* log("payment orphaned", { attempt: id, act, transaction, resubmission: submission.value._tag })
      return yield* transfers.defer(held.value, null, resubmittedAfterMillis(checks))
    })

    const inquire = Effect.fnUntraced(function* (transfer: SettledTransfer) {
      const { act, id, isEarly, payment, pendingLoss, transaction } = transfer
      const { authorization, fromBlock } = payment
      const known = lastIn(transfer)
      const evidence = yield* chain.evidence({
        authorization,
        fromBlock,
        transaction: Option.some(known),
        patience: Duration.zero,
        foundIn: transfer.settledBlock,
      })
      const found = findingOf(evidence)
      const decision = decide(found, { is: "settled" }, pendingLoss, apart)
      switch (decision.is) {
        case "settle": {
          const { block, transaction: now } = decision.proof
          if (isEarly && now === known.toLowerCase()) return
          const moved = now === transaction.toLowerCase() ? Option.none() : Option.some(now)
          const isFinal = !isEarly && (yield* chain.isFinal(block))
          yield* transfers.confirm(id, isFinal ? "final" : "pending", block.number, moved)
          const to = isFinal ? "final" : "moved"
          if (isFinal || Option.isSome(moved))
            yield* changed({ id, act, from: "settled", to, evidence: "transfer found", transaction: now })
          return
        }
        case "agreed":
          return yield* lose(transfer, decision.doubt)
        case "doubt":
          return yield* transfers.defer(transfer, decision.reason, apart)
        case "submit":
          return yield* resubmit(transfer, found.is !== "unused")
        default:
          return yield* transfers.defer(transfer, null, pauseOf(transfer))
      }
    }, Trace.span("Finality.inquire"))

    /** Defers after an inquiry that failed. An earlier doubt stays as it was. */
    const putOff = (transfer: SettledTransfer) =>
      transfers.defer(transfer, transfer.pendingLoss?.reason ?? null, pauseOf(transfer))

    /** Inquires about settled transfers that should be final or may be orphaned. Returns how many were taken. */
    const sweep = Effect.gen(function* () {
      if (!(yield* transfers.isAnyDue)) return 0
      const final = yield* Effect.option(chain.final)
      if (Option.isNone(final)) return 0
      const due = yield* transfers.lease(sweepSize, final.value.number, heldFor)
      yield* Effect.forEach(
        due.transfers,
        (transfer) =>
          inquire(transfer).pipe(
            // A transfer that keeps failing must not block those that were never checked.
            Effect.tapCause(() => putOff(transfer)),
            Effect.catchCause((cause) => log("finality check failed", { attempt: transfer.id }, cause)),
          ),
        { concurrency: inquiredAtOnce, discard: true },
      )
      return due.taken
    }).pipe(Effect.withSpan("Finality.sweep"))

    yield* DatabaseWatch.sweeping(sweep, config.sweepEvery, "finality sweep failed", sweepSize)

    return { sweep }
  }),
}) {
  static readonly layer = (config: FinalityConfig) => Layer.effect(this, this.make(config))
}

const lastIn = ({ currentTransaction, transaction }: SettledTransfer) =>
  Option.getOrElse(currentTransaction, () => transaction)
