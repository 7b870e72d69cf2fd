/** Gathers the evidence about an attempt, consults the protocol's table, and carries out its decision. */
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import * as Trace from "../platform/Trace.ts"
import { Context, Duration, Effect, Fiber, FiberMap, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import { BoundedMap } from "../platform/BoundedMap.ts"
import { log } from "../platform/LogMessages.ts"
import type { Ended } from "./Act.ts"
import { CardProcessor } from "./card/Processor.ts"
import { Chain } from "./x402/chain/Chain.ts"
import { Evidence, findingOf } from "./x402/chain/Evidence.ts"
import { isFinalBy } from "./x402/chain/Rpc.ts"
import { changed, inquiryTimed } from "./Changes.ts"
import { apartOf, decide, type Found, retryAfterSeconds, submissionStateOf } from "./decision.ts"
import type { CardPayment, ChainPayment, Payment, Proof } from "./Payment.ts"
import { Settlement, type Submission } from "./x402/settle/Settlement.ts"
import type { Attempt, FailureVerdict, SettledAttempt } from "./store/Attempt.ts"
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
  readonly network: string
  /** How long a request waits for the reported transaction. */
  readonly patience: Duration.Duration
  /** Pause between two sweeps, and the minimum time between two inquiries that agree. */
  readonly sweepEvery: Duration.Duration
  /** Minimum time between two inquiries that clients cause; 2 s if absent. */
  readonly inquiryInterval?: Duration.Duration | undefined
}

/** Only the claiming request waits for its transaction. A client's inquiry never postpones the next sweep. */
type Caller = "request" | "client" | "sweep"

interface Inquiry {
  readonly found: Found<Proof>
  readonly reference: Option.Option<string>
  /** The payment with the reference, for the caller's answer. */
  readonly payment: Payment
  /** Whether the transfer that was found is in a final block. */
  readonly isFinal?: Effect.Effect<boolean>
}

