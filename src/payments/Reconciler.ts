/** Ends attempts by evidence alone; the request itself, the client's question, the sweeper and the start all come here. */
import { Clock, Context, Deferred, Duration, Effect, Layer, Option, Schedule } from "effect"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import type { Attempt } from "./ledger/Attempt.ts"
import { CardProcessor } from "./card/CardProcessor.ts"
import * as Trace from "../platform/Trace.ts"
import { Chain } from "./x402/Chain.ts"
import { alreadyUsed } from "./x402/Eip3009.ts"
import { couldNotPay, type Evidence } from "./x402/Evidence.ts"
import type { CardPayment, ChainPayment, Rail } from "./Payment.ts"
import * as Reconciling from "./Reconciling.ts"
import { Fail } from "./ledger/Fail.ts"
import { Settle } from "./ledger/Settle.ts"
import { type OpenInquiry, Sweep } from "./ledger/Sweep.ts"
import { Settlement, type Submission } from "./Settlement.ts"
import * as Timing from "./Timing.ts"

export interface ReconcilerConfig {
  /** How long a request waits for the transaction it was told of. */
  readonly patience: Duration.Duration
  /** Pause between two sweeps, and the least time between two inquiries that agree. */
  readonly sweepEvery: Duration.Duration
  /** Least time between two looks at an attempt that clients ask for; 2 s where absent. */
  readonly lookEvery?: Duration.Duration | undefined
}

/** Seconds until a pending attempt is inquired about again, by how often it was: 2, 4, 8 … 60. */
export const retryAfterSeconds = (checks: number) => Math.min(60, 2 ** Math.min(checks + 1, 6))

/**
 * Who looks: the request that claimed it, a sweep that took it, the first pass of a server, which takes what others hold, too,
 * or somebody beside them. A facilitator is asked again only by a sweep.
 */
type By = "request" | "sweep" | "start" | "beside"

const rails: ReadonlyArray<Rail> = ["x402", "card"]

/** Attempts one sweep takes at once, and the first one after a start. */
const sweepSize = 50
const startSize = 1000

/** Milliseconds a sweep keeps what it took, and how far ahead the first one reaches. */
const leaseMillis = 60_000
const startAheadMillis = 86_400_000

export class Reconciler extends Context.Service<
  Reconciler,
  {
    /**
     * For the request that claimed it: looks for evidence and ends the attempt when there is any; otherwise it stays pending.
     * `submission` is what settlement has just reported, absent for a card.
     */
    conclude(attempt: Attempt, submission?: Submission): Effect.Effect<Attempt>
    /** The same for a client who asks; it never puts the next sweep off. Concurrent callers share it, and so do those of two seconds. */
    look(attempt: Attempt): Effect.Effect<Attempt>
  }
