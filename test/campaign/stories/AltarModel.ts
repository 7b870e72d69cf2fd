/** The altar's promises for paid requests, as pure functions: the state table of an attempt, and what each caller is told. */
import * as CardModel from "./CardModel.ts"

export const wallets = ["rich", "poor"] as const
export type Wallet = (typeof wallets)[number]

export type Act = "prayer" | "keeper" | "pixel" | "candle" | "light" | "stone"

/** The order; the same order is the same URL and body. */
export interface Order {
  readonly act: Act
  /** Which of two spirits, pixels or sealed sentences. */
  readonly target: 0 | 1
  /** Two bodies for the same thing; Wren's candles burn for a day, Finch's for a week. */
  readonly name: "Wren" | "Finch"
  /** The key of the candle that a light is for. */
  readonly on?: number
}

/** How the network behaves from a command on. */
export const faults = {
  relayer: [
    "no",
    "no block comes",
    "the node is silent",
    "receipts are withheld",
    "broadcasts are swallowed",
    "broadcasts are refused",
    "answers to broadcasts are lost",
    "broadcasts are taken and denied",
  ],
  facilitator: [
    "no",
    "the node is silent",
    "receipts are withheld",
    "the facilitator refuses",
    "the facilitator imagines a transaction",
    "the facilitator's answers are lost",
    "the facilitator calls it used",
    "the facilitator names another transaction",
    "the facilitator refuses what it has sent",
  ],
} as const
export type SettledBy = keyof typeof faults
export type Fault = (typeof faults)[SettledBy][number]

/** Faults that leave a payment open, whose request is answered 202. */
export const leavesOpen: ReadonlySet<Fault> = new Set<Fault>([
  "no block comes",
  "receipts are withheld",
  "broadcasts are swallowed",
  "broadcasts are refused",
  "the facilitator refuses",
  "the facilitator imagines a transaction",
])

/** The means of a payment. */
export type Authorization =
  | {
      readonly rail: "x402"
      readonly wallet: Wallet
      /** Unix seconds. */
      readonly validBefore: number
    }
  | {
      readonly rail: "card"
      readonly card: CardModel.Card
      /** The purpose of its challenge; nothing where there was none. */
      readonly boundTo: { readonly key: number; readonly order: Order } | undefined
    }

export interface Attempt {
  readonly key: number
  readonly order: Order
  /** Its place among all that were signed. */
  readonly authorization: number
  /** Unix milliseconds. */
  readonly acceptedAt: number
  readonly state: "pending" | "settled" | "failed"
  readonly settledAt: number | undefined
  /** The finding that would fail it, and its first time. */
  readonly doubt: { readonly reason: string; readonly at: number } | undefined
  /** Whether a facilitator has refused it. */
  readonly isRefused: boolean
  /** The card processor's record of it. */
  readonly charge: CardModel.Charge | undefined
  /** Whether its words were shown. */
  readonly isOpened: boolean
}

export interface Altar {
  readonly attempts: ReadonlyArray<Attempt>
  readonly authorizations: ReadonlyArray<Authorization>
  readonly fault: Fault
  readonly bankFault: CardModel.BankFault
}

export const empty: Altar = { attempts: [], authorizations: [], fault: "no", bankFault: "no" }

/** How an authorization ended on the chain that stands now. */
export interface End {
  readonly how: "paid" | "cancelled"
  readonly block: bigint
}

/** The chain's own state. */
export interface Truth {
  readonly newest: { readonly number: bigint; readonly time: number }
  readonly final: { readonly number: bigint; readonly time: number }
  readonly ends: ReadonlyMap<number, End>
  /** Atomic USDC. */
  readonly balances: Readonly<Record<Wallet, bigint>>
}

/** An answer in short: its status, and the code of a refusal. */
export type ExpectedAnswer = string

export const pending = "202 settlement_pending"
export const failed = "402 payment_failed"
const invalid = "402 payment_invalid"
const bound = "409 payment_authorization_already_bound"
const unavailable = "503 facilitator_unavailable"