export class Reconciler extends Context.Service<Reconciler>()("spirit-altar/payments/Reconciler", {
  make: Effect.fnUntraced(function* (config: ReconcilerConfig) {
    const { evidence } = yield* Evidence
    const node = yield* Chain
    const cards = yield* Effect.serviceOption(CardProcessor)
    const { settle } = yield* Settle
    const { fail, failUnsent } = yield* Fail
    const due = yield* Due
    const settlement = yield* Settlement
    const sweepMillis = Duration.toMillis(config.sweepEvery)
    const inquiring = DatabaseWatch.watched("chain inquiry failed")
    const endings = new BoundedMap<string, Ended>(endingsKept)

    const defer = Effect.fnUntraced(function* (attempt: Attempt, inquiry: OpenInquiry, caller: Caller) {
      // A reason to fail is looked for again after one sweep, the minimum time between two inquiries that agree.
      const pause = typeof inquiry.verdict === "string" ? sweepMillis : retryAfterSeconds(attempt.checks) * 1000
      yield* due.defer(attempt, inquiry, pause, caller === "client")
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
      const { authorization, fromBlock, network } = payment
      const reference = Option.orElse(hintOf(submission), () => payment.transaction)
      const known = { reference, payment: { ...payment, transaction: reference } }
      // This node cannot see a payment on another network.
      if (network !== config.network) return { ...known, found: { is: "silence" } }
      const conclusion = yield* evidence({ authorization, fromBlock, transaction: reference, patience }).pipe(
        inquiryTimed,
        (inquiry) => inquiring(inquiry, { attempt: attempt.id }),
        Effect.option,
      )
      if (Option.isNone(conclusion)) return { ...known, found: { is: "silence" } }
      const found = findingOf(conclusion.value)
      if (found.is === "paid") {
        const { block, transaction } = found.proof
        const proof: Proof = { rail: "x402", payment, transaction, block: block.number }
        const isFinal = Effect.orElseSucceed(isFinalBy(node, block), () => false)
        return { ...known, found: { is: "paid", proof }, isFinal }
      }
      // Answers that contradict each other say nothing about the wallet: it may have paid.
      if (found.is !== "unused" && found.is !== "void") return { ...known, found }
      const isSpent = yield* settlement.isSpent(attempt.id, payment, found.is === "void")
      // While the authorization is unused, only a final transaction of ours that did not pay fails the attempt early.
      return { ...known, found: found.is === "unused" && isSpent ? { is: "spent" } : found }
    })

    /** Asks by repeating the charge: its idempotency key makes the processor answer the first outcome. */
    const askProcessor = Effect.fnUntraced(function* (
      attempt: Attempt,
      payment: CardPayment,
    ): Effect.fn.Return<Inquiry> {
      // Without a processor, attempts of an earlier configuration stay as they are.
      if (Option.isNone(cards)) return { reference: Option.none(), payment, found: { is: "nothing" } }
      const evidence = yield* inquiryTimed(cards.value.evidence(attempt, payment))
      const reference = evidence._tag === "Open" ? evidence.intent : Option.none()
      const known = { reference, payment }
      if (evidence._tag === "Open") return { ...known, found: { is: "nothing" } }
      if (evidence._tag === "Paid")
        return { ...known, found: { is: "paid", proof: { rail: "card", intent: evidence.intent } } }
      return { ...known, found: { is: evidence.isRuling ? "ruled" : "void", reason: evidence.reason } }
    })

    /** Resubmits the payment unless it may be in flight. */
    const resubmit = (attempt: Attempt) =>
      attempt.payment.rail === "card" ? Effect.succeedNone : settlement.resubmit(attempt, attempt.payment)

    /** Marks a settled act final. The scan usually does this; a node without logs needs it. */
    const confirm = Effect.fnUntraced(function* (attempt: SettledAttempt, proof: Proof, { isFinal }: Inquiry) {
      const { act, acceptedAt, id } = attempt
      if (proof.rail === "card" || isFinal === undefined || !(yield* isFinal)) return
      const { block, transaction } = proof
      if (!(yield* due.confirm(id, block, transaction))) return
      yield* changed({ id, act, acceptedAt, from: "settled", to: "final", evidence: "transfer found", transaction })
    })

    /** The act and its answer stay. The first server to record the loss raises the alarm. */
    const lose = Effect.fnUntraced(function* ({ act, id, payment }: Attempt, verdict: FailureVerdict) {
      if (!(yield* due.lose(id, verdict))) return
      const transaction = payment.rail === "x402" ? Option.getOrUndefined(payment.transaction) : undefined
      yield* changed({ id, act, from: "settled", to: "lost", evidence: verdict.reason, transaction })
      yield* log("payment lost", { attempt: id, act, transaction, reason: verdict.reason })
    })

    const concludeFor = Effect.fnUntraced(function* (
      caller: Caller,
      attempt: Attempt,
      reported?: Submission,
    ): Effect.fn.Return<Attempt, SqlError.SqlError> {
      // Only a sweep inquires about a settled attempt, whose transfer may be orphaned.
      if (attempt.state === "failed" || (attempt.state === "settled" && caller !== "sweep")) return attempt
      const { payment, pendingFailure } = attempt
      const isFirst = caller === "request"
      let submission = reported
      while (true) {
        const inquiry = yield* payment.rail === "card"
          ? askProcessor(attempt, payment)
          : askChain(attempt, payment, submission, isFirst ? config.patience : Duration.zero)
        const { found, reference } = inquiry
        const open = { ...attempt, payment: inquiry.payment }
        const state =
          attempt.state === "settled" ? ({ is: "settled" } as const) : submissionStateOf(submission, isFirst)
        const decision = decide(found, state, pendingFailure, apartOf(found, Option.isSome(reference), sweepMillis))
        switch (decision.is) {
          case "settle":
            if (attempt.state === "pending") return yield* settle(attempt.id, decision.proof)
            yield* confirm(attempt, decision.proof, inquiry)
            return yield* defer(attempt, { reference, verdict: null }, caller)
          case "fail":
            return yield* fail(attempt.id, decision.reason)
          case "fail unsent":
            return yield* failUnsent(attempt.id, decision.reason)
          case "agreed":
            if (attempt.state === "pending") return yield* fail(attempt.id, decision.doubt.reason, decision.doubt)
            return yield* Effect.as(lose(attempt, decision.doubt), attempt)
          case "doubt":
            return yield* defer(open, { reference, verdict: decision.reason }, caller)
          case "keep":
            return yield* defer(open, { reference }, caller)
          case "wait":
            return yield* defer(open, { reference, verdict: null }, caller)
          case "submit": {
            const submitted = yield* resubmit(attempt)
            if (attempt.state === "settled" && Option.isSome(submitted))
              yield* log("payment orphaned", { attempt: attempt.id, resubmission: submitted.value._tag })
            if (attempt.state === "settled" || Option.isNone(submitted))
              return yield* defer(open, { reference, verdict: null }, caller)
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
       * the settlement's report, absent for a card.
       */
      conclude: (attempt: Attempt, submission?: Submission) => concludeFor("request", attempt, submission),
      inquire,
      sweep: (attempt: Attempt) => concludeLater("sweep", attempt),
      /** Reports the later end of a pending attempt, if this server sees it. */
      reportEnd: ({ id }: Attempt, ended: Ended) => Effect.sync(() => endings.set(id, ended)),
    }
  }),
}) {
  static readonly layer = (config: ReconcilerConfig) => Layer.effect(this, this.make(config))
}

const hintOf = (submission: Submission | undefined): Option.Option<`0x${string}`> =>
  submission?._tag === "Submitted"
    ? Option.some(submission.transaction)
    : submission?._tag === "Unclear"
      ? submission.transaction
      : Option.none()
