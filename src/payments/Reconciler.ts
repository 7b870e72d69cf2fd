/** Gathers the evidence about an attempt, consults the protocol's table, and carries out its decision. */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import * as Trace from "../platform/Trace.ts"
import { CardProcessor } from "./card/Processor.ts"
import { inquiryTimed } from "./Changes.ts"
import type { Attempt, PendingAttempt } from "./store/Attempt.ts"
import { Fail } from "./store/Fail.ts"
import { Settle } from "./store/Settle.ts"
import { type OpenInquiry, Sweep } from "./store/Due.ts"
import type { CardPayment, ChainPayment, Payment, Proof } from "./Payment.ts"
import { decide, type Found, retryAfterSeconds, submissionStateOf } from "./decision/Decision.ts"
import * as SharedInquiries from "./SharedInquiries.ts"
import { Settlement, type Standing, type Submission } from "./settle/Settlement.ts"
import * as SweepLoop from "./SweepLoop.ts"
import { Chain } from "./chain/Chain.ts"
import { findingOf } from "./chain/Evidence.ts"
import { log } from "../platform/LogMessages.ts"

export interface ReconcilerConfig {
  /** How long a request waits for the reported transaction. */
  readonly patience: Duration.Duration
  /** Pause between two sweeps, and the minimum time between two inquiries that agree. */
  readonly sweepEvery: Duration.Duration
  /** Minimum time between two inquiries that clients cause; 2 s if absent. */
  readonly inquiryInterval?: Duration.Duration | undefined
}

/** Only the claiming request waits for its transaction. A client's inquiry never postpones the next sweep. */
type Caller = "request" | "client" | "sweep" | "start"

interface Inquiry {
  readonly found: Found<Proof>
  readonly reference: Option.Option<string>
  /** The payment with the reference, for the caller's answer. */
  readonly payment: Payment
}