const isWax = ({ act }: Order) => act === "candle" || act === "light"
export const rungOf = ({ name }: Order) => (name === "Wren" ? "day" : "week")
const daysOf = (order: Order) => (rungOf(order) === "day" ? 1 : 7)
export const priceOf = (order: Order) => (!isWax(order) ? 10_000n : rungOf(order) === "day" ? 1_000_000n : 3_000_000n)
/** A card pays for no less than three dollars. */
const isForCards = (order: Order) => isWax(order) && rungOf(order) === "week"

/** Editions that are left of each pixel when a story begins. */
export const editions = 2

/** Seconds an authorization must still live, in milliseconds between two looks that agree, and a candle's day. */
const leastLife = 6
export const apartMillis = 3_600_000
const dayMillis = 86_400_000

export const dayOf = (millis: number) => new Date(millis).toISOString().slice(0, 10)
export const isSame = (one: Order, other: Order) =>
  one.act === other.act && one.target === other.target && one.name === other.name && one.on === other.on

export const attemptOf = (altar: Altar, key: number) => altar.attempts.find((one) => one.key === key)
const isAlive = ({ state }: Attempt) => state !== "failed"

/** Until when what is settled burns, in Unix milliseconds. */
export const burnsUntil = ({ order, settledAt = 0 }: Attempt) => settledAt + daysOf(order) * dayMillis
export const burns = (one: Attempt, now: number) => one.state === "settled" && isWax(one.order) && now < burnsUntil(one)

/** Attempts that hold what this order wants. */
export const holders = (altar: Altar, { act, target }: Order, now: number) =>
  altar.attempts.filter(
    (one) =>
      isAlive(one) &&
      one.order.act === act &&
      one.order.target === target &&
      (act !== "prayer" || dayOf(one.acceptedAt) === dayOf(now)),
  )

/** The obstacle of an unpaid order. */
const conflictOf = (altar: Altar, order: Order, now: number): ExpectedAnswer | undefined => {
  if (order.act === "light") {
    const candle = altar.attempts.find(({ key }) => key === order.on)
    return candle !== undefined && burns(candle, now) ? undefined : "409 parent_not_lit"
  }
  const held = holders(altar, order, now)
  if (order.act === "pixel") return held.length < editions ? undefined : "409 sold_out"
  const [holder] = held
  if (holder === undefined) return undefined
  const isSettled = holder.state === "settled"
  if (order.act === "prayer") return isSettled ? "409 prayer_already_recorded" : "409 prayer_slot_taken"
  if (order.act === "keeper") return isSettled ? "409 already_kept" : "409 keeper_slot_taken"
  return undefined
}

/** The answer for a key with an attempt. */
const replayed = ({ order, state }: Attempt, asked: Order): ExpectedAnswer => {
  if (!isSame(order, asked)) return "409 idempotency_conflict"
  return state === "settled" ? "200" : state === "failed" ? failed : pending
}

/** A request without a payment. */
export const asked = (altar: Altar, key: number, order: Order, now: number): ReadonlyArray<ExpectedAnswer> => {
  const attempt = attemptOf(altar, key)
  if (attempt !== undefined) return [replayed(attempt, order)]
  // Without its node a server offers only cards.
  const isOffered = altar.fault !== "the node is silent" || isForCards(order)
  return [conflictOf(altar, order, now) ?? (isOffered ? "402 payment_required" : unavailable)]
}

