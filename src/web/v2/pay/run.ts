/** The way of a purchase: priced, checked, signed once, settled; an open outcome is asked for, never paid again. */
import { type Answer, ask, messageOf, post, Unreachable } from "../ask.ts"
import { readChallenge, refusal } from "./challenge.ts"
import { abandon, forget, leave, mayLeave, type Purchase, remember, settle } from "./purchase.ts"
import type { Wallet } from "./wallet.ts"

export type Outcome =
  | { readonly tag: "settled"; readonly answer: Answer; readonly purchase: Purchase }
  /** Over without an act. */
  | { readonly tag: "refused"; readonly message: string }
  /** Not over: the same key may be taken up again. */
  | { readonly tag: "open"; readonly message: string }

export interface Said {
  readonly step: (name: "price" | "sign" | "settle", state: "waits" | "done" | "failed", words: string) => void
}

const headers = ({ key, payment }: Purchase) => ({
  "idempotency-key": key,
  ...(payment === null ? {} : { "payment-signature": payment }),
})

const send = (purchase: Purchase) =>
  ask(purchase.path, { ...post({}, headers(purchase)), body: purchase.body === "" ? null : purchase.body })

/** The altar's own answer; whatever a proxy, a portal or nobody answers says nothing about a payment. */
const heard = (asked: Promise<Answer>) =>
  asked.then(
    (answer) =>
      answer.body["ok"] === true || (answer.body["ok"] === false && typeof answer.body["code"] === "string")
        ? answer
        : undefined,
    () => undefined,
  )

const kept = (purchase: Purchase) =>
  mayLeave(purchase)
    ? "What you signed is kept in this browser."
    : "This browser does not keep it, so what you signed is lost when you leave this page."

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

/** An answer that ends the purchase, or undefined while it does not. */
const ended = (purchase: Purchase, answer: Answer): Outcome | undefined => {
  if (answer.status === 200 || answer.status === 201) {
    settle(purchase, answer.body)
    return { tag: "settled", answer, purchase }
  }
  const isOpen = answer.status === 202 || answer.status === 429 || answer.status >= 500
  if (isOpen) return undefined
  const message = messageOf(answer)
  // The words stay in the box unless the altar itself says that nothing was charged.
  if (/nothing was charged/iu.test(message)) abandon(purchase)
  else forget(purchase)
  return { tag: "refused", message }
}

/** Asks how it ended until it has ended; sends the signed request itself again only when it never arrived. */
const follow = async (purchase: Purchase, said: Said, tries = 40): Promise<Outcome> => {
  for (let round = 0; round < tries; round++) {
    const answer = await heard(ask(`/api/reconcile/${purchase.key}`, { method: "POST" }))
    if (answer?.status === 404) return hand(purchase, said, tries - 1)
    const end = answer === undefined ? undefined : ended(purchase, answer)
    if (end !== undefined) return end
    const wait = Math.min(10, Math.max(1, Number(answer?.headers.get("retry-after") ?? 2)))
    said.step(
      "settle",
      "waits",
      answer === undefined
        ? "No answer. Asking again, not paying again."
        : "Not known yet. Asking again, not paying again.",
    )
    await pause(wait)
  }
  return {
    tag: "open",
    message: `The outcome is still open. ${kept(purchase)} Ask again later; nothing will be paid twice.`,
  }
}

/** Hands in what was signed; the same bytes under the same key, however often. */
const hand = async (purchase: Purchase, said: Said, tries = 40): Promise<Outcome> => {
  if (tries <= 0)
    return {
      tag: "open",
      message: `The altar cannot be reached. ${kept(purchase)} Try again later.`,
    }
  said.step("settle", "waits", "Settling.")
  const answer = await heard(send(purchase))
  if (answer === undefined) {
    said.step("settle", "waits", "No answer. Asking how it ended, not paying again.")
    await pause(2)
    return follow(purchase, said, tries - 1)
  }
  if (answer.status === 503) return { tag: "open", message: `${messageOf(answer)} ${kept(purchase)}` }
  return ended(purchase, answer) ?? follow(purchase, said, tries - 1)
}

/** A purchase that was interrupted: what was signed is handed in again, what was not is left. */
export const resume = async (purchase: Purchase, said: Said): Promise<Outcome> => {
  if (purchase.payment !== null) return follow(purchase, said)
  leave(purchase)
  return {
    tag: "refused",
    message: "This tab was left before it held a signature, so it hands nothing in. Sealed words stay under My acts.",
  }
}

export const run = async (purchase: Purchase, wallet: Wallet, said: Said): Promise<Outcome> => {
  remember(purchase)
  said.step("price", "waits", "Asking for the price.")
  const offered = await send(purchase).catch((error: unknown) =>
    error instanceof Unreachable ? error : Promise.reject(error),
  )
  if (offered instanceof Unreachable) {
    abandon(purchase)
    return { tag: "refused", message: `${offered.message} Nothing was signed.` }
  }
  if (offered.status !== 402) {
    abandon(purchase)
    return { tag: "refused", message: `${messageOf(offered)} Nothing was signed.` }
  }
  const challenge = readChallenge(offered.headers.get("payment-required"))
  const reason = challenge === undefined ? "The altar sent terms this page cannot read." : refusal(challenge, purchase)
  if (challenge === undefined || reason !== undefined) {
    abandon(purchase)
    said.step("price", "failed", "Not what this page listed.")
    return { tag: "refused", message: `${reason} Nothing was signed.` }
  }
  const [{ amount, network, payTo }] = challenge.accepts
  said.step(
    "price",
    "done",
    `$${(Number(amount) / 1_000_000).toFixed(2)} to ${payTo.slice(0, 6)}…${payTo.slice(-4)} on ${network}, as listed.`,
  )
  const asking = remember({ ...purchase, asked: true })
  said.step(
    "sign",
    "waits",
    mayLeave(asking)
      ? "Waiting for the signature. What you sign is kept in this browser, with any sealed words, until it is settled."
      : "Waiting for the signature. This browser cannot keep it: stay on this page until it is settled.",
  )
  const payment = await wallet
    .sign(challenge)
    .catch((error: unknown) => (error instanceof Error ? error : new Error("The wallet gave no signature.")))
  if (payment instanceof Error) {
    abandon(purchase)
    said.step("sign", "failed", "Not signed.")
    return { tag: "refused", message: `${payment.message} Nothing was charged.` }
  }
  const signed = remember({ ...asking, payment })
  said.step(
    "sign",
    "done",
    `Signed by ${wallet.address.slice(0, 6)}…${wallet.address.slice(-4)}. ${
      mayLeave(signed)
        ? "It is kept in this browser, with any sealed words, until it is settled."
        : "Stay on this page until it is settled."
    }`,
  )
  return hand(signed, said)
}
