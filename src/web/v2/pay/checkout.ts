/** The way of a purchase: priced, checked, signed once, settled; an open outcome is asked for, never paid again. */
import { priceUsd, secondsMaximum, usdcOn } from "../../../../schema/payments/Usdc.ts"
import { type Mismatch, mismatchOf } from "../../../buyer/core/Expectation.ts"
import {
  type Asked,
  type Body,
  nextStep,
  type Outcome,
  readOutcome,
  type Reply,
  type Settlement,
} from "../../../buyer/core/Outcome.ts"
import { differencesOf, misrecorded } from "../../../buyer/core/Recorded.ts"
import { reconcile, send } from "../../../buyer/core/Request.ts"
import { Said, sentenceOf, unreachable } from "../page/http.ts"
import { abandon, forget, leave, mayLeave, type Purchase, remember, settle } from "./purchase.ts"
import type { Wallet } from "./wallet.ts"

export type Result =
  | { readonly tag: "settled"; readonly body: Body; readonly purchase: Purchase }
  /** Over without an act; `isUnreached` where nobody answered, and the very same may work in a moment. */
  | { readonly tag: "refused"; readonly message: string; readonly isUnreached?: boolean }
  /** Not over: the same key may be taken up again. `isMisrecorded` where the answer is not what was bought. */
  | { readonly tag: "open"; readonly message: string; readonly isMisrecorded?: boolean }

export interface Progress {
  readonly step: (name: "price" | "sign" | "settle", state: "waits" | "done" | "failed", words: string) => void
}

/** How often an outcome is asked for before its owner has to. */
const rounds = 40

const outcomeOf = (asked: Promise<Reply>): Promise<Outcome> =>
  asked.then(readOutcome, (): Outcome => ({ tag: "silent", reason: unreachable() }))

const handIn = ({ body, key, path, payment }: Purchase) =>
  outcomeOf(send(fetch, { url: path, key, body }, payment ?? undefined))

const kept = (purchase: Purchase, what = "What you signed is") =>
  mayLeave(purchase)
    ? `${what} kept in this browser.`
    : "This browser does not keep it, so what you signed is lost when you leave this page."

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

const waitingWords = (by: Asked["by"], isSilent: boolean): string => {
  if (!isSilent) return "Not known yet. Asking again, not paying again."
  return by === "send"
    ? "No answer. Asking how it ended, not paying again."
    : "No answer. Asking again, not paying again."
}

/** Settled when the altar recorded what was bought; otherwise its answer is kept beside what was signed. */
const concluded = async (purchase: Purchase, settlement: Settlement): Promise<Result> => {
  const { amount: amountAtomic, body, path: url } = purchase
  const bought = { url, body, amountAtomic, payment: purchase.payment ?? undefined }
  const differences = await differencesOf(bought, settlement)
  if (differences.length === 0) {
    settle(purchase, settlement.body)
    return { tag: "settled", body: settlement.body, purchase }
  }
  const disputed = remember({ ...purchase, misrecorded: { differences, ...settlement } })
  return {
    tag: "open",
    isMisrecorded: true,
    message: misrecorded(differences, kept(disputed, "What you signed and the altar's answer are")),
  }
}

/** Hands in what was signed, the same bytes under the same key, and asks how it ended until it has ended. */
const follow = async (purchase: Purchase, progress: Progress, first: Asked["by"]): Promise<Result> => {
  let by = first
  for (let round = 0; round < rounds; round++) {
    if (by === "send") progress.step("settle", "waits", "Settling.")
    const outcome = await (by === "send" ? handIn(purchase) : outcomeOf(reconcile(fetch, "", purchase.key)))
    const next = nextStep(outcome, { by, isSigned: true })
    switch (next.step) {
      case "settle":
        return concluded(purchase, next.settlement)
      case "refuse": {
        const { message } = next.refusal
        // The altar has shown another answer before, so its word alone does not remove the evidence.
        if (purchase.misrecorded !== undefined) {
          const evidence = kept(purchase, "What you signed and the altar's answer are")
          return { tag: "open", isMisrecorded: true, message: `${message} ${evidence}` }
        }
        // The words stay in the box unless the altar itself says that nothing was charged.
        if (/nothing was charged/iu.test(message)) abandon(purchase)
        else forget(purchase)
        return { tag: "refused", message }
      }
      case "send":
        by = "send"
        continue
      case "retry":
        if (by === "send" && next.refusal?.status === 503)
          return { tag: "open", message: `${next.reason} ${kept(purchase)}` }
    }
    // Whoever has the payment is asked at once how it ended; whoever gave no answer is given time.
    if (by === "send" && outcome.tag !== "silent") {
      by = "reconcile"
      continue
    }
    progress.step("settle", "waits", waitingWords(by, outcome.tag === "silent"))
    const seconds = next.step === "pend" ? next.seconds : next.step === "retry" ? next.refusal?.retryAfter : undefined
    await pause(Math.min(10, Math.max(1, seconds ?? 2)))
    by = "reconcile"
  }
  return {
    tag: "open",
    message:
      by === "send"
        ? `The altar cannot be reached. ${kept(purchase)} Try again later.`
        : `The outcome is still open. ${kept(purchase)} Ask again later; nothing will be paid twice.`,
  }
}

