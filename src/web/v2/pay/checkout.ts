/** The steps of a purchase: priced, checked, signed once, settled; an open outcome is asked for, never paid again. */
import { memberAt } from "../../../buyer/core/Json.ts"
import { priceUsd, networkName } from "../../../../schema/payments/Usdc.ts"
import type { Challenge } from "../../../buyer/core/Challenge.ts"
import { mismatchOf } from "../../../buyer/core/Expectation.ts"
import type { Body, Refusal } from "../../../buyer/core/Outcome.ts"
import { type End, type Pursued, pursue, type Waiting } from "../../../buyer/core/Loop.ts"
import { bodyOf, failureOf, now } from "../../../buyer/core/Purchase.ts"
import { misrecorded } from "../../../buyer/core/Recorded.ts"
import { page } from "../../../buyer/core/States.ts"
import { endsOf } from "../page/dom.ts"
import { Refused } from "../../../buyer/PurchaseError.ts"
import { sentenceOf, unreachable } from "../page/http.ts"
import { amend, signOnce } from "./journal.ts"
import { abandon, forget, leave, openFor, pending, type Purchase, recordedOf, remember, settle } from "./purchase.ts"
import type { Wallet } from "./wallet.ts"

export type Result =
  | { readonly tag: "settled"; readonly body: Body; readonly purchase: Purchase }
  /** Final without an act. A retry may succeed after `retryAfter` seconds; 0 when there was no answer. */
  | {
      readonly tag: "refused"
      readonly message: string
      readonly retryAfter?: number | undefined
      /** The member of the body at fault. */
      readonly field?: string | undefined
    }
  /** Not final: the same key resumes it. `isMisrecorded` when the answer differs from the purchase. */
  | { readonly tag: "open"; readonly message: string; readonly isMisrecorded?: boolean }

export interface Progress {
  /** `open` is a step whose end is unknown while nothing more is sent; `none` was not taken. */
  readonly step: (
    name: "price" | "sign" | "settle",
    state: "waits" | "done" | "failed" | "open" | "none",
    words: string,
  ) => void
}

const minutesOf = (seconds: number) =>
  seconds < 120 ? `${Math.ceil(seconds)} seconds` : `${Math.ceil(seconds / 60)} minutes`

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

/** A reason of the loop as a sentence. */
const sentence = (reason: string) => `${reason.charAt(0).toUpperCase()}${reason.slice(1).replace(/[.]$/u, "")}.`

const waitingWords = ({ because, seconds, state }: Waiting): string => {
  if (because === undefined) return "Not known yet. Asking again, not paying again."
  const next = `${state === "ask" ? "Asking again" : "Asking how it ended"} in ${seconds} s, not paying again.`
  return `${sentence(because)} ${next}`
}

const evidenceKept = "Your signed payment and the altar's answer are kept in this browser."

/** The altar's answer is stored beside the signed payment. */
const disputed = async (
  purchase: Purchase,
  { differences, settlement }: Extract<End<Body, Result>, { end: "misrecorded" }>,
  progress: Progress,
): Promise<Result> => {
  progress.step("settle", "open", "The altar's answer differs from what you bought.")
  const { body, header } = settlement
  // Without room for the answer, the signed payment stays.
  const evidence = { at: now(), differences, answer: body, response: header ?? null }
  await amend(purchase, { misrecorded: evidence }).catch(() => {})
  return { tag: "open", isMisrecorded: true, message: misrecorded(differences, evidenceKept) }
}

/** Final without an act or a charge: the purchase is dropped. */
const refuse = (purchase: Purchase, message: string, retryAfter?: number) => {
  abandon(purchase)
  return { tag: "refused", message, retryAfter } as const
}

/** There are no terms to sign. */
const unpriced = (purchase: Purchase, why: string, progress: Progress, refusal: Refusal | undefined): Result => {
  progress.step("price", "none", "")
  const retryAfter = refusal === undefined ? 0 : refusal.status === 429 ? refusal.retryAfter : undefined
  const issues = refusal?.body["issues"]
  const path = Array.isArray(issues) ? memberAt(issues[0], "path") : undefined
  const field = refusal?.code === "dedication_held" ? "dedication" : typeof path === "string" ? path : undefined
  return { ...refuse(purchase, `${sentence(why)} Nothing was signed.`, retryAfter), field }
}

const refused = async (purchase: Purchase, refusal: Refusal, payment: string, progress: Progress): Promise<Result> => {
  const { code, message } = refusal
  // The altar gave another answer before, perhaps in another tab: its word alone does not remove the evidence.
  const evident = pending().some(({ key, misrecorded: other }) => key === purchase.key && other !== undefined)
  if (evident || purchase.misrecorded !== undefined) {
    progress.step("settle", "open", "The altar gave two answers.")
    return { tag: "open", isMisrecorded: true, message: `${message} ${evidenceKept}` }
  }
  progress.step("sign", "done", "Signed. This page no longer sends it.")
  progress.step("settle", "failed", "The altar refused the payment, so there is no act.")
  const failure = failureOf(refusal, payment)
  if (failure?.openUntil !== undefined) {
    // Kept until then, while its form may begin another. Without room for the time, the form goes on asking about it.
    await amend(purchase, failure).then(
      () => leave(purchase),
      () => {},
    )
    const retryAfter = openFor(purchase.url)
    const words = `This page keeps it, and signs no other payment for this act in the next ${minutesOf(retryAfter)}.`
    return { tag: "refused", message: `${message} ${words}`, retryAfter }
  }
  // The words stay in the box unless the altar itself says that the payment failed for good.
  if (code === "payment_failed") return refuse(purchase, message)
  forget(purchase)
  return { tag: "refused", message }
}

