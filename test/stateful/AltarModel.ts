/** What the altar promises of paid requests, as pure functions: the state table of an attempt, and what each caller is told. */

export const wallets = ["rich", "poor"] as const
export type Wallet = (typeof wallets)[number]

export type Act = "prayer" | "keeper" | "pixel" | "candle" | "stone"

/** What is bought; the same order is the same URL and body. */
export interface Order {
  readonly act: Act
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
  readonly order: Order
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
  readonly settledAt: number | undefined
  /** What a look found that would fail it, and when it was first found. */
  readonly doubt: { readonly reason: string; readonly at: number } | undefined
  /** Whether a facilitator has refused it. */
  readonly isRefused: boolean
  /** Whether its words were shown. */
  readonly isOpened: boolean
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

/** What the chain itself says, asked directly. */
export interface Truth {
  readonly newest: { readonly number: bigint; readonly time: number }
  readonly final: { readonly number: bigint; readonly time: number }
  readonly ends: ReadonlyMap<number, End>
  /** Atomic USDC. */
  readonly balances: Readonly<Record<Wallet, bigint>>
}

/** An answer in short: its status, and the code of a refusal. */
export type Said = string

export const pending = "202 settlement_pending"
export const failed = "402 payment_failed"
const invalid = "402 payment_invalid"
const bound = "409 payment_authorization_already_bound"
const unavailable = "503 facilitator_unavailable"

export const priceOf = ({ act }: Order) => (act === "candle" ? 1_000_000n : 10_000n)

/** Editions that are left of each pixel when a story begins. */
export const editions = 2

/** Seconds an authorization must still live, in milliseconds between two looks that agree, and a candle's day. */
const leastLife = 6
export const apartMillis = 3_600_000
const dayMillis = 86_400_000

const dayOf = (millis: number) => new Date(millis).toISOString().slice(0, 10)
export const isSame = (one: Order, other: Order) =>
  one.act === other.act && one.target === other.target && one.name === other.name

export const attemptOf = (altar: Altar, key: number) => altar.attempts.find((one) => one.key === key)
const isAlive = ({ state }: Attempt) => state !== "failed"

/** Attempts that hold what this order wants. */
const holders = (altar: Altar, { act, target }: Order, now: number) =>
  altar.attempts.filter(
    (one) =>
      isAlive(one) &&
      one.order.act === act &&
      one.order.target === target &&
      (act !== "prayer" || dayOf(one.acceptedAt) === dayOf(now)),
  )

/** What is in the way of an order, before it is paid. */
const conflictOf = (altar: Altar, order: Order, now: number): Said | undefined => {
  const held = holders(altar, order, now)
  if (order.act === "pixel") return held.length < editions ? undefined : "409 sold_out"
  const [holder] = held
  if (holder === undefined) return undefined
  const isSettled = holder.state === "settled"
  if (order.act === "prayer") return isSettled ? "409 prayer_already_recorded" : "409 prayer_slot_taken"
  if (order.act === "keeper") return isSettled ? "409 already_kept" : "409 keeper_slot_taken"
  return undefined
}

/** What a key answers that has an attempt. */
const replayed = ({ order, state }: Attempt, asked: Order): Said => {
  if (!isSame(order, asked)) return "409 idempotency_conflict"
  return state === "settled" ? "200" : state === "failed" ? failed : pending
}

/** A request without a payment. */
export const asked = (altar: Altar, key: number, order: Order, now: number): ReadonlyArray<Said> => {
  const attempt = attemptOf(altar, key)
  return [attempt === undefined ? (conflictOf(altar, order, now) ?? "402 payment_required") : replayed(attempt, order)]
}

/** A request with a payment. */
export const paid = (
  altar: Altar,
  truth: Truth,
  key: number,
  order: Order,
  authorization: number,
  now: number,
): ReadonlyArray<Said> => {
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
    // What was used or cancelled in a block that may be replaced, or whose receipt nobody gives, is not proven.
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
  const inFlight = altar.attempts.filter(
    (one) =>
      one.state === "pending" &&
      altar.authorizations[one.authorization]?.wallet === signed.wallet &&
      truth.ends.get(one.authorization) === undefined,
  )
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
  said: Said,
  now: number,
): Altar => {
  if (said !== "201" && (said !== pending || attemptOf(altar, key) !== undefined)) return altar
  const attempt: Attempt = {
    key,
    order,
    authorization,
    acceptedAt: now,
    state: said === "201" ? "settled" : "pending",
    settledAt: said === "201" ? now : undefined,
    doubt: undefined,
    isRefused: altar.fault === "the facilitator refuses",
    isOpened: false,
  }
  return { ...altar, attempts: [...altar.attempts, attempt] }
}

/** What a look at an open attempt finds; `after` is the chain once it was looked at, since a look may send it again. */
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
    const reverts = before.balances[signed.wallet] < priceOf(attempt.order) && before.newest.time < signed.validBefore
    return attempt.isRefused && reverts ? { reason: "insufficient_funds" } : "open"
  }
  if (fault === "receipts are withheld") return "open"
  if (end.how === "paid") return "paid"
  return end.block <= before.final.number ? { reason: "authorization_canceled" } : "open"
}