/** A purchase that was interrupted: what was signed is handed in again, what was not is left. */
export const resume = async (purchase: Purchase, progress: Progress): Promise<Result> => {
  if (purchase.payment !== null) return follow(purchase, progress, "reconcile")
  leave(purchase)
  return {
    tag: "refused",
    message: "This tab was left before it held a signature, so it hands nothing in. Sealed words stay under My acts.",
  }
}

const explain = ({ asked, kind }: Mismatch, { amount, network }: Purchase): string => {
  switch (kind) {
    case "more":
    case "less":
      return `The altar asks for ${asked} atomic USDC, but this page listed ${amount}.`
    case "scheme":
      return `The altar asks for the payment scheme ${asked}, which this page does not sign.`
    case "network":
      return `The altar asks for a payment on ${asked}, but this page listed ${network}.`
    case "asset":
      return `${asked} is not USDC on ${network}.`
    case "payee":
      return "The altar named no address to pay to."
    case "lifetime":
      return `The altar asks for an authorization that lives ${asked} seconds; one of 1 to ${secondsMaximum} is signed.`
    case "resource":
      return `The altar asks for a payment for ${asked}, which is not this act.`
  }
}

/** What is signed is bound to this act, under whatever name the altar knows itself. */
const isPath = (path: string) => (resource: string) => {
  const url = URL.parse(resource)
  return url !== null && url.pathname + url.search === path
}

/** Why no terms came to be signed. */
const unpriced = (outcome: Exclude<Outcome, { tag: "unpaid" }>) => {
  if (outcome.tag === "silent")
    return outcome.status === undefined ? outcome.reason : `The altar answered ${outcome.status}.`
  return outcome.tag === "refused" ? outcome.refusal.message : "The altar named no price."
}

export const run = async (purchase: Purchase, wallet: Wallet, progress: Progress): Promise<Result> => {
  const refuse = (message: string, isUnreached = false): Result => {
    abandon(purchase)
    return { tag: "refused", message, isUnreached }
  }
  remember(purchase)
  progress.step("price", "waits", "Asking for the price.")
  const priced = await handIn(purchase)
  if (priced.tag !== "unpaid") return refuse(`${unpriced(priced)} Nothing was signed.`, priced.tag === "silent")
  const { challenge } = priced
  const mismatch =
    challenge &&
    mismatchOf(challenge, {
      isResource: isPath(purchase.path),
      amountAtomic: BigInt(purchase.amount),
      network: purchase.network,
      asset: usdcOn(purchase.network) ?? "",
    })
  if (challenge === undefined || mismatch !== undefined) {
    progress.step("price", "failed", "Not what this page listed.")
    const why = mismatch === undefined ? "The altar sent terms this page cannot read." : explain(mismatch, purchase)
    return refuse(`${why} Nothing was signed.`)
  }
  const [{ amount, network, payTo }] = challenge.accepts
  progress.step(
    "price",
    "done",
    `${priceUsd(BigInt(amount))} to ${payTo.slice(0, 6)}…${payTo.slice(-4)} on ${network}, as listed.`,
  )
  const asking = remember({ ...purchase, asked: true })
  progress.step(
    "sign",
    "waits",
    mayLeave(asking)
      ? "Waiting for the signature. What you sign is kept in this browser, with any sealed words, until it is settled."
      : "Waiting for the signature. This browser cannot keep it: stay on this page until it is settled.",
  )
  const payment = await wallet
    .sign(challenge)
    .catch((error: unknown) => new Said(sentenceOf(error, "The wallet gave no signature.")))
  if (payment instanceof Said) {
    progress.step("sign", "failed", "Not signed.")
    return refuse(`${payment.message} Nothing was charged.`)
  }
  const signed = remember({ ...asking, payment })
  progress.step(
    "sign",
    "done",
    `Signed by ${wallet.address.slice(0, 6)}…${wallet.address.slice(-4)}. ${
      mayLeave(signed)
        ? "It is kept in this browser, with any sealed words, until it is settled."
        : "Stay on this page until it is settled."
    }`,
  )
  return follow(signed, progress, "send")
}