/** A signature is bound to this act's path, by any host name of the altar. */
const isPath = (path: string) => (resource: string) => {
  const url = URL.parse(resource)
  return url !== null && url.pathname + url.search === path
}

const unsignedBecause = (error: unknown) =>
  error instanceof Refused && error.code === "journal_unavailable"
    ? "This browser has no room for the signed payment, so it was not sent. Nothing was charged."
    : error instanceof Refused
      ? error.message
      : `${sentenceOf(error, "The wallet gave no signature.")} Nothing was charged.`

/** The payment of a purchase, signed once and stored before it is sent; or the reason why nothing was signed. */
const signed = async (
  purchase: Purchase,
  challenge: Challenge | undefined,
  wallet: Wallet,
  progress: Progress,
): Promise<{ readonly payment: string } | { readonly stop: Result }> => {
  const mismatch =
    challenge &&
    mismatchOf(challenge, {
      isResource: isPath(purchase.url),
      amountAtomic: BigInt(purchase.amount),
      network: purchase.network,
    })
  if (challenge === undefined || mismatch !== undefined) {
    progress.step("price", "failed", "Not what this page listed.")
    const why =
      mismatch === undefined
        ? "The altar sent terms this page cannot read."
        : `The altar asks for another ${mismatch.what} than this page listed: ${mismatch.offered}.`
    return { stop: refuse(purchase, `${why} Nothing was signed.`) }
  }
  const [{ amount, network, payTo }] = challenge.accepts
  progress.step(
    "price",
    "done",
    `${priceUsd(BigInt(amount))} to ${endsOf(payTo)} on ${networkName(network)}, as listed.`,
  )
  const sign = (nowMs: number) => {
    progress.step(
      "sign",
      "waits",
      "Waiting for the signature. It is kept in this browser, with any sealed words, until the payment is settled.",
    )
    return wallet.sign(challenge, bodyOf(purchase.request), nowMs)
  }
  const wait = (seconds: number) => {
    const words = `An earlier payment failed and could still be used. Asking the wallet in ${minutesOf(seconds)}.`
    progress.step("sign", "waits", words)
    return pause(seconds)
  }
  try {
    const approve = () => undefined
    const payment = await signOnce({ purchase, challenge, payer: wallet.address, approve, sign, wait })
    progress.step("sign", "done", `Signed by ${endsOf(wallet.address)}, and kept in this browser until it is settled.`)
    return { payment }
  } catch (error) {
    progress.step("sign", "failed", "Not signed.")
    return { stop: refuse(purchase, unsignedBecause(error)) }
  }
}

/** Follows a purchase to its end; a page has its wallet only while the purchase is unsigned. */
const follow = async (
  purchase: Purchase,
  wallet: Wallet | undefined,
  progress: Progress,
  isResumed: boolean,
): Promise<Result> => {
  const { amount: amountAtomic, key, request, url } = purchase
  const pursued: Pursued = {
    url,
    key,
    body: bodyOf(request),
    altar: "",
    amountAtomic,
    payment: purchase.payment?.header,
    recorded: recordedOf(purchase),
    ownsKey: true,
    isResumed,
  }
  const end = await pursue<Body, Result>(pursued, page, {
    exchange: (to, init) => fetch(to, init),
    reasonOf: unreachable,
    wait: pause,
    sign: async (challenge) => {
      if (wallet === undefined) return { stop: refuse(purchase, "There is no wallet to pay with. Nothing was signed.") }
      return signed(purchase, challenge, wallet, progress)
    },
    answerOf: async (answer) => answer,
    asking: (state) => {
      if (state === "price") progress.step("price", "waits", "Asking for the price.")
      if (state === "pay") progress.step("settle", "waits", "Settling.")
    },
    waiting: (waiting) => progress.step("settle", "waits", waitingWords(waiting)),
  })
  switch (end.end) {
    case "stopped":
      return end.stop
    case "settled":
      settle(purchase, end.answer)
      return { tag: "settled", body: end.answer, purchase }
    case "misrecorded":
      return disputed(purchase, end, progress)
    case "refused":
      return end.payment === undefined
        ? unpriced(purchase, end.refusal.message, progress, end.refusal)
        : refused(purchase, end.refusal, end.payment, progress)
    case "open":
      if (!end.isSigned) return unpriced(purchase, end.reason, progress, end.refusal)
      progress.step("settle", "open", "Not known yet. Nothing more is sent until you ask.")
      return {
        tag: "open",
        message: `${end.refusal?.message ?? "The outcome is still open."} Your signed payment is kept in this browser. Ask again later; nothing will be paid twice.`,
      }
  }
}

export const run = (purchase: Purchase, wallet: Wallet, progress: Progress): Promise<Result> => {
  remember(purchase)
  return follow(purchase, wallet, progress, false)
}

/** Resumes an interrupted purchase: a signed one is resubmitted, an unsigned one is dropped. */
export const resume = async (purchase: Purchase, progress: Progress): Promise<Result> => {
  if (purchase.payment !== undefined) {
    progress.step("sign", "done", "Signed before.")
    return follow(purchase, undefined, progress, true)
  }
  leave(purchase)
  return {
    tag: "refused",
    message: "This tab was left before it held a signature, so it sends nothing. Sealed words stay under My words.",
  }
}
