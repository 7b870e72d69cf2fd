/** The charges of the card processor and the sales by card are the same purchases, once each. */
import { request, isObject, type Json, parsed, textAt } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import type { Attempt, Ledger } from "./AuditLedger.ts"

/** Where the processor is asked, as the seller. */
export interface CardAccount {
  readonly url: string
  readonly secretKey: string
}

export interface Charge {
  /** In lower case. */
  readonly intent: string
  /** The attempt it was made for; none where it is of some other trade. */
  readonly attempt: string | undefined
  readonly cents: number
  readonly currency: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

const version = "2026-07-29.preview"
const atomicPerCent = 10_000n

const isTaken = (intent: Json) => intent["status"] === "succeeded" || Number(intent["amount_received"]) > 0

/** Every charge of the account, whatever became of what it paid for. */
export const readCharges = async ({ secretKey, url }: CardAccount): Promise<ReadonlyArray<Charge>> => {
  const charges: Array<Charge> = []
  const headers = {
    authorization: `Basic ${Buffer.from(`${secretKey}:`).toString("base64")}`,
    "stripe-version": version,
  }
  for (let after = ""; ;) {
    const { status, text } = await request(`${url}/v1/payment_intents?limit=100${after}`, { headers })
    const page = parsed(text)
    if (status !== 200 || !isObject(page) || !Array.isArray(page["data"]))
      throw new Error(`the card processor answers ${status}: ${text.slice(0, 200)}`)
    const intents = page["data"].filter(isObject)
    for (const one of intents.filter(isTaken)) {
      charges.push({
        intent: (textAt(one, "id") ?? "").toLowerCase(),
        attempt: textAt(one, "metadata", "attempt"),
        cents: Number(one["amount_received"]),
        currency: textAt(one, "currency") ?? "",
        createdAt: Number(one["created"]) * 1000,
      })
    }
    const last = textAt(intents.at(-1), "id")
    if (page["has_more"] !== true || last === undefined) return charges
    after = `&starting_after=${last}`
  }
}

/** The expected receipt of a card, with the members of its `card`. */
export const cardReceiptOf = ({ amount, transaction }: Attempt) => ({
  transaction: null,
  network: null,
  asset: null,
  payer: null,
  payTo: null,
  amountAtomic: amount,
  method: "stripe",
  reference: transaction,
  currency: "usd",
  amountCents: String(BigInt(amount) / atomicPerCent),
})

export const auditCards = (charges: ReadonlyArray<Charge>, ledger: Ledger, found: Findings) => {
  const attempts = new Map(ledger.attempts.filter(({ rail }) => rail === "card").map((one) => [one.id, one]))
  const check = "a card charge buys one act"
  for (const charge of charges) {
    if (charge.attempt === undefined) {
      found.examine("a charge that names no attempt is of another trade")
      continue
    }
    const attempt = attempts.get(charge.attempt)
    const isOfAct =
      attempt?.state === "pending" || (attempt?.state === "settled" && attempt.transaction === charge.intent)
    found.hold(check, isOfAct, { charge, attempt })
  }
  const own = Map.groupBy(charges, ({ attempt }) => attempt)
  for (const attempt of attempts.values()) {
    if (attempt.state !== "settled") continue
    const taken = own.get(attempt.id) ?? []
    const [charge] = taken
    const isPaid =
      charge !== undefined &&
      taken.length === 1 &&
      charge.intent === attempt.transaction &&
      charge.currency === "usd" &&
      BigInt(charge.cents) * atomicPerCent === BigInt(attempt.amount)
    found.hold("a settled card act was charged once", isPaid, { attempt, taken })
  }
  for (const { id, keepsToken, state } of attempts.values())
    found.hold("a token is kept only while it may be charged", state === "pending" || !keepsToken, { id, state })
}
