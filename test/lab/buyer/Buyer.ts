/** One purchase as the documents tell a client to make it: one key, one signature, the same request until it is known. */
import { setTimeout } from "node:timers/promises"
import { type Answers, codeOf, type HttpAnswer } from "./Answers.ts"
import type { Wallet } from "../OwnChain.ts"
import type { Order } from "./Goods.ts"
import { cardChallengeIn, challengeIn, credentialOf, type Signed, signUntil } from "./Payment.ts"
import type { Random } from "../Random.ts"

export type Outcome =
  /** Paid and recorded; `late` when the first paid request was not answered so. */
  | { readonly _tag: "Settled"; readonly late: boolean; readonly body: string }
  | { readonly _tag: "Failed"; readonly reason: string }
  /** Nothing was claimed: not for sale, or the payment did not fit. */
  | { readonly _tag: "Refused"; readonly reason: string }

export interface Purchase {
  readonly number: number
  /** What a light is put on is known when it is bought. */
  order: Order
  readonly key: string
  readonly wallet: Wallet
  readonly random: Random
  /** As which address the buyer comes. */
  readonly address: string
  /** Seconds that the authorization lives. */
  readonly lives: number
  signed: Signed | undefined
  /** `Authorization` with the token that a card's holder has granted. */
  granted: string | undefined
  outcome: Outcome | undefined
  /** The id of its act, as soon as an answer has named it. */
  attempt?: string
  /** Milliseconds since 1970. */
  startedAt: number
  endedAt: number | undefined
}

export interface BuyerOptions {
  readonly url: string
  readonly answers: Answers
  /** Seconds since 1970, by the chain. */
  readonly chainNow: () => Promise<number>
  /** Is told of a signed purchase before it is sent; answers when it may be. */
  readonly signed: (purchase: Purchase) => Promise<void>
  /** A card's holder grants a token for so many cents; absent where no cards are taken. */
  readonly grant?: (paymentMethod: string, cents: string) => Promise<string>
}

const paidPatienceMs = 30_000

const hasPaid = ({ granted, signed }: Purchase) => granted !== undefined || signed !== undefined

const headersOf = ({ address, granted, key, signed }: Purchase) => ({
  "idempotency-key": key,
  "x-forwarded-for": address,
  ...(signed === undefined ? {} : { "payment-signature": signed.header }),
  ...(granted === undefined ? {} : { authorization: granted }),
})

export const send = ({ answers, url }: BuyerOptions, purchase: Purchase, patienceMs = paidPatienceMs) =>
  answers.ask(
    { method: "POST", url: url + purchase.order.path, headers: headersOf(purchase), body: purchase.order.body },
    patienceMs,
  )

const reconcile = ({ answers, url }: BuyerOptions, { address, key }: Purchase) =>
  answers.ask(
    { method: "POST", url: `${url}/api/reconcile/${key}`, headers: { "x-forwarded-for": address } },
    paidPatienceMs,
  )

/** The id of the act that an answer is about. */
const attemptIn = ({ body }: HttpAnswer): string | undefined => {
  const { attempt, record } = JSON.parse(body) as Readonly<Record<string, { readonly id?: string } | undefined>>
  return (record ?? attempt)?.id
}

const reasonIn = ({ body }: HttpAnswer): string => (JSON.parse(body) as { readonly reason?: string }).reason ?? ""

/** Carries a purchase on until its outcome is known, or `isOver` says that it is time to leave. */
export const buy = async (shop: BuyerOptions, purchase: Purchase, isOver: () => boolean): Promise<void> => {
  const { random } = purchase
  let sent = hasPaid(purchase) ? 2 : 0
  let isPending = false
  const pause = (heard: HttpAnswer | undefined) => {
    const asked = Number(heard?.headers["retry-after"] ?? "0") * 1000
    return setTimeout(Math.min(2_500, Math.max(asked, random.between(100, 600))))
  }
  const end = (outcome: Outcome) => {
    purchase.outcome = outcome
    purchase.endedAt = Date.now()
  }
  while (!isOver()) {
    // Now and then a client hangs up on its own request and sends it again.
    const hurry = hasPaid(purchase) && sent === 0 && random.chance(0.05)
    const heard =
      isPending && !random.chance(0.2)
        ? await reconcile(shop, purchase)
        : await send(shop, purchase, hurry ? random.between(20, 600) : paidPatienceMs)
    if (hasPaid(purchase)) sent += 1
    if (heard === undefined || heard.status >= 500 || heard.status === 429 || codeOf(heard) === "reconcile_required") {
      await pause(heard)
      continue
    }
    const code = codeOf(heard)
    const id = heard.status < 300 ? attemptIn(heard) : undefined
    if (id !== undefined) purchase.attempt = id
    switch (heard.status) {
      case 200:
      case 201:
        return end({ _tag: "Settled", late: sent > 1, body: heard.body })
      case 202:
        isPending = true
        await pause(heard)
        continue
      case 404:
        if (code === "attempt_not_found") {
          isPending = false
          continue
        }
        return end({ _tag: "Refused", reason: code })
      case 402:
        if (code === "payment_required" && !hasPaid(purchase)) {
          const { card } = purchase.order
          if (card !== undefined && shop.grant !== undefined) {
            const challenge = cardChallengeIn(heard.headers["www-authenticate"] ?? "")
            purchase.granted = credentialOf(challenge, await shop.grant(card, challenge.cents))
            continue
          }
          const challenge = challengeIn(heard.headers["payment-required"] ?? "")
          const validBefore = (await shop.chainNow()) + purchase.lives
          purchase.signed = await signUntil(purchase.wallet, challenge, validBefore, random)
          await shop.signed(purchase)
          continue
        }
        if (code === "payment_failed") return end({ _tag: "Failed", reason: reasonIn(heard) })
        return end({ _tag: "Refused", reason: code === "payment_invalid" ? reasonIn(heard) : code })
      default:
        return end({ _tag: "Refused", reason: code })
    }
  }
}
