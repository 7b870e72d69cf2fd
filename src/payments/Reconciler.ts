/** Ends attempts by evidence alone; the request itself, the client's question, the sweeper and the start all come here. */
import { type Cause, Clock, Context, Duration, Effect, Layer, Option, Schedule, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import type { Attempt } from "./Attempt.ts"
import { CardProcessor } from "./CardProcessor.ts"
import { Chain, type Evidence } from "./Chain.ts"
import type { CardPayment, ChainPayment } from "./Payment.ts"
import { PaymentLedger } from "./PaymentLedger.ts"
import { Settlement, type Submission } from "./Settlement.ts"

export interface ReconcilerConfig {
  /** How long a request waits for the transaction it was told of. */
  readonly patience: Duration.Duration
  /** Pause between two looks of the background sweeper. */
  readonly sweepEvery: Duration.Duration
}

/** Seconds until an open attempt is looked at again, by how often it was looked at: 2, 4, 8 … 60. */
export const nextLook = (checks: number) => Math.min(60, 2 ** Math.min(checks + 1, 6))

/** Attempts one sweep takes at once, and the first look after a start. */
const sweepSize = 50
const startSize = 1000

/** Milliseconds a sweep keeps what it took, and how far ahead the first look reaches. */
const leaseMillis = 60_000
const startAheadMillis = 86_400_000

export class Reconciler extends Context.Service<
  Reconciler,
  {
    /**
     * Looks for evidence and ends the attempt when there is any; otherwise it stays pending.
     * `submission` is what settlement just said, absent when nobody was asked.
     */
    conclude(attempt: Attempt, submission?: Submission): Effect.Effect<Attempt, SqlError.SqlError | Schema.SchemaError>
    /** Concludes every attempt that is due; returns how many were looked at. */
    readonly sweep: Effect.Effect<number, SqlError.SqlError | Schema.SchemaError>
  }
>()("spirit-altar/payments/Reconciler") {
  static readonly layer = (config: ReconcilerConfig) =>
    Layer.effect(
      Reconciler,
      Effect.gen(function* () {
        const chain = yield* Chain
        const cards = yield* CardProcessor
        const ledger = yield* PaymentLedger
        const settlement = yield* Settlement

        const wouldRevert = ({ authorization }: ChainPayment) =>
          chain.simulate(authorization).pipe(
            Effect.map(({ _tag }) => _tag === "Reverted"),
            Effect.orElseSucceed(() => false),
          )

        const defer = Effect.fnUntraced(function* (attempt: Attempt, reference: Option.Option<string>) {
          const now = yield* Clock.currentTimeMillis
          yield* ledger.defer(attempt.id, reference, now + nextLook(attempt.checks) * 1000)
          return attempt
        })

        const concludeOnChain: (
          attempt: Attempt,
          payment: ChainPayment,
          submission: Submission | undefined,
        ) => Effect.Effect<Attempt, SqlError.SqlError | Schema.SchemaError> = Effect.fnUntraced(
          function* (attempt, payment, submission) {
            const transaction = Option.orElse(hintOf(submission), () => payment.transaction)
            const evidence = yield* chain
              .evidence({
                authorization: payment.authorization,
                fromBlock: payment.fromBlock,
                transaction,
                patience: submission === undefined ? Duration.zero : config.patience,
              })
              .pipe(
                Effect.tapError((error) => Effect.logWarning("The chain could not be asked", error)),
                Effect.orElseSucceed((): Evidence => ({ _tag: "Open", unused: false })),
              )
            switch (evidence._tag) {
              case "Paid":
                return yield* ledger.settle(attempt.id, { rail: "x402", payment, transaction: evidence.transaction })
              case "Void":
                return yield* ledger.fail(attempt.id, evidence.reason)
              case "Open":
                // A refusal counts only when the chain agrees: unused, and the transfer would revert now. A facilitator
                // that refuses what would succeed may have broadcast it already.
                if (submission?._tag === "Refused" && evidence.unused && (yield* wouldRevert(payment)))
                  return yield* ledger.fail(attempt.id, submission.reason)
                // Nobody else has just handed it in, and it lives: it goes to the chain again if it is not on its way.
                if (submission === undefined && evidence.unused) {
                  const again = yield* settlement.again(attempt, payment)
                  if (Option.isSome(again)) return yield* concludeOnChain(attempt, payment, again.value)
                }
                return yield* defer(attempt, transaction)
            }
          },
        )

        /** Asking what became of a card's charge is asking for the charge, under its one key. */
        const concludeCard = Effect.fnUntraced(function* (attempt: Attempt, payment: CardPayment) {
          const evidence = yield* cards.evidence(attempt, payment)
          switch (evidence._tag) {
            case "Paid":
              return yield* ledger.settle(attempt.id, { rail: "card", intent: evidence.intent })
            case "Void":
              return yield* ledger.fail(attempt.id, evidence.reason)
            case "Open":
              return yield* defer(attempt, evidence.intent)
          }
        })

        const conclude = Effect.fn("Reconciler.conclude")(function* (attempt: Attempt, submission?: Submission) {
          if (attempt.state !== "pending") return attempt
          return attempt.payment.rail === "card"
            ? yield* concludeCard(attempt, attempt.payment)
            : yield* concludeOnChain(attempt, attempt.payment, submission)
        })

        const concludeDue = Effect.fn("Reconciler.concludeDue")(function* (limit: number, aheadMillis: number) {
          const now = yield* Clock.currentTimeMillis
          const due = yield* ledger.due(limit, now + aheadMillis, leaseMillis)
          yield* Effect.forEach(
            due,
            (attempt) =>
              Effect.catchCause(conclude(attempt), (cause) =>
                Effect.logError("An attempt could not be reconciled", attempt.id, cause),
              ),
            { concurrency: 8, discard: true },
          )
          return due.length
        })

        const sweep = concludeDue(sweepSize, 0)
        const carryOn = Effect.catchCause((cause: Cause.Cause<unknown>) => Effect.logError("The sweep failed", cause))

        // At the start every pending attempt is looked at, leased or not: its server may have been killed.
        yield* concludeDue(startSize, startAheadMillis).pipe(
          carryOn,
          Effect.andThen(sweep.pipe(carryOn, Effect.repeat(Schedule.spaced(config.sweepEvery)))),
          Effect.forkScoped,
        )

        return Reconciler.of({ conclude, sweep })
      }),
    )
}

const hintOf = (submission: Submission | undefined): Option.Option<`0x${string}`> =>
  submission?._tag === "Submitted"
    ? Option.some(submission.transaction)
    : submission?._tag === "Unclear"
      ? submission.transaction
      : Option.none()