export class Reconciler extends Context.Service<Reconciler>()("spirit-altar/payments/Reconciler", {
  make: Effect.fnUntraced(function* (config: ReconcilerConfig) {
    const chain = yield* Chain
    const cards = yield* CardProcessor
    const { settle } = yield* Settle
    const { fail, failUnsent } = yield* Fail
    const pending = yield* Sweep
    const settlement = yield* Settlement
    const apart = Duration.toMillis(config.sweepEvery)

    const defer = Effect.fnUntraced(function* (attempt: Attempt, inquiry: OpenInquiry, caller: Caller) {
      const now = yield* Clock.currentTimeMillis
      // An inquiry that would fail the attempt is repeated as soon as the repetition counts.
      const pause = typeof inquiry.verdict === "string" ? apart : retryAfterSeconds(attempt.checks) * 1000
      yield* pending.defer(attempt.id, inquiry, now + pause, caller === "client")
      yield* log("attempt deferred", {
        attempt: attempt.id,
        act: attempt.act,
        checks: attempt.checks + 1,
        evidence: inquiry.verdict === undefined ? "no answer" : (inquiry.verdict ?? "open"),
        nextMs: pause,
      })
      return attempt
    })

    const askChain = Effect.fnUntraced(function* (
      attempt: Attempt,
      payment: ChainPayment,
      submission: Submission | undefined,
      patience: Duration.Duration,
    ): Effect.fn.Return<Inquiry> {
      const { authorization, fromBlock } = payment
      const reference = Option.orElse(hintOf(submission), () => payment.transaction)
      const known = { reference, payment: { ...payment, transaction: reference } }
      const found = yield* chain.evidence({ authorization, fromBlock, transaction: reference, patience }).pipe(
        inquiryTimed,
        Effect.map(findingOf),
        Effect.tapError((error) => log("chain inquiry failed", {}, error)),
        Effect.orElseSucceed(() => ({ is: "silence" }) as const),
      )
      if (found.is === "paid") {
        const { block, transaction } = found.proof
        return {
          ...known,
          found: { is: "paid", proof: { rail: "x402", payment, transaction, block: block.number } },
        }
      }
      const standing = found.is === "silence" ? "unknown" : yield* settlement.standing(attempt.id, payment)
      return { ...known, found: withStanding(found, standing) }
    })

    /** Repeating the charge under its one key returns its outcome. */
    const askProcessor = Effect.fnUntraced(function* (
      attempt: Attempt,
      payment: CardPayment,
    ): Effect.fn.Return<Inquiry> {
      const evidence = yield* inquiryTimed(cards.evidence(attempt, payment))
      const reference = evidence._tag === "Open" ? evidence.intent : Option.none()
      const known = { reference, payment }
      if (evidence._tag === "Open") return { ...known, found: { is: "nothing" } }
      if (evidence._tag === "Paid")
        return { ...known, found: { is: "paid", proof: { rail: "card", intent: evidence.intent } } }
      return { ...known, found: { is: evidence.isRuling ? "ruled" : "void", reason: evidence.reason } }
    })

    /** Resubmits the payment unless it may be in flight. */
    const resubmit = (attempt: PendingAttempt, reverts: boolean, hold: Effect.Effect<boolean> | undefined) =>
      attempt.payment.rail === "card"
        ? Effect.succeedNone
        : settlement.resubmit({ ...attempt, reverts, ...(hold === undefined ? {} : { hold }) }, attempt.payment)

    const concludeFor = Effect.fnUntraced(function* (
      caller: Caller,
      attempt: Attempt,
      reported?: Submission,
      hold?: Effect.Effect<boolean>,
    ): Effect.fn.Return<Attempt> {
      if (attempt.state !== "pending") return attempt
      const { payment, pendingFailure } = attempt
      const isFirst = caller === "request"
      let submission = reported
      while (true) {
        const inquiry = yield* payment.rail === "card"
          ? askProcessor(attempt, payment)
          : askChain(attempt, payment, submission, isFirst ? config.patience : Duration.zero)
        const { found, reference } = inquiry
        const open = { ...attempt, payment: inquiry.payment }
        const left = { reference, refusal: refusalOf(submission) }
        const decision = decide(found, submissionStateOf(submission, attempt.refusal, isFirst), pendingFailure, apart)
        switch (decision.is) {
          case "settle":
            return yield* settle(attempt.id, decision.proof)
          case "fail":
            return yield* fail(attempt.id, decision.reason)
          case "fail unsent":
            return yield* failUnsent(attempt.id, decision.reason, submission?._tag === "Unheard")
          case "agreed":
            return yield* fail(attempt.id, decision.doubt.reason, decision.doubt, decision.isAlive)
          case "doubt":
            return yield* defer(open, { ...left, verdict: decision.reason }, caller)
          case "keep":
            return yield* defer(open, left, caller)
          case "wait":
            return yield* defer(open, { ...left, verdict: null }, caller)
          case "submit": {
            const submitted = yield* resubmit(attempt, found.is === "reverts", hold)
            if (Option.isNone(submitted)) return yield* defer(open, { ...left, verdict: null }, caller)
            submission = submitted.value
          }
        }
      }
    }, Trace.span("Reconciler.conclude"))

    yield* SweepLoop.start({
      pending,
      conclude: (caller, attempt, hold) => concludeFor(caller, attempt, undefined, hold),
      sweepEvery: config.sweepEvery,
      patience: config.patience,
    })
    /** Inquires for a client. Concurrent clients share an inquiry, and its result holds for two seconds. */
    const inquire = yield* SharedInquiries.make(
      (attempt) => concludeFor("client", attempt),
      config.inquiryInterval ?? SharedInquiries.inquiryInterval,
    )

    return {
      /**
       * Inquires for the request that claimed the attempt. Without evidence the attempt stays pending. `submission` is
       * the settlement's report, absent for a card.
       */
      conclude: (attempt: Attempt, submission?: Submission) => concludeFor("request", attempt, submission),
      inquire,
    }
  }),
}) {
  static readonly layer = (config: ReconcilerConfig) => Layer.effect(this, this.make(config))
}

/** An unused authorization fails an attempt early once our transaction is final and did not pay, and not before. */
const withStanding = <Proof>(found: Found<Proof>, standing: Standing): Found<Proof> => {
  if (standing === "spent" && (found.is === "reverts" || found.is === "unused")) return { is: "poor" }
  return standing === "open" && found.is === "poor" ? { is: "reverts" } : found
}

const hintOf = (submission: Submission | undefined): Option.Option<`0x${string}`> =>
  submission?._tag === "Submitted"
    ? Option.some(submission.transaction)
    : submission?._tag === "Unclear"
      ? submission.transaction
      : Option.none()

/** The refusal to record. A refusal of our own relayer concerns this inquiry only. */
const refusalOf = (submission: Submission | undefined) =>
  submission && (submission._tag === "Refused" && submission.unsent !== true ? submission.reason : null)
