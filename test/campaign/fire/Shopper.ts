/** A buyer of the campaign: one purchase as the documents tell a client to make it, decided by the library's own state machine. */
import { setTimeout } from "node:timers/promises"
import type { Challenge } from "../../../src/buyer/core/Challenge.ts"
import { bodyOf, readOutcome } from "../../../src/buyer/core/Outcome.ts"
import { eventOf } from "../../../src/buyer/core/States.ts"
import type { Wallet } from "../../lab/OwnChain.ts"
import type { Random } from "../../lab/Random.ts"
import type { Answers, HttpAnswer } from "../../lab/buyer/AnswerLog.ts"
import type { Order } from "./Goods.ts"
import { cardChallengeOf, credentialFor, encode, type Payment, signTransfer } from "../../lab/buyer/Payment.ts"

export type Outcome =
  | { readonly _tag: "Settled" }
  | { readonly _tag: "Failed"; readonly reason: string }
  /** Nothing was claimed: not for sale, or the payment did not fit. */
  | { readonly _tag: "Refused"; readonly reason: string }

export interface Purchase {
  readonly order: Order
  readonly key: string
  readonly wallet: Wallet
  readonly random: Random
  readonly address: string
  /** Seconds that the authorization lives. */
  readonly lives: number
  /** Anyone who has seen it can submit it to the chain. */
  signed?: Payment
  /** `Authorization` with the token that a card's holder has granted. */
  granted?: string
  outcome?: Outcome
}

export interface Shop {
  readonly url: string
  readonly answers: Answers
  /** Seconds since 1970, by the chain. */
  readonly chainNow: () => Promise<number>
  /** Is told of a signed purchase before it is sent; answers when it may be. */
  readonly signed: (purchase: Purchase) => Promise<void>
  /** A card's holder grants a token for so many cents; absent where no cards are accepted. */
  readonly grant?: (paymentMethod: string, cents: string) => Promise<string>
}

const paidPatienceMs = 30_000

const hasPaid = ({ granted, signed }: Purchase) => granted !== undefined || signed !== undefined

export const sendPaid = ({ answers, url }: Shop, purchase: Purchase, patienceMs = paidPatienceMs) => {
  const { address, granted, key, order, signed } = purchase
  const headers = {
    "idempotency-key": key,
    "x-forwarded-for": address,
    ...(signed === undefined ? {} : { "payment-signature": encode(signed) }),
    ...(granted === undefined ? {} : { authorization: granted }),
  }
  return answers.ask(url + order.path, { method: "POST", headers, body: order.body }, patienceMs)
}

const reconcile = ({ answers, url }: Shop, { address, key }: Purchase) =>
  answers.ask(
    `${url}/api/reconcile/${key}`,
    { method: "POST", headers: { "x-forwarded-for": address } },
    paidPatienceMs,
  )

/** Has a card's holder grant a token, or a wallet sign. */
const signFor = async (shop: Shop, purchase: Purchase, headers: Headers, challenge: Challenge | undefined) => {
  const { card } = purchase.order
  if (card !== undefined && shop.grant !== undefined) {
    const { amount } = cardChallengeOf({ headers })
    purchase.granted = credentialFor({ headers }, await shop.grant(card, amount))
  } else if (challenge === undefined) throw new Error(`no offer for ${purchase.order.path}`)
  else {
    const validBefore = String((await shop.chainNow()) + purchase.lives)
    const change = { validBefore, nonce: `0x${purchase.random.hex(32)}` } as const
    purchase.signed = await signTransfer(purchase.wallet, challenge.accepts[0], challenge.resource, change)
    await shop.signed(purchase)
  }
}

/** Repeats a purchase until its outcome is known, or `isOver` says that it is time to leave. */
export const shopFor = async (shop: Shop, purchase: Purchase, isOver: () => boolean): Promise<void> => {
  const { random } = purchase
  let isSent = hasPaid(purchase)
  let next: "send" | "reconcile" = "send"
  const pause = (heard: HttpAnswer | undefined) => {
    const asked = Number(heard?.headers.get("retry-after") ?? "0") * 1000
    return setTimeout(Math.min(2_500, Math.max(asked, random.between(100, 600))))
  }
  while (!isOver()) {
    const isSigned = hasPaid(purchase)
    // Some clients hang up on their own request and send it again.
    const patienceMs = isSigned && !isSent && random.chance(0.05) ? random.between(20, 600) : paidPatienceMs
    const by = random.chance(0.2) ? "send" : next
    const heard = by === "reconcile" ? await reconcile(shop, purchase) : await sendPaid(shop, purchase, patienceMs)
    isSent ||= isSigned
    const body = bodyOf(heard?.text ?? "")
    const headers = heard?.headers ?? new Headers()
    const outcome = readOutcome({ status: heard?.status ?? 0, headers, body })
    const event = eventOf(outcome, by === "reconcile" ? "ask" : isSigned ? "pay" : "price")
    if (event === "settled") {
      purchase.outcome = { _tag: "Settled" }
      return
    }
    if (outcome.tag === "unpaid" && !isSigned) {
      await signFor(shop, purchase, headers, outcome.challenge)
      continue
    }
    if ((event === "refused" || event === "priced") && "refusal" in outcome) {
      const { code } = outcome.refusal
      const reason = typeof body["reason"] === "string" ? body["reason"] : code
      purchase.outcome = { _tag: code === "payment_failed" ? "Failed" : "Refused", reason }
      return
    }
    if (event === "unknown") next = "send"
    else {
      if (event === "pending") next = "reconcile"
      await pause(heard)
    }
  }
}
