/** Buys each thing once: a repeated call resumes or returns the purchase that an earlier one began. */
import type { Schema } from "effect"
import { normalize } from "../../../schema/altar/Recipe.ts"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import { randomHex, sha256 } from "../../buyer/core/Digest.ts"
import type { Journal } from "../../buyer/core/Journal.ts"
import { isMembers, memberAt } from "../../buyer/core/Json.ts"
import { type Purchase, stateOf } from "../../buyer/core/Purchase.ts"
import type { Orders } from "../../buyer/Orders.ts"
import { purchasesIn, turnsOf } from "../../buyer/Purchases.ts"

export interface Till {
  readonly altar: string
  readonly wallet: string
  readonly journal: Journal
}

export type Input = Readonly<Record<string, Schema.Json>>

/** Milliseconds in which a settled purchase answers the same call. */
const repeats = 24 * 3_600_000

const page = "till/secret"

const prefix = "till-"

/** The purchases of this till. The owner's others in the journal, and their words, are not the agent's to see. */
export const purchasesOf = async (journal: Journal) =>
  (await purchasesIn(journal).all()).filter(({ key }) => key.startsWith(prefix))

/** Drawn once for a journal: keys travel, and must not confirm guesses of sealed words. */
const secretIn = (journal: Journal) =>
  turnsOf(journal)(async (pages) => {
    const kept = await pages.get(page)
    if (kept !== undefined) return kept
    const secret = randomHex(32)
    await pages.set(page, secret)
    return secret
  }, "Nothing was sent.")

/** The same for every spelling of one input. */
const stemOf = async ({ altar, journal, wallet }: Till, act: string, input: Input) =>
  `${prefix}${(await sha256(`${await secretIn(journal)}\0${canonicalJson([altar, wallet, act, input])}`)).slice(0, 40)}-`

/** Never before the payment was signed: the time of an answer is the altar's word, which would let it sell again. */
const settledAt = ({ begunAt, payment, settled }: Purchase) => {
  const signedAt = Date.parse(payment?.signedAt ?? begunAt)
  return Math.max(signedAt, Date.parse(String(memberAt(settled?.answer, "receipt", "settledAt"))) || signedAt)
}

/** Ended, so that the next call may buy anew: failed, or settled longer ago than a repetition reaches. */
const isOver = (purchase: Purchase, wantsAnother: boolean, nowMs: number) => {
  const state = stateOf(purchase)
  return state === "failed" || (state === "settled" && (wantsAnother || nowMs - settledAt(purchase) > repeats))
}

export const buyOnce = async (
  till: Till,
  orders: Pick<Orders, "buy">,
  act: string,
  given: Input,
  wantsAnother: boolean,
) => {
  const { words } = given
  const input = typeof words === "string" ? { ...given, words: normalize(words) } : given
  const stem = await stemOf(till, act, input)
  const numberOf = ({ key }: Purchase) => Number(key.slice(stem.length))
  const mine = (await purchasesOf(till.journal)).filter(({ key }) => key.startsWith(stem))
  const [newest] = mine.toSorted((left, right) => numberOf(right) - numberOf(left))
  const isNewOne = newest === undefined || isOver(newest, wantsAnother, Date.now())
  if (!isNewOne && isMembers(newest.settled?.answer)) {
    const { replayed: _, ...answer } = newest.settled.answer
    return { ...answer, key: newest.key, repeated: true }
  }
  const number = newest === undefined ? 1 : numberOf(newest) + (isNewOne ? 1 : 0)
  const { replayed, ...bought } = await orders.buy<string>(act, { ...input, key: `${stem}${number}` })
  return { ...bought, repeated: replayed }
}