/** A request with a payment. */
export const paid = (
  altar: Altar,
  truth: Truth,
  key: number,
  order: Order,
  authorization: number,
  now: number,
): ReadonlyArray<ExpectedAnswer> => {
  const attempt = attemptOf(altar, key)
  if (attempt !== undefined) return [replayed(attempt, order)]
  const conflict = conflictOf(altar, order, now)
  if (conflict !== undefined) return [conflict]
  const signed = altar.authorizations[authorization]
  if (signed === undefined) return []
  if (signed.rail === "card") {
    const { boundTo } = signed
    if (!isForCards(order) || boundTo?.key !== key || !isSame(boundTo.order, order)) return [invalid]
    const [found] = CardModel.inquired(CardModel.chargeOf(signed.card), altar.bankFault, 0)
    return [found === "paid" ? "201" : found === "failed" ? failed : pending]
  }
  const isBound = altar.attempts.some((one) => isAlive(one) && one.authorization === authorization)
  const { fault } = altar
  const end = truth.ends.get(authorization)
  const isLate = signed.validBefore < Math.floor(now / 1000) + leastLife || truth.newest.time >= signed.validBefore
  if (isLate || end !== undefined || fault === "the node is silent") {
    if (isBound) return [bound]
    if (fault === "the node is silent") return [unavailable]
    if (end === undefined) return [invalid]
    // A use or cancellation in a replaceable block, or without a receipt, is not proven.
    if (fault === "receipts are withheld") return [unavailable]
    const isFinal = end.block <= truth.final.number
    if (end.how === "cancelled") return [isFinal ? invalid : unavailable]
    const isFresh = !isLate && truth.final.time < signed.validBefore
    return [isFresh ? "201" : isFinal ? invalid : unavailable]
  }
  const price = priceOf(order)
  const balance = truth.balances[signed.wallet]
  if (balance < price) return [invalid]
  if (isBound) return [bound]
  const inFlight = altar.attempts.filter((one) => {
    const by = altar.authorizations[one.authorization]
    const isOfWallet = by?.rail === "x402" && by.wallet === signed.wallet
    return one.state === "pending" && isOfWallet && truth.ends.get(one.authorization) === undefined
  })
  const owed = inFlight.reduce((sum, one) => sum + priceOf(one.order), 0n)
  if (balance < owed + price) return [invalid]
  return [leavesOpen.has(fault) ? pending : "201"]
}

/** The altar after a request with a payment was answered. */
export const afterPaid = (
  altar: Altar,
  key: number,
  order: Order,
  authorization: number,
  said: ExpectedAnswer,
  now: number,
): Altar => {
  const isClaimed = said === "201" || said === pending || said === failed
  if (!isClaimed || attemptOf(altar, key) !== undefined) return altar
  const signed = altar.authorizations[authorization]
  const attempt: Attempt = {
    key,
    order,
    authorization,
    acceptedAt: now,
    state: said === "201" ? "settled" : said === failed ? "failed" : "pending",
    settledAt: said === "201" ? now : undefined,
    doubt: undefined,
    isRefused: altar.fault === "the facilitator refuses",
    charge:
      signed?.rail === "card" ? CardModel.inquired(CardModel.chargeOf(signed.card), altar.bankFault, 0)[1] : undefined,
    isOpened: false,
  }
  return { ...altar, attempts: [...altar.attempts, attempt] }
}

/** The processor has finished what waited. */
export const finished = (altar: Altar): Altar => ({
  ...altar,
  attempts: altar.attempts.map((one) =>
    one.charge === undefined ? one : { ...one, charge: CardModel.finished(one.charge) },
  ),
})

export const replaced = (altar: Altar, changed: Attempt): Altar => ({
  ...altar,
  attempts: altar.attempts.map((one) => (one.key === changed.key ? changed : one)),
})

/** A reveal or an unsealing under the id of an attempt. */
export const opened = (attempt: Attempt | undefined, isRight: boolean): ExpectedAnswer => {
  const isCandle = attempt !== undefined && isWax(attempt.order)
  if (attempt === undefined || attempt.state === "failed" || (!isCandle && attempt.order.act !== "stone"))
    return isCandle ? "404 candle_not_found" : "404 witness_not_found"
  if (attempt.state === "pending") return isCandle ? "409 candle_not_settled" : "409 witness_not_settled"
  if (attempt.isOpened) return isRight ? "200" : isCandle ? "409 already_unsealed" : "409 already_revealed"
  return isRight ? "201" : "409 commitment_mismatch"
}

/** When the next of what burns goes out, in Unix milliseconds. */
export const nextEnd = (altar: Altar, now: number): number | undefined =>
  altar.attempts
    .filter((one) => burns(one, now))
    .map(burnsUntil)
    .toSorted((a, b) => a - b)[0]
