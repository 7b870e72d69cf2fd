/** Gathers the evidence about an attempt, consults the protocol's table, and carries out its decision. */
import * as Trace from "../platform/Trace.ts"
import { Context, Duration, Effect, Fiber, FiberMap, Layer, Option } from "effect"
import { BoundedMap } from "../platform/BoundedMap.ts"
import { log } from "../platform/LogMessages.ts"
import type { Ended } from "./Guard.ts"
import { reportChange } from "./Changes.ts"
import { apartOf, decide, retryAfterSeconds, submissionStateOf } from "./decision.ts"
import { type RailName, referenceOf } from "./Payment.ts"
import type { Inquiry } from "./Rail.ts"
import { Rails } from "./Rails.ts"
import type { Submission } from "./x402/settle/Settlement.ts"
import type { Attempt, Doubt, SettledAttempt } from "./store/Attempt.ts"
import { Due, type OpenInquiry } from "./store/Due.ts"
import { Fail } from "./store/Fail.ts"
import { Settle } from "./store/Settle.ts"

/** Minimum time between two inquiries that clients cause. No `Retry-After` is shorter. */
export const inquiryInterval = Duration.seconds(2)

/**
 * Inquires about an attempt that was just read. No client owns an inquiry, so a disconnect stops none. Only an
 * inquiry that leaves the attempt pending starts a pause.
 */
export const shareInquiries = Effect.fnUntraced(function* <E>(
  inquire: (attempt: Attempt) => Effect.Effect<Attempt, E>,
  every: Duration.Duration,
) {
  const inquiries = yield* FiberMap.make<string, Attempt, E>()
  const run = yield* FiberMap.runtime(inquiries)<never>()
  const pauses = yield* FiberMap.make<string>()
  const begin = (attempt: Attempt) =>
    Effect.tap(inquire(attempt), (seen) =>
      seen.state === "pending" && !Duration.isZero(every)
        ? FiberMap.run(pauses, attempt.id, Effect.sleep(every))
        : Effect.void,
    )

  /** Looks up or starts the inquiry in one step: `FiberMap.run` interrupts an earlier fiber of the same key. */
  const joined = (attempt: Attempt) =>
    Effect.contextWith((context: Context.Context<never>) =>
      Fiber.join(
        Option.getOrElse(FiberMap.getUnsafe(inquiries, attempt.id), () =>
          run(attempt.id, Effect.provideContext(begin(attempt), context)),
        ),
      ),
    )

  return Effect.fnUntraced(function* (attempt: Attempt): Effect.fn.Return<Attempt, E> {
    if (attempt.state !== "pending" || FiberMap.hasUnsafe(pauses, attempt.id)) return attempt
    const seen = yield* joined(attempt)
    return seen.state === "pending" ? attempt : seen
  })
})

/** Maximum attempts whose later end is reported; the oldest are dropped. */
const endingsKept = 10_000

export interface ReconcilerConfig {
  /** Pause between two sweeps, and the minimum time between two inquiries that agree. */
  readonly sweepEvery: Duration.Duration
  /** Minimum time between two inquiries that clients cause; 2 s if absent. */
  readonly inquiryInterval?: Duration.Duration | undefined
}

/** Only the claiming request waits for its transaction. A client's inquiry never postpones the next sweep. */
type Caller = "request" | "client" | "sweep"

