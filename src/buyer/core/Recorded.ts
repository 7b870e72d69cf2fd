/** Compares a settled answer with the sealed, requested and signed values; the altar's word alone ends no purchase. */
import { chosen, type Recorded } from "../../../schema/payments/Recorded.ts"
import { priceUsd } from "../../../schema/payments/Usdc.ts"
import { chainHashOf } from "./Chain.ts"
import { readHeader } from "./Challenge.ts"
import type { Difference } from "./Difference.ts"
import { canHash } from "./Digest.ts"
import { memberAt } from "./Json.ts"
import { bodyOf, type Settlement } from "./Outcome.ts"

export interface Bought {
  /** URL of the request; path and query suffice once it is signed. */
  readonly url: string
  /** JSON as sent; empty when there was none. */
  readonly body: string
  /** `PAYMENT-SIGNATURE`; absent when this buyer signed nothing under the key. */
  readonly payment?: string | undefined
  /** Atomic USDC. */
  readonly amountAtomic?: string | undefined
  readonly recorded?: Recorded | undefined
}

const locationOf = (url: string) => new URL(url, "https://altar.invalid")

export type { Difference }

const asText = (value: unknown): string =>
  value === undefined ? "nothing" : typeof value === "string" ? value : JSON.stringify(value)

const originOf = (url: unknown) => URL.parse(asText(url))?.origin

/** Addresses and hashes are equal by value, not by spelling. */
const valueOf = (value: unknown) => asText(value).replace(/^0x[0-9a-f]+$/iu, (hex) => hex.toLowerCase())

/** A field, its bought value and its value in the answer; a bought value that is undefined is not compared. */
type Claim = readonly [field: string, bought: unknown, recorded: unknown]

/** The values in a path by the names in its template, whose segments are the last ones. */
const parametersOf = (template: string, pathname: string) => {
  const names = template.split("/")
  const values = pathname.split("/").slice(-names.length)
  return Object.fromEntries(names.flatMap((name, at) => (name.startsWith(":") ? [[name.slice(1), values[at]]] : [])))
}

const inputClaims = ({ body, recorded, url }: Bought, record: unknown): ReadonlyArray<Claim> => {
  const { pathname, searchParams } = locationOf(url)
  /** The members of the request, by the record's names. */
  const requested = {
    ...bodyOf(body),
    ...Object.fromEntries(searchParams),
    ...parametersOf(recorded?.path ?? "", pathname),
  }
  if (recorded?.members === undefined)
    return Object.entries(requested).map(([name, value]) => ifSaid(name, value, memberAt(record, name)))
  return Object.entries(recorded.members).map(([name, otherwise]) => {
    const value = memberAt(record, name)
    if (name in requested) return [name, memberAt(requested, name), value]
    // A value that the altar chooses may be any, but a record without one is of another act.
    return [name, otherwise === chosen ? (value ?? "a value") : otherwise, value]
  })
}

/** Compares a field only if the answer has it. */
const ifSaid = (field: string, bought: unknown, recorded: unknown): Claim => [field, bought, recorded ?? bought]

const moneyClaims = ({ amountAtomic }: Bought, signed: unknown, { body, header }: Settlement): ReadonlyArray<Claim> => {
  const { receipt, record } = body
  const [accepted, authorization] = [memberAt(signed, "accepted"), memberAt(signed, "payload", "authorization")]
  const amount = memberAt(authorization, "value") ?? amountAtomic
  const payer = memberAt(receipt, "payer")
  const transaction = memberAt(receipt, "transaction")
  return [
    ["amountAtomic", amount, memberAt(receipt, "amountAtomic")],
    ["priceUsd", amount === undefined ? undefined : priceUsd(BigInt(String(amount))), memberAt(receipt, "priceUsd")],
    ["network", memberAt(accepted, "network"), memberAt(receipt, "network")],
    ["asset", memberAt(accepted, "asset"), memberAt(receipt, "asset")],
    ["payTo", memberAt(authorization, "to"), memberAt(receipt, "payTo")],
    ["payer", memberAt(authorization, "from"), payer],
    ifSaid("nonce", memberAt(authorization, "nonce"), memberAt(receipt, "nonce")),
    ifSaid("record.payer", payer, memberAt(record, "payer")),
    ifSaid("record.keeper", payer, memberAt(record, "keeper")),
    ifSaid("record.transaction", transaction, memberAt(record, "transaction")),
    ifSaid("PAYMENT-RESPONSE payer", payer, memberAt(header, "payer")),
    ifSaid("PAYMENT-RESPONSE network", memberAt(receipt, "network"), memberAt(header, "network")),
    ifSaid("PAYMENT-RESPONSE transaction", transaction, memberAt(header, "transaction")),
  ]
}

/** The folder of the permalink. Earlier pages stored purchases without it, and only stones had pages of their own. */
const pageOf = ({ recorded, url }: Bought) =>
  recorded?.page ?? (locationOf(url).pathname.endsWith("/api/witness") ? "witness" : "acts")

const linkClaims = (purchase: Bought, signed: unknown, { body }: Settlement): ReadonlyArray<Claim> => {
  const { permalink, record } = body
  const origin = originOf(memberAt(signed, "resource", "url") ?? purchase.url)
  const page = `/${pageOf(purchase)}/${asText(memberAt(record, "id"))}`
  return [
    ["permalink", page, asText(permalink).slice(-page.length)],
    ["permalink", origin, originOf(permalink)],
    ["record.permalink", permalink, memberAt(record, "permalink")],
    // Sealed words will be sent to these URLs one day.
    ifSaid("verify.revealUrl", origin, originOf(memberAt(record, "verify", "revealUrl"))),
    ifSaid("unsealUrl", origin, originOf(memberAt(record, "unsealUrl"))),
  ]
}

/** The link of a stone hashes to its chain hash, so time, place and transaction are those of the chain. */
const chainClaims = async (record: unknown): Promise<ReadonlyArray<Claim>> => {
  const chainHash = memberAt(record, "chainHash")
  if (chainHash === undefined || !canHash()) return []
  const text = (name: string) => asText(memberAt(record, name))
  const link = {
    previousHash: text("previousHash"),
    sequence: Number(memberAt(record, "sequence")),
    commitment: text("commitment"),
    witnessedAt: text("witnessedAt"),
    transaction: text("transaction"),
  }
  return [["chainHash", await chainHashOf(link), chainHash]]
}

/** Every field in which a settled answer differs from the purchase. */
export const differencesOf = async (bought: Bought, settlement: Settlement): Promise<ReadonlyArray<Difference>> => {
  const { record } = settlement.body
  const signed = readHeader(bought.payment ?? null)
  const claims = [
    ...inputClaims(bought, record),
    ...moneyClaims(bought, signed, settlement),
    ...linkClaims(bought, signed, settlement),
    ...(await chainClaims(record)),
  ]
  return claims.flatMap(([field, expected, actual]) =>
    expected === undefined || valueOf(expected) === valueOf(actual)
      ? []
      : [{ field, bought: asText(expected), recorded: asText(actual) }],
  )
}

const brief = (value: string) => (value.length > 100 ? `${value.slice(0, 100)}…` : value)

/** The sentences for the owner of a purchase; `kept` says where the evidence is. */
export const misrecorded = (differences: ReadonlyArray<Difference>, kept: string): string =>
  [
    "The altar recorded something else than you bought.",
    ...differences.map(
      ({ bought, field, recorded }) => `${field}: ${brief(bought)} was bought, ${brief(recorded)} is recorded.`,
    ),
    "Your payment may have been charged: do not pay again, and ask the operator of the altar.",
    kept,
  ].join(" ")
