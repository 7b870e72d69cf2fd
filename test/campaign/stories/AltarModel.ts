/** The altar's promises for paid requests, as pure functions: the state table of an attempt, and what each caller is told. */

export type Wallet = "rich" | "poor"

/** The order; the same order is the same URL and body. */
export interface Order {
  readonly act: "prayer" | "keeper" | "pixel" | "stone"
  /** Which of two spirits, pixels or sealed sentences. */
  readonly target: 0 | 1
  /** Two bodies for the same thing. */
  readonly name: "Wren" | "Finch"
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

export interface Authorization {
  readonly wallet: Wallet
  /** Unix seconds. */
  readonly validBefore: number
}

export interface Attempt {
  readonly key: number
  readonly order: Order
  /** Its place among all that were signed. */
  readonly authorization: number
  /** Unix milliseconds. */
  readonly acceptedAt: number
  readonly state: "pending" | "settled" | "failed"
  /** The finding that would fail it, and its first time. */
  readonly doubt: { readonly reason: string; readonly at: number } | undefined
  /** Whether a facilitator has refused it. */
  readonly isRefused: boolean
}

export interface Altar {
  readonly attempts: ReadonlyArray<Attempt>
  readonly authorizations: ReadonlyArray<Authorization>
  readonly fault: Fault
}

export const empty: Altar = { attempts: [], authorizations: [], fault: "no" }

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

const pending = "202 settlement_pending"
export const failed = "402 payment_failed"
const invalid = "402 payment_invalid"
const bound = "409 payment_authorization_already_bound"
const unavailable = "503 facilitator_unavailable"

/** Atomic USDC. */
const price = 10_000n

/** Editions that are left of each pixel when a story begins. */
export const editions = 2

/** Seconds an authorization must still live, and milliseconds between two looks that agree. */
const leastLife = 6
export const apartMillis = 3_600_000

const dayOf = (millis: number) => new Date(millis).toISOString().slice(0, 10)
const isSame = (one: Order, other: Order) =>
  one.act === other.act && one.target === other.target && one.name === other.name

export const attemptOf = (altar: Altar, key: number) => altar.attempts.find((one) => one.key === key)
const isAlive = ({ state }: Attempt) => state !== "failed"

/** Attempts that hold what this order wants. */
const holders = (altar: Altar, { act, target }: Pick<Order, "act" | "target">, now: number) =>
  altar.attempts.filter(
    (one) =>
      isAlive(one) &&
      one.order.act === act &&
      one.order.target === target &&
      (act !== "prayer" || dayOf(one.acceptedAt) === dayOf(now)),
  )

/** The obstacle of an unpaid order. */
const conflictOf = (altar: Altar, order: Order, now: number): ExpectedAnswer | undefined => {
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
  const offer = altar.fault === "the node is silent" ? unavailable : "402 payment_required"
  return [conflictOf(altar, order, now) ?? offer]
}

/** A request with a payment. */
export interface Paid {
  readonly key: number
  readonly order: Order
  readonly authorization: number
}

export const paid = (
  altar: Altar,
  truth: Truth,
  { authorization, key, order }: Paid,
  now: number,
): ReadonlyArray<ExpectedAnswer> => {
  const attempt = attemptOf(altar, key)
  if (attempt !== undefined) return [replayed(attempt, order)]
  const conflict = conflictOf(altar, order, now)
  if (conflict !== undefined) return [conflict]
  const signed = altar.authorizations[authorization]
  if (signed === undefined) return []
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
  const balance = truth.balances[signed.wallet]
  if (balance < price) return [invalid]
  if (isBound) return [bound]
  const inFlight = altar.attempts.filter(
    (one) =>
      one.state === "pending" &&
      altar.authorizations[one.authorization]?.wallet === signed.wallet &&
      truth.ends.get(one.authorization) === undefined,
  )
  if (balance < price * BigInt(inFlight.length + 1)) return [invalid]
  return [leavesOpen.has(fault) ? pending : "201"]
}

/** The altar after a request with a payment was answered. */
export const afterPaid = (altar: Altar, one: Paid, said: ExpectedAnswer, now: number): Altar => {
  const isClaimed = said === "201" || said === pending || said === failed
  if (!isClaimed || attemptOf(altar, one.key) !== undefined) return altar
  const attempt: Attempt = {
    key: one.key,
    order: one.order,
    authorization: one.authorization,
    acceptedAt: now,
    state: said === "201" ? "settled" : said === failed ? "failed" : "pending",
    doubt: undefined,
    isRefused: altar.fault === "the facilitator refuses",
  }
  return { ...altar, attempts: [...altar.attempts, attempt] }
}

/** The altar after two concurrent requests, if one after the other is answered so; the state of the first one is unknown then. */
export const inTurn = (
  { altar, now, truth }: { readonly altar: Altar; readonly now: number; readonly truth: Truth },
  first: Paid,
  firstSaid: string,
  second: Paid,
  secondSaid: string,
) => {
  if (!paid(altar, truth, first, now).includes(firstSaid)) return undefined
  const between = afterPaid(altar, first, firstSaid, now)
  const isNew = attemptOf(altar, first.key) === undefined
  const attempts = between.attempts.map((one) =>
    one.key === first.key && isNew ? { ...one, state: "pending" as const } : one,
  )
  const allowed = [between, { ...between, attempts }].flatMap((state) => paid(state, truth, second, now))
  return allowed.includes(secondSaid) ? afterPaid(between, second, secondSaid, now) : undefined
}

export const replaced = (altar: Altar, changed: Attempt): Altar => ({
  ...altar,
  attempts: altar.attempts.map((one) => (one.key === changed.key ? changed : one)),
})

/** The finding of an inquiry about a pending attempt. */
const findingOf = (
  altar: Altar,
  attempt: Attempt,
  before: Truth,
): "paid" | "open" | "nothing" | { readonly reason: string } => {
  const { fault } = altar
  const end = before.ends.get(attempt.authorization)
  const signed = altar.authorizations[attempt.authorization]
  if (fault === "the node is silent" || signed === undefined) return "nothing"
  if (end === undefined) {
    if (before.final.time >= signed.validBefore) return { reason: "authorization_expired" }
    const reverts = before.balances[signed.wallet] < price && before.newest.time < signed.validBefore
    return attempt.isRefused && reverts ? { reason: "insufficient_funds" } : "open"
  }
  if (fault === "receipts are withheld") return "open"
  if (end.how === "paid") return "paid"
  return end.block <= before.final.number ? { reason: "authorization_canceled" } : "open"
}

/**
 * The possible results of an inquiry: the attempt as it is afterwards, and what its caller is told. `after` is the chain once it
 * was looked at, since a look may send the payment again.
 */
export const inquired = (
  altar: Altar,
  attempt: Attempt,
  before: Truth,
  after: Truth,
  now: number,
): ReadonlyArray<readonly [ExpectedAnswer, Attempt]> => {
  const found = findingOf(altar, attempt, before)
  const settled: readonly [ExpectedAnswer, Attempt] = ["200", { ...attempt, state: "settled", doubt: undefined }]
  if (found === "paid") return [settled]
  if (found === "nothing") return [[pending, attempt]]
  if (found === "open") {
    const open: readonly [ExpectedAnswer, Attempt] = [pending, { ...attempt, doubt: undefined }]
    const isPaidSince =
      before.ends.get(attempt.authorization) === undefined && after.ends.get(attempt.authorization)?.how === "paid"
    return isPaidSince ? [settled, open] : [open]
  }
  // Two looks that are apart have to agree.
  const doubt = attempt.doubt?.reason === found.reason ? attempt.doubt : { reason: found.reason, at: now }
  return now - doubt.at >= apartMillis
    ? [[failed, { ...attempt, state: "failed", doubt: undefined }]]
    : [[pending, { ...attempt, doubt }]]
}

/** The lists that the altar has to show. */
export const shown = (altar: Altar, now: number) => {
  const settled = altar.attempts.filter(({ state }) => state === "settled")
  const of = (act: Order["act"]) => settled.filter(({ order }) => order.act === act)
  return {
    acts: settled.length,
    cents: settled.length,
    stones: of("stone").length,
    keepers: of("keeper").length,
    keptTargets: of("keeper")
      .map(({ order }) => order.target)
      .sort(),
    prayersToday: of("prayer").filter(({ acceptedAt }) => dayOf(acceptedAt) === dayOf(now)).length,
    slots: ([0, 1] as const).map((target) => {
      const [holder] = holders(altar, { act: "prayer", target }, now)
      return holder === undefined ? "free" : holder.state === "settled" ? "taken" : "held"
    }),
    pixels: ([0, 1] as const).map((target) => {
      const held = holders(altar, { act: "pixel", target }, now)
      return { reserved: held.filter(({ state }) => state === "pending").length, remaining: editions - held.length }
    }),
  }
}