export class Reconciler extends Context.Service<Reconciler>()("spirit-altar/payments/Reconciler", {
  make: Effect.fnUntraced(function* (config: ReconcilerConfig) {
    const rails = yield* Rails
    const { settle } = yield* Settle
    const { fail, failUnsent } = yield* Fail
    const due = yield* Due
    const sweepMillis = Duration.toMillis(config.sweepEvery)
    const endings = new BoundedMap<string, Ended>(endingsKept)

    const defer = Effect.fnUntraced(function* (attempt: Attempt, inquiry: OpenInquiry, caller: Caller) {
      // A reason to fail is looked for again after one sweep, the minimum time between two inquiries that agree.
      const pause = typeof inquiry.doubt === "string" ? sweepMillis : retryAfterSeconds(attempt.checks) * 1000
      yield* due.defer(attempt, inquiry, pause, caller === "client")
      yield* log("attempt deferred", {
        attempt: attempt.id,
        act: attempt.act,
        checks: attempt.checks + 1,
        evidence: inquiry.doubt === undefined ? "no answer" : (inquiry.doubt ?? "open"),
        nextMs: pause,
      })
      return attempt
    })

    /** Marks a settled act final. The scan usually does this; a node without logs needs it. */
    const confirm = Effect.fnUntraced(function* (
      { act, acceptedAt, id }: SettledAttempt,
      { finality = Effect.succeedNone }: Inquiry<RailName>,
    ) {
      const final = yield* finality
      if (Option.isNone(final)) return
      const { block, transaction } = final.value
      if (!(yield* due.confirm(id, block, transaction))) return
      yield* reportChange({
        id,
        act,
        acceptedAt,
        from: "settled",
        to: "final",
        evidence: "transfer found",
        transaction,
      })
    })

    /** The act and its answer stay. The first server to record the loss raises the alarm. */
    const lose = Effect.fnUntraced(function* ({ act, id, payment }: Attempt, doubt: Doubt) {
      if (!(yield* due.lose(id, doubt))) return
      const transaction = Option.getOrUndefined(referenceOf(payment))
      yield* reportChange({ id, act, from: "settled", to: "lost", evidence: doubt.reason, transaction })
      yield* log("payment lost", { attempt: id, act, transaction, reason: doubt.reason })
    })

    /** The report of another submission of a pending attempt; none if its payment may be in flight. */
    const resubmit = Effect.fnUntraced(function* (attempt: Attempt) {
      const { id, payment, state } = attempt
      const submission = yield* rails.of(payment.rail).resubmit(attempt, payment)
      if (state !== "settled") return submission
      if (Option.isSome(submission))
        yield* log("payment orphaned", { attempt: id, resubmission: submission.value._tag })
      return Option.none<Submission>()
    })

    const concludeFor = Effect.fnUntraced(function* (caller: Caller, attempt: Attempt, reported?: Submission) {
      // Only a sweep inquires about a settled attempt, whose transfer may be orphaned.
      const isEnded = attempt.state === "failed" || (attempt.state === "settled" && caller !== "sweep")
      if (isEnded) return attempt
      const { id, payment } = attempt
      const isFirst = caller === "request"
      let submission = reported
      while (true) {
        const inquiry = yield* rails.of(payment.rail).evidence(attempt, payment, submission, isFirst)
        const { finding, reference } = inquiry
        const later = (doubt?: string | null) =>
          defer({ ...attempt, payment: inquiry.payment }, { reference, doubt }, caller)
        const state =
          attempt.state === "settled" ? ({ is: "settled" } as const) : submissionStateOf(submission, isFirst)
        const decision = decide(finding, state, attempt.doubt, apartOf(finding, Option.isSome(reference), sweepMillis))
        switch (decision.is) {
          case "settle":
            if (attempt.state === "pending") return yield* settle(id, decision.proof)
            return yield* Effect.andThen(confirm(attempt, inquiry), later(null))
          case "fail":
            return yield* fail(id, decision.reason)
          case "fail unsent":
            return yield* failUnsent(id, decision.reason)
          case "agreed":
            if (attempt.state === "pending") return yield* fail(id, decision.doubt.reason, decision.doubt)
            return yield* Effect.as(lose(attempt, decision.doubt), attempt)
          case "doubt":
            return yield* later(decision.reason)
          case "keep":
            return yield* later()
          case "wait":
            return yield* later(null)
          case "submit": {
            const submitted = yield* resubmit(attempt)
            if (Option.isNone(submitted)) return yield* later(null)
            submission = submitted.value
          }
        }
      }
    }, Trace.span("Reconciler.conclude"))

    /** Inquires after the claiming request was answered, and reports an end to the guard that counted the attempt. */
    const concludeLater = (caller: Caller, attempt: Attempt) =>
      Effect.tap(concludeFor(caller, attempt), ({ id, state }) => {
        const ended = state === "pending" ? undefined : endings.get(id)
        if (ended === undefined) return Effect.void
        endings.delete(id)
        return ended(state === "settled")
      })

    /** Inquires for a client. Concurrent clients share an inquiry, and its result holds for two seconds. */
    const inquire = yield* shareInquiries(
      (attempt) => concludeLater("client", attempt),
      config.inquiryInterval ?? inquiryInterval,
    )

    return {
      /**
       * Inquires for the request that claimed the attempt. Without evidence the attempt stays pending. `submission` is
       * the report of its rail.
       */
      conclude: (attempt: Attempt, submission?: Submission) => concludeFor("request", attempt, submission),
      inquire,
      sweep: (attempt: Attempt) => concludeLater("sweep", attempt),
      /** Reports that an attempt is charged; of a pending one, how it ends, if this server sees it. */
      reportEnd: ({ id, state }: Attempt, ended: Ended): Effect.Effect<void> =>
        state === "settled"
          ? ended(true)
          : state === "failed"
            ? Effect.void
            : Effect.sync(() => endings.set(id, ended)),
    }
  }),
}) {
  static readonly layer = (config: ReconcilerConfig) => Layer.effect(this, this.make(config))
}