>()("spirit-altar/payments/Reconciler") {
  static readonly layer = (config: ReconcilerConfig) =>
    Layer.effect(
      Reconciler,
      Effect.gen(function* () {
        const chain = yield* Chain
        const cards = yield* CardProcessor
        const { settle } = yield* Settle
        const { fail, failUnsent } = yield* Fail
        const pending = yield* Sweep
        const settlement = yield* Settlement

        const scope = yield* Effect.scope
        const apart = Duration.toMillis(config.sweepEvery)
        const heldFor = leaseMillis + Duration.toMillis(config.patience)

        const defer = Effect.fnUntraced(function* (attempt: Attempt, inquiry: OpenInquiry, by: By) {
          const now = yield* Clock.currentTimeMillis
          // An inquiry that would fail it is repeated as soon as it counts.
          const pause = typeof inquiry.verdict === "string" ? apart : retryAfterSeconds(attempt.checks) * 1000
          yield* pending.defer(attempt.id, inquiry, now + pause, by === "beside")
          yield* Effect.logDebug("attempt stays open", {
            attempt: attempt.id,
            act: attempt.act,
            checks: attempt.checks + 1,
            evidence: inquiry.verdict === undefined ? "nobody could be asked" : (inquiry.verdict ?? "open"),
            nextMs: pause,
          })
          return attempt
        })

        /** One answer may come from a node that is behind: an attempt fails when two inquiries, a sweep apart, agree. */
        const failIfAgreed = Effect.fnUntraced(function* (
          attempt: Attempt,
          inquiry: OpenInquiry & { readonly verdict: string },
          by: By,
          isAlive = false,
        ) {
          const before = attempt.pendingFailure
          return before?.reason === inquiry.verdict && before.ageMillis >= apart
            ? yield* fail(attempt.id, inquiry.verdict, before, isAlive)
            : yield* defer(attempt, inquiry, by)
        })

        const concludeOnChain: (
          attempt: Attempt,
          payment: ChainPayment,
          submission: Submission | undefined,
          by: By,
          hold: Effect.Effect<boolean> | undefined,
        ) => Effect.Effect<Attempt> = Effect.fnUntraced(function* (attempt, payment, submission, by, hold) {
          const isFirst = by === "request"
          const reference = Option.orElse(hintOf(submission), () => payment.transaction)
          const refused = submission?._tag === "Refused" ? submission : undefined
          const unheard = submission?._tag === "Unheard" ? submission.reason : undefined
          const unsent = isFirst ? (unheard ?? (refused?.unsent === true ? refused.reason : undefined)) : undefined
          // What our own relayer refuses is about what it saw, and holds for this inquiry alone.
          const refusal = submission && (refused === undefined || refused.unsent === true ? null : refused.reason)
          const found = yield* chain
            .evidence({
              authorization: payment.authorization,
              fromBlock: payment.fromBlock,
              transaction: reference,
              patience: isFirst ? config.patience : Duration.zero,
            })
            .pipe(
              Timing.inquiry,
              Effect.tapError((error) => Effect.logWarning("The chain could not be asked", error)),
              Effect.option,
            )
          if (Option.isNone(found)) return yield* defer(attempt, { reference, refusal }, by)
          const evidence = found.value
          if (evidence._tag === "Paid") {
            const { block, transaction } = evidence
            return yield* settle(attempt.id, { rail: "x402", payment, transaction, block: block.number })
          }
          const isPoor = evidence._tag === "Open" && evidence.couldNotPay === true
          const isToEnd = evidence._tag === "Void" || evidence.ended !== undefined || isPoor
          const isGone = isToEnd && (yield* settlement.abandon(attempt))
          // What was never sent and is unused, nobody but its payer can bring to the chain any more.
          const reason =
            evidence._tag === "Void"
              ? evidence.reason
              : unsent === undefined
                ? (refusalThatHolds(evidence, submission === undefined ? attempt.refusal : refused?.reason) ??
                  (isPoor && isGone ? couldNotPay : undefined))
                : evidence.unused && unsent !== alreadyUsed
                  ? unsent
                  : undefined
          if (reason === undefined) {
            // Nobody else has just handed it in, and it lives: it goes to the chain again if it is not on its way.
            const resubmitted =
              submission === undefined && evidence._tag === "Open" && evidence.unused
                ? yield* settlement.resubmit(
                    { ...attempt, reverts: evidence.reverts, ...(hold === undefined ? {} : { hold }) },
                    payment,
                  )
                : Option.none()
            return Option.isSome(resubmitted)
              ? yield* concludeOnChain(attempt, payment, resubmitted.value, by, hold)
              : yield* defer(attempt, { reference, refusal, verdict: null }, by)
          }
          return unsent !== undefined
            ? yield* failUnsent(attempt.id, reason, unheard !== undefined)
            : yield* failIfAgreed(attempt, { reference, refusal, verdict: reason }, by, evidence._tag === "Open")
        })

        /** Asking what became of a card's charge is asking for the charge, under its one key. */
        const concludeCard = Effect.fnUntraced(function* (attempt: Attempt, payment: CardPayment, by: By) {
          const evidence = yield* Timing.inquiry(cards.evidence(attempt, payment))
          switch (evidence._tag) {
            case "Paid":
              return yield* settle(attempt.id, { rail: "card", intent: evidence.intent })
            case "Void":
              // The processor's own ruling on its own charge is one inquiry; that it finds or begins none is the absence of one.
              return evidence.isRuling
                ? yield* fail(attempt.id, evidence.reason)
                : yield* failIfAgreed(attempt, { reference: Option.none(), verdict: evidence.reason }, by)
            case "Open":
              return yield* defer(attempt, { reference: evidence.intent, verdict: null }, by)
          }
        })

        const concludeBy = Effect.fnUntraced(function* (
          by: By,
          attempt: Attempt,
          submission?: Submission,
          hold?: Effect.Effect<boolean>,
        ) {
          if (attempt.state !== "pending") return attempt
          return attempt.payment.rail === "card"
            ? yield* concludeCard(attempt, attempt.payment, by)
            : yield* concludeOnChain(attempt, attempt.payment, submission, by, hold)
        }, Trace.span("Reconciler.conclude"))

        const conclude = (attempt: Attempt, submission?: Submission) => concludeBy("request", attempt, submission)

        /** Over when it has looked, or keeps the attempt from all others to hand it in: who is slow to answer that holds up nobody. */
        const passBy = Effect.fnUntraced(function* (by: "sweep" | "start", attempt: Attempt) {
          const passed = yield* Deferred.make<void>()
          const hold = Effect.tap(pending.hold(attempt, heldFor), (isOurs) =>
            isOurs ? Deferred.succeed(passed, undefined) : Effect.void,
          )
          yield* concludeBy(by, attempt, undefined, by === "sweep" ? hold : undefined).pipe(
            Trace.goingOn(attempt.traceparent ?? null),
            Effect.catchCause(DatabaseWatch.failed("An attempt could not be reconciled", { attempt: attempt.id })),
            Effect.ensuring(Deferred.succeed(passed, undefined)),
            Effect.forkIn(scope),
          )
          yield* Deferred.await(passed)
        })

        const concludeDue = Effect.fn("Reconciler.concludeDue")(function* (
          by: "sweep" | "start",
          rail: Rail,
          limit: number,
          aheadMillis: number,
        ) {
          const now = yield* Clock.currentTimeMillis
          const { attempts, taken } = yield* pending.lease(rail, limit, now + aheadMillis, leaseMillis)
          yield* Effect.forEach(attempts, (attempt) => passBy(by, attempt), { concurrency: 8, discard: true })
          return taken
        })

        const carryOn = Effect.catchCause(DatabaseWatch.failed("The sweep failed"))

        const sweeping = (rail: Rail) =>
          // At the start what is leased is inquired about as well: its server may have been killed.
          concludeDue("start", rail, startSize, startAheadMillis).pipe(
            carryOn,
            // Where more is due than one sweep takes, the next one follows at once.
            Effect.andThen(
              concludeDue("sweep", rail, sweepSize, 0).pipe(
                Effect.repeat({ while: (taken) => taken === sweepSize }),
                carryOn,
                Effect.repeat(Schedule.spaced(config.sweepEvery)),
              ),
            ),
          )

        // Each rail by itself: a processor that hangs keeps no transfer waiting.
        yield* Effect.forEach(rails, (rail) => Effect.forkScoped(sweeping(rail)), { discard: true })
        const look = yield* Reconciling.make(
          (attempt) => concludeBy("beside", attempt),
          config.lookEvery ?? Reconciling.lookEvery,
        )

        return Reconciler.of({ conclude, look })
      }),
    )
}

/**
 * A refusal counts only while the chain agrees: unused, and the transfer would revert. Whoever refuses what would
 * succeed may have broadcast it already.
 */
const refusalThatHolds = (evidence: Evidence & { readonly _tag: "Open" }, refusal: string | null | undefined) =>
  evidence.unused && evidence.reverts ? (refusal ?? undefined) : undefined

const hintOf = (submission: Submission | undefined): Option.Option<`0x${string}`> =>
  submission?._tag === "Submitted"
    ? Option.some(submission.transaction)
    : submission?._tag === "Unclear"
      ? submission.transaction
      : Option.none()
