/** Runs a purchase: gets the price, signs once, sends, polls the outcome, and compares it with the order. */
import type { Recorded } from "../../../schema/payments/Recorded.ts"
import type { Challenge } from "./Challenge.ts"
import {
  type Body,
  bodyOf,
  type Outcome,
  readOutcome,
  type Refusal,
  type Reply,
  type Settlement,
  unknownAnswer,
  waitOf,
} from "./Outcome.ts"
import { type Difference, differencesOf } from "./Recorded.ts"
import { eventOf, type Patience, type State, table } from "./States.ts"

/** A redirect is an error, so a payment reaches only the URL it was signed for. */
const posted = () => ({ method: "POST", redirect: "error", signal: AbortSignal.timeout(120_000) }) as const

export type Exchange = (url: string, init: RequestInit) => Promise<Response>

const replyOf = async (response: Response): Promise<Reply> => ({
  status: response.status,
  headers: response.headers,
  body: bodyOf(await response.text()),
})

/** Sends the same bytes under the same key, with the signed payment once there is one. Rejects after two minutes. */
const send = async (exchange: Exchange, { body, key, url }: Pursued, payment: string | undefined): Promise<Reply> =>
  replyOf(
    await exchange(url, {
      ...posted(),
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        "idempotency-key": key,
        ...(payment === undefined ? {} : { "payment-signature": payment }),
      },
      body: body === "" ? null : body,
    }),
  )

/** Asks an altar for the outcome of a key; free, and never sends a payment. */
const reconcile = async (exchange: Exchange, altar: string, key: string): Promise<Reply> =>
  replyOf(await exchange(`${altar}/api/reconcile/${key}`, { ...posted(), headers: { accept: "application/json" } }))

export interface Pursued {
  /** The URL of the request, which a payment is bound to. */
  readonly url: string
  readonly key: string
  /** JSON; empty when there is none. */
  readonly body: string
  /** The public URL of the altar; empty in its own pages. */
  readonly altar: string
  /** `PAYMENT-SIGNATURE`, signed earlier. */
  readonly payment: string | undefined
  /** Atomic USDC. */
  readonly amountAtomic: string | undefined
  /** The key was drawn for this purchase, so every outcome under it is about this act. */
  readonly ownsKey?: boolean
  /** Whether to ask for the outcome before the payment is sent. */
  readonly isResumed?: boolean
  readonly recorded?: Recorded | undefined
}

export interface Waiting {
  /** The request that had no outcome. */
  readonly state: State
  readonly seconds: number
  /** The reason when the outcome is unknown; undefined while the altar settles. */
  readonly because: string | undefined
}

export interface Ports<Answer, Stop> {
  readonly exchange: Exchange
  /** The reason of a missing answer, in one line. */
  readonly reasonOf: (error: unknown) => string
  readonly wait: (seconds: number) => Promise<unknown>
  /** Signs and stores the payment before it returns, or stops. */
  readonly sign: (challenge: Challenge | undefined) => Promise<{ readonly payment: string } | { readonly stop: Stop }>
  /** The answer in the contract's form; undefined for any other. */
  readonly answerOf: (body: Body) => Promise<Answer | undefined>
  readonly asking: (state: State) => void
  readonly waiting: (waiting: Waiting) => void
}

export type End<Answer, Stop> =
  | { readonly end: "settled"; readonly answer: Answer }
  /** The altar recorded something else than was bought. */
  | { readonly end: "misrecorded"; readonly differences: ReadonlyArray<Difference>; readonly settlement: Settlement }
  /** With the payment that was sent, if one was. */
  | { readonly end: "refused"; readonly refusal: Refusal; readonly payment: string | undefined }
  | { readonly end: "stopped"; readonly stop: Stop }
  /** Without an outcome for too long: a signed purchase stays open. */
  | { readonly end: "open"; readonly reason: string; readonly refusal: Refusal | undefined; readonly isSigned: boolean }

/** The reason to show; the altar has given none while it settles. */
const whyOf = (outcome: Outcome): string =>
  "refusal" in outcome ? outcome.refusal.message : "reason" in outcome ? outcome.reason : "it is still settling"

/** Seconds to wait: `Retry-After` if given, otherwise one for each unanswered request, up to ten. */
const secondsAfter = (outcome: Outcome, unanswered: number): number => {
  if (outcome.tag === "pending") return outcome.seconds
  const { retryAfter } = "refusal" in outcome ? outcome.refusal : "reason" in outcome ? outcome : {}
  return waitOf(retryAfter ?? Math.min(10, unanswered))
}

/** Follows a purchase to its end. Submits the same bytes each time, and signs at most once. */
export const pursue = async <Answer, Stop>(
  pursued: Pursued,
  patience: Patience,
  ports: Ports<Answer, Stop>,
): Promise<End<Answer, Stop>> => {
  let { payment } = pursued
  let state: State = payment === undefined ? "price" : pursued.isResumed === true ? "ask" : "pay"
  let [unanswered, all] = [0, 0]
  const request = (): Promise<Outcome> =>
    (state === "ask"
      ? reconcile(ports.exchange, pursued.altar, pursued.key)
      : send(ports.exchange, pursued, payment)
    ).then(readOutcome, (error: unknown): Outcome => ({ tag: "silent", reason: ports.reasonOf(error) }))
  while (true) {
    ports.asking(state)
    let outcome = await request()
    all += 1
    let isForeign = false
    if (outcome.tag === "settled") {
      const { settlement } = outcome
      const differences = await differencesOf({ ...pursued, payment }, settlement)
      isForeign = differences.length > 0 && state === "ask" && pursued.ownsKey !== true
      if (differences.length > 0 && !isForeign) return { end: "misrecorded", differences, settlement }
      const answer = isForeign ? undefined : await ports.answerOf(settlement.body)
      if (answer !== undefined) return { end: "settled", answer }
      if (!isForeign) outcome = { tag: "silent", reason: unknownAnswer }
    }
    const event = eventOf(outcome, state)
    const move = isForeign ? "send" : table[state][event]
    const isSigned = payment !== undefined
    if (move === "sign" && outcome.tag === "unpaid") {
      const signed = await ports.sign(outcome.challenge)
      if ("stop" in signed) return { end: "stopped", stop: signed.stop }
      ;({ payment } = signed)
      ;[state, unanswered] = ["pay", 0]
      continue
    }
    if (move === "refuse" && "refusal" in outcome) return { end: "refused", refusal: outcome.refusal, payment }
    const hasNone = event === "busy" || event === "silent"
    unanswered = hasNone ? unanswered + 1 : event === "pending" ? 0 : unanswered
    if (unanswered >= (isSigned ? patience.signed : patience.unsigned) || all >= patience.all) {
      const refusal = outcome.tag === "refused" ? outcome.refusal : undefined
      return { end: "open", reason: whyOf(outcome), refusal, isSigned }
    }
    if (hasNone || event === "pending") {
      const seconds = secondsAfter(outcome, unanswered)
      ports.waiting({ state, seconds, because: hasNone ? whyOf(outcome) : undefined })
      await ports.wait(seconds)
    }
    state = move === "ask" ? "ask" : isSigned ? "pay" : "price"
  }
}
