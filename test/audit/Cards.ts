/** The charges of the card processor and the sales by card are the same purchases, once each. */
import { request, isObject, type Json, parsed, textAt } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import type { Attempt, Ledger } from "./Ledger.ts"

/** Where the processor is asked, as the seller. */
export interface CardAccount {
  readonly url: string
  readonly secretKey: string
}

/** Money that the processor took. */
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
  for (const { attempt: id, cents, currency, intent } of charges) {
    if (id === undefined) {
      found.examine("a charge that names no attempt is of another trade")
      continue
    }
    const attempt = attempts.get(id)
    const what = `${cents} ${currency} cents of ${intent}`
    found.examine(check)
    if (attempt === undefined) found.violate(check, `${what} name ${id}, which is no card attempt on disk`)
    else if (attempt.state === "failed") found.violate(check, `${what} paid for nothing: attempt ${id} failed`)
    else if (attempt.state === "settled" && attempt.transaction !== intent)
      found.violate(check, `${what} name ${id}, which was settled by ${attempt.transaction}`)
  }
  const own = Map.groupBy(charges, ({ attempt }) => attempt)
  const settled = [...attempts.values()].filter(({ state }) => state === "settled")
  for (const { amount, asset, id, transaction } of settled) {
    const [charge, more] = own.get(id) ?? []
    const isPaid =
      charge !== undefined &&
      more === undefined &&
      charge.intent === transaction &&
      charge.currency === asset &&
      BigInt(charge.cents) * atomicPerCent === BigInt(amount)
    found.hold(
      "a settled card act was charged once",
      isPaid,
      () =>
        `act ${id} costs ${amount} atomic and names ${transaction}; ${
          (own.get(id) ?? []).map((one) => `${one.cents} ${one.currency} cents of ${one.intent}`).join(" and ") ||
          "nothing"
        } was charged for it`,
    )
  }
  for (const { id, keepsToken, state } of attempts.values())
    found.hold(
      "a token is kept only while it may be charged",
      state === "pending" || !keepsToken,
      () => `attempt ${id} is ${state}, but it keeps its token`,
    )
}
