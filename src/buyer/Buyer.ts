/** The steps of a purchase: recorded, priced, checked, signed once, followed. Repeating a key never signs again. */
import type { Recorded } from "../../schema/payments/Recorded.ts"
import type { Price, Settled } from "./Acts.ts"
import type { Shop } from "./Client.ts"
import { baseOf, faultOf } from "./Site.ts"
import { unlessAborted } from "./core/Abort.ts"
import { signedBy } from "./core/Authorization.ts"
import type { Challenge } from "./core/Challenge.ts"
import { type End, type Exchange, pursue } from "./core/Loop.ts"
import { bodyOf, failureOf, now, type Purchase } from "./core/Purchase.ts"
import { misrecorded } from "./core/Recorded.ts"
import { program } from "./core/States.ts"
import type { Kept } from "./Options.ts"
import { objection } from "./Policy.ts"
import { messageOf, Misrecorded, Open, reasonOf, refuse, type Refused } from "./PurchaseError.ts"
import { purchasesIn } from "./Purchases.ts"

type Refusing = Extract<End<never, never>, { end: "refused" }>
type Misrecording = Extract<End<never, never>, { end: "misrecorded" }>

/** The parts of an act that a purchase needs to be followed; an old purchase may have no price. */
interface Followed<Answer> {
  readonly answer: (body: unknown) => Answer | undefined
  readonly price?: Price
  readonly recorded?: Recorded | undefined
}

/** A buyer whose requests and waits end with the signal; a signature in progress is stored first. */
export const buyerOf = (options: Kept, signal: AbortSignal) => {
  const {
    account,
    fetch: send = fetch,
    insecure = false,
    journal,
    onProgress: report = () => {},
    policy = {},
  } = options
  const altar = baseOf(options.url)
  const purchases = purchasesIn(journal)

  signal.throwIfAborted()
  const exchange: Exchange = async (url, init) => {
    signal.throwIfAborted()
    return send(url, { ...init, signal: AbortSignal.any([signal, ...(init.signal ? [init.signal] : [])]) })
  }
  const wait = async (seconds: number) => {
    signal.throwIfAborted()
    let timer: ReturnType<typeof setTimeout> | undefined
    const over = () => new Promise<void>((resolve) => void (timer = setTimeout(resolve, seconds * 1000)))
    await unlessAborted(signal, over).finally(() => clearTimeout(timer))
  }

  /** A journal entry belongs to the altar it was made with. */
  const at = (other: string): Shop => {
    const fault = faultOf(other, insecure)
    if (fault !== undefined) throw fault
    return { altar: other, exchange }
  }

  /** The one payment of a purchase, stored before it is returned; throws the reason why nothing was signed. */
  const signed = async ({ price }: Followed<unknown>, purchase: Purchase, challenge: Challenge | undefined) => {
    const { key, request, url } = purchase
    const no = (code: string, why: string) => refuse(code, `${why} Nothing was signed, so nothing was charged.`, key)
    if (account === undefined || price === undefined) throw no("no_account", "There is no account to pay with.")
    if (challenge === undefined) throw no("unreadable_terms", "The altar sent terms that cannot be read.")
    const [offer] = challenge.accepts
    let [isNew, hasWaited] = [false, false]
    const payment = await purchases.signOnce({
      purchase,
      challenge,
      payer: account.address,
      approve: (spentToday, earlier) => {
        if (signal.aborted) throw no("not_signed", "The call was aborted.")
        const objected = objection({ challenge, key, url, price, policy, earlier, spentToday })
        if (objected !== undefined) throw objected
        return { network: offer.network, payTo: offer.payTo }
      },
      sign: (nowMs) => {
        isNew = true
        return signedBy(account, challenge, bodyOf(request), nowMs).catch(() => {
          throw refuse("not_signed", "The wallet gave no signature. Nothing was charged.", key)
        })
      },
      // Another process may end what this one waits for.
      wait: (seconds) => {
        if (!hasWaited) report({ step: "waiting", key, seconds: Math.ceil(seconds) })
        hasWaited = true
        return wait(Math.min(seconds, 1))
      },
    })
    report({ step: "signed", key, amountAtomic: offer.amount, payTo: offer.payTo })
    return { payment, isNew }
  }

  const settle = async (purchase: Purchase, answer: Settled) => {
    const { permalink, record } = answer
    // The purchase is paid: a failing journal must not make it look refused.
    await purchases.amend(purchase, { settled: { id: record.id, permalink, answer } }).catch((error: unknown) => {
      report({ step: "unkept", key: purchase.key, because: messageOf(error) })
    })
  }

  /** Stores the evidence against an altar that recorded something else than this purchase. */
  const misrecord = async (purchase: Purchase, { differences, settlement: { body, header } }: Misrecording) => {
    const evidence = { at: now(), differences, answer: body, response: header ?? null }
    const kept = await purchases
      .amend(purchase, { misrecorded: evidence })
      .then(() => "This journal keeps your signed payment and the altar's answer.", messageOf)
    return new Misrecorded({ key: purchase.key, differences, message: misrecorded(differences, kept) })
  }

  const refused = async (purchase: Purchase, { payment, refusal }: Refusing): Promise<Refused> => {
    const [{ key }, { code, message }] = [purchase, refusal]
    const failure = failureOf(refusal, payment)
    if (failure !== undefined) await purchases.amend(purchase, failure).catch(() => {})
    const again = `The key ${key} is not signed for again: take a new one for a new attempt.`
    return refuse(code, code === "payment_invalid" ? `${message} ${again}` : message, key)
  }

  /** Runs the loop of the purchase; throws the way that it ends without its act. */
  const follow = async <A extends Settled>(followed: Followed<A>, purchase: Purchase): Promise<A> => {
    const { key, payment, request } = purchase
    if (payment !== undefined) report({ step: "repeated", key })
    let isNew = false
    const end = await pursue<A, never>(
      {
        url: purchase.url,
        key,
        altar: purchase.altar,
        body: bodyOf(request),
        payment: payment?.header,
        amountAtomic: followed.price?.priceAtomic.toString(),
        recorded: followed.recorded,
      },
      program,
      {
        exchange,
        reasonOf,
        wait,
        sign: async (challenge) => {
          const first = await signed(followed, purchase, challenge)
          ;({ isNew } = first)
          return first
        },
        answerOf: async (body) => followed.answer(body),
        asking: () => {},
        waiting: ({ because, seconds }) =>
          report(because === undefined ? { step: "pending", key, seconds } : { step: "silent", key, seconds, because }),
      },
    )
    switch (end.end) {
      case "settled": {
        // The altar calls its answer to a later question a replay, though this call paid.
        const answer = isNew ? { ...end.answer, replayed: false } : end.answer
        await settle(purchase, answer)
        return answer
      }
      case "misrecorded":
        throw await misrecord(purchase, end)
      case "refused":
        throw await refused(purchase, end)
      case "stopped":
        return end.stop
      case "open":
        throw end.isSigned
          ? new Open({ key, message: `The altar does not say how the payment ended: ${end.reason}` })
          : refuse(
              end.refusal?.code ?? "unreachable",
              end.refusal?.message ?? `The altar does not answer: ${end.reason}. This request charged nothing.`,
              key,
            )
    }
  }

  at(altar)
  return { altar, at, purchases, follow }
}