/** What a look may lead to: the attempt as it is afterwards, and what its caller is told. */
export const looked = (
  altar: Altar,
  attempt: Attempt,
  before: Truth,
  after: Truth,
  now: number,
): ReadonlyArray<readonly [Said, Attempt]> => {
  const found = findingOf(altar, attempt, before)
  const settled: readonly [Said, Attempt] = ["200", { ...attempt, state: "settled", settledAt: now, doubt: undefined }]
  if (found === "paid") return [settled]
  if (found === "nothing") return [[pending, attempt]]
  if (found === "open") {
    const open: readonly [Said, Attempt] = [pending, { ...attempt, doubt: undefined }]
    const isPaidSince =
      before.ends.get(attempt.authorization) === undefined && after.ends.get(attempt.authorization)?.how === "paid"
    return isPaidSince ? [settled, open] : [open]
  }
  const { reason } = found
  const doubt = attempt.doubt?.reason === reason ? attempt.doubt : { reason, at: now }
  return now - doubt.at >= apartMillis
    ? [[failed, { ...attempt, state: "failed", doubt: undefined }]]
    : [[pending, { ...attempt, doubt }]]
}

export const replaced = (altar: Altar, changed: Attempt): Altar => ({
  ...altar,
  attempts: altar.attempts.map((one) => (one.key === changed.key ? changed : one)),
})

/** A reveal or an unsealing under the id of an attempt. */
export const opened = (attempt: Attempt | undefined, isRight: boolean): Said => {
  const isCandle = attempt?.order.act === "candle"
  if (attempt === undefined || attempt.state === "failed" || (!isCandle && attempt.order.act !== "stone"))
    return isCandle ? "404 candle_not_found" : "404 witness_not_found"
  if (attempt.state === "pending") return isCandle ? "409 candle_not_settled" : "409 witness_not_settled"
  if (attempt.isOpened) return isRight ? "200" : isCandle ? "409 already_unsealed" : "409 already_revealed"
  return isRight ? "201" : "409 commitment_mismatch"
}

/** What the lists have to show. */
export const shown = (altar: Altar, now: number) => {
  const settled = altar.attempts.filter(({ state }) => state === "settled")
  const of = (act: Act) => settled.filter(({ order }) => order.act === act)
  const isLit = ({ settledAt = 0 }: Attempt) => now < settledAt + dayMillis
  const slotOf = (target: 0 | 1) => {
    const [holder] = holders(altar, { act: "prayer", target, name: "Wren" }, now)
    return holder === undefined ? "free" : holder.state === "settled" ? "taken" : "held"
  }
  return {
    acts: settled.length,
    cents: Number(settled.reduce((sum, { order }) => sum + priceOf(order), 0n) / 10_000n),
    stones: of("stone").length,
    keepers: of("keeper").length,
    keptTargets: of("keeper")
      .map(({ order }) => order.target)
      .sort(),
    prayersToday: of("prayer").filter(({ acceptedAt }) => dayOf(acceptedAt) === dayOf(now)).length,
    slots: [slotOf(0), slotOf(1)],
    lit: of("candle").filter(isLit).length,
    pixels: ([0, 1] as const).map((target) => {
      const held = holders(altar, { act: "pixel", target, name: "Wren" }, now)
      return { reserved: held.filter(({ state }) => state === "pending").length, remaining: editions - held.length }
    }),
    revealed: of("stone").filter(({ isOpened }) => isOpened).length,
  }
}
