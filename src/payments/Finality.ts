/**
 * Inquires about every settled transfer again once its block is final: still there, found elsewhere, or lost. As long as its
 * authorization can pay, also before: what was taken back is handed in again.
 */
import { type Cause, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import type { FailureVerdict } from "./ledger/Attempt.ts"
import { type SettledTransfer, SettledTransfers } from "./ledger/SettledTransfers.ts"
import * as Trace from "../platform/Trace.ts"
import { changed } from "./Changes.ts"
import { Settlement } from "./Settlement.ts"
import { Chain } from "./x402/Chain.ts"

export interface FinalityConfig {
  /** Pause between two sweeps, and the least time between two inquiries that agree that a transfer is lost. */
  readonly sweepEvery: Duration.Duration
}

/** Settled transfers one sweep takes, and how many of them are inquired about at once: one request to the node. */
const sweepSize = 200
const inquiredAtOnce = 50

/** Milliseconds a sweep keeps what it took; any number of servers may sweep at once. */
const leaseMillis = 60_000

/** Milliseconds until an inquiry that proved nothing is repeated: from 2 s to an hour. */
const retryAfterMillis = (checks: number) => Math.min(3_600, 2 ** Math.min(checks + 1, 12)) * 1000

/** Milliseconds at most until what was taken back is inquired about again: its authorization ends in minutes. */
const goneAfterMillis = 10_000

export class Finality extends Context.Service<
  Finality,
  {
    /** Inquires about settled transfers whose block should be final by now, or may be gone; returns how many were taken. */
    readonly sweep: Effect.Effect<number>
  }
>()("spirit-altar/payments/Finality") {
  static readonly layer = (config: FinalityConfig) =>
    Layer.effect(
      Finality,
      Effect.gen(function* () {
        const transfers = yield* SettledTransfers
        const chain = yield* Chain
        const settlement = yield* Settlement
        const apart = Duration.toMillis(config.sweepEvery)

        /** The act stays and so does its answer; whoever finds it out first rings the alarm. */
        const lose = Effect.fnUntraced(function* ({ act, id, transaction }: SettledTransfer, verdict: FailureVerdict) {
          if (yield* transfers.lose(id, verdict)) {
            yield* changed({ id, act, from: "settled", to: "lost", evidence: verdict.reason, transaction })
            yield* Effect.logError(
              `The payment of ${act} ${id} is lost: the block of ${transaction} was reorganised away (${verdict.reason}). The act stays and is marked; the payer was not charged. /api/health fails until an operator acknowledges it`,
            )
          }
        })

        /** Its act stands, and whoever signed it is still to pay for it. */
        const resubmit = Effect.fnUntraced(function* (transfer: SettledTransfer) {
          const { acceptedAt, act, checks, id, payment, transaction } = transfer
          const unpaid = { id, acceptedAt, checks, state: "settled", paidIn: transaction } as const
          const submission = yield* settlement.resubmit(unpaid, payment)
          if (Option.isSome(submission)) {
            yield* Effect.logWarning(
              `The payment of ${act} ${id} was taken back with the block of ${transaction} and is handed in again`,
              submission.value,
            )
          }
        })

        const inquire = Effect.fnUntraced(function* (transfer: SettledTransfer) {
          const { act, checks, currentTransaction, id, isEarly, payment, pendingLoss, transaction } = transfer
          const { authorization, fromBlock } = payment
          const known = Option.getOrElse(currentTransaction, () => transaction)
          const evidence = yield* chain.evidence({
            authorization,
            fromBlock,
            transaction: Option.some(known),
            patience: Duration.zero,
          })
          switch (evidence._tag) {
            case "Paid": {
              const found = evidence.transaction
              if (isEarly && found === known.toLowerCase()) return
              const moved = found === transaction.toLowerCase() ? Option.none() : Option.some(found)
              const isFinal = !isEarly && (yield* chain.isFinal(evidence.block))
              yield* transfers.confirm(id, isFinal ? "final" : "pending", evidence.block.number, moved)
              const to = isFinal ? "final" : "moved"
              if (isFinal || Option.isSome(moved))
                yield* changed({ id, act, from: "settled", to, evidence: "transfer found", transaction: found })
              return
            }
            case "Void":
              return pendingLoss?.reason === evidence.reason && pendingLoss.ageMillis >= apart
                ? yield* lose(transfer, pendingLoss)
                : yield* transfers.defer(id, evidence.reason, apart)
            case "Open":
              if (!evidence.unused) return yield* transfers.defer(id, null, retryAfterMillis(checks))
              yield* resubmit(transfer)
              return yield* transfers.defer(id, null, Math.min(retryAfterMillis(checks), goneAfterMillis))
          }
        }, Trace.span("Finality.inquire"))

        /** Nothing was learnt: a doubt stays as it was. */
        const putOff = ({ checks, id, pendingLoss }: SettledTransfer) =>
          transfers.defer(id, pendingLoss?.reason ?? null, retryAfterMillis(checks))

        const sweep = Effect.gen(function* () {
          if (!(yield* transfers.isAnyDue)) return 0
          const final = yield* Effect.option(chain.final)
          if (Option.isNone(final)) return 0
          const due = yield* transfers.lease(sweepSize, final.value.number, leaseMillis, settlement.resubmits)
          yield* Effect.forEach(
            due.transfers,
            (transfer) =>
              inquire(transfer).pipe(
                // What fails again and again must not stand before those that were never looked at.
                Effect.tapCause(() => putOff(transfer)),
                Effect.catchCause((cause) =>
                  Effect.logWarning("The finality of a payment could not be looked at", transfer.id, cause),
                ),
              ),
            { concurrency: inquiredAtOnce, discard: true },
          )
          return due.taken
        }).pipe(Effect.withSpan("Finality.sweep"))

        yield* sweep.pipe(
          // Where more is due than one sweep takes, the next one follows at once.
          Effect.repeat({ while: (taken) => taken === sweepSize }),
          Effect.catchCause((cause: Cause.Cause<unknown>) => Effect.logError("The finality sweep failed", cause)),
          Effect.repeat(Schedule.spaced(config.sweepEvery)),
          Effect.forkScoped,
        )

        return Finality.of({ sweep })
      }),
    )
}
