/** Transfers, settled rows and receipts are the same purchases, each of them once. */
import { soldActs } from "./Acts.ts"
import { each, isObject, parsed, request, textAt } from "./Api.ts"
import { cardReceiptOf } from "./CardChecks.ts"
import type { Findings } from "./Findings.ts"
import type { Attempt, Ledger } from "./AuditLedger.ts"
import { authorizationOf, type ChainView, type Transfer } from "./Transfers.ts"

/** The altar, and the knowledge of it. */
interface Audited {
  readonly token: string
  readonly payTo: string
  readonly servers: ReadonlyArray<string>
  readonly isQuiet: boolean
  /** The senders of the servers' transactions. */
  readonly settlers: ReadonlyArray<string>
  readonly chain: ChainView
  readonly ledger: Ledger
  readonly found: Findings
}

interface PublicAct {
  readonly id: string
  readonly act: string
  readonly receipt: Readonly<Record<string, unknown>>
  readonly record: Readonly<Record<string, unknown>>
}

/** All acts that a server shows, read page by page. */
const readActs = async (server: string, found: Findings): Promise<ReadonlyArray<PublicAct>> => {
  const rows: Array<PublicAct> = []
  for (let before = ""; ;) {
    const { status, text } = await request(`${server}/api/acts?limit=50${before}`)
    const page = parsed(text)
    if (status !== 200 || !isObject(page) || !Array.isArray(page["acts"])) {
      found.violate("acts are public", { server, status, text })
      return rows
    }
    rows.push(...page["acts"])
    if (page["next"] === null || page["next"] === undefined) return rows
    before = `&before=${String(page["next"])}`
  }
}

const lower = (value: unknown) => (typeof value === "string" ? value.toLowerCase() : value)

/** Where the money of a settled attempt lies now. */
const placeOf = ({ currentTransaction, transaction }: Attempt) => currentTransaction ?? transaction

const auditTransfers = async ({ chain, found, ledger, settlers, token }: Audited) => {
  const paid = Map.groupBy(
    ledger.attempts.filter(({ rail }) => rail === "x402"),
    authorizationOf,
  )
  const unmatched = new Map(ledger.unmatched.map((one) => [one.name, one]))
  const nameOf = (transfer: Transfer) =>
    `authorization:eip155:${chain.chainId}:${token.toLowerCase()}:${authorizationOf(transfer)}`
  const unjudged = new Set(ledger.unjudged.map(({ name }) => name))
  const scanned = ledger.scans.find(({ asset }) => asset === token.toLowerCase())
  // The sender of a recorded broadcast is one of our relayers.
  const noted = new Set(ledger.broadcasts.map(({ hash }) => hash))
  const ours = new Set(settlers.map((one) => one.toLowerCase()))
  const sample = chain.transfers.find(({ transaction }) => noted.has(transaction))
  if (sample !== undefined) ours.add(await chain.senderOf(sample.transaction))
  const check = "a transfer buys one act"
  const once = "a final transfer is one act or one unmatched payment"
  const made = new Set(chain.transfers.map(nameOf))
  for (const { name } of ledger.unmatched)
    found.hold(once, !name.startsWith("authorization:") || made.has(name), { name })
  await each(chain.transfers, async (transfer) => {
    const attempts = paid.get(authorizationOf(transfer)) ?? []
    const [settled, more] = attempts.filter(({ state }) => state === "settled")
    const facts = { transfer, attempts: attempts.map(({ amount, id, state }) => ({ id, state, amount })) }
    const unmatchedPayment = unmatched.get(nameOf(transfer))
    if (settled !== undefined) {
      found.hold(once, unmatchedPayment === undefined, { ...facts, unmatchedPayment })
      return found.hold(check, more === undefined && BigInt(settled.amount) === transfer.amount, facts)
    }
    found.examine(check)
    // The check of pending attempts says whether one may be open still.
    if (attempts.some(({ state }) => state === "pending")) return undefined
    if (unmatchedPayment !== undefined) {
      const isSame =
        BigInt(unmatchedPayment.amount) === transfer.amount && unmatchedPayment.transaction === transfer.transaction
      found.hold(once, isSame && transfer.block <= chain.final.number, { ...facts, unmatchedPayment })
      return found.examine("a payment of no purchase is noted for the operator")
    }
    const isRead = scanned !== undefined && transfer.block <= BigInt(scanned.block) && !unjudged.has(nameOf(transfer))
    // Cheaper ones of unknown buyers have a ceiling.
    if (isRead && (attempts.length > 0 || transfer.amount >= 10_000n)) found.violate(once, facts)
    const isPrice = attempts.some(({ amount }) => BigInt(amount) === transfer.amount)
    if (isPrice || ours.has(await chain.senderOf(transfer.transaction))) return found.violate(check, facts)
    return found.examine("an outsider brought an authorization that nobody ever showed here")
  })
}

/** Whether what is settled was paid, for exactly its price, to exactly the right address, where it says. */
const auditSettled = ({ chain, found, ledger, payTo, token }: Audited) => {
  const transfers = Map.groupBy(chain.transfers, authorizationOf)
  const seen = new Set<string>()
  for (const attempt of ledger.attempts.filter(({ rail, state }) => rail === "x402" && state === "settled")) {
    const name = authorizationOf(attempt)
    const [transfer]: ReadonlyArray<Transfer | undefined> = transfers.get(name) ?? []
    const facts = { attempt, transfer }
    found.hold("no authorization pays two acts", !seen.has(name), { name, attempt })
    seen.add(name)
    if (attempt.finality === "lost") {
      found.hold("a lost act was not paid", transfer === undefined, facts)
      continue
    }
    const isToSeller =
      attempt.network === `eip155:${chain.chainId}` &&
      attempt.asset === token.toLowerCase() &&
      attempt.payTo === payTo.toLowerCase()
    const isPaid =
      transfer?.transaction === placeOf(attempt) &&
      transfer?.amount === BigInt(attempt.amount) &&
      (attempt.finality !== "final" || transfer.block <= chain.final.number)
    found.hold("a settled act was paid once", isToSeller && isPaid, facts)
  }
}

const auditPrices = ({ found, ledger }: Audited) => {
  for (const { act, amount, id } of ledger.attempts.filter(({ state }) => state === "settled"))
    found.hold("an act is paid its price", amount === soldActs[act]?.price, { id, act, amount })
}

/** The expected receipt of an attempt that settled on chain. */
const receiptOf = (attempt: Attempt) => ({
  transaction: attempt.transaction,
  network: attempt.network,
  asset: attempt.asset,
  amountAtomic: attempt.amount,
  payer: attempt.payer,
  payTo: attempt.payTo,
  finality: attempt.finality,
  ...(attempt.currentTransaction === null ? {} : { currentTransaction: attempt.currentTransaction }),
})

/** The payment in the first answer and its header, which every replay repeats. */
const auditStored = ({ found, ledger }: Audited) => {
  const check = "a stored answer names its payment"
  for (const attempt of ledger.attempts.filter(({ state }) => state === "settled")) {
    // Node reads the alphabet of URLs as base64, too.
    const header = parsed(Buffer.from(attempt.paymentResponse ?? "", "base64").toString())
    const { answer } = attempt
    const said =
      attempt.rail === "card"
        ? [textAt(header, "reference"), textAt(answer, "receipt", "card", "reference")]
        : [textAt(header, "transaction"), textAt(answer, "receipt", "transaction")]
    const isNamed = said.every((transaction) => lower(transaction) === attempt.transaction)
    found.hold(check, isNamed, { id: attempt.id, transaction: attempt.transaction, said })
  }
}

const auditReceipts = async (server: string, { found, ledger }: Audited) => {
  const check = "a receipt is shown of each settled act, once"
  const settled = new Map(ledger.attempts.filter(({ state }) => state === "settled").map((one) => [one.id, one]))
  const shown = new Set<string>()
  for (const { id, receipt, record } of await readActs(server, found)) {
    const attempt = settled.get(id)
    found.hold(check, attempt !== undefined && !shown.has(id), { server, shown: id })
    shown.add(id)
    if (attempt === undefined) continue
    const { card } = receipt
    const said = { ...receipt, ...(isObject(card) ? card : {}) }
    const meant = attempt.rail === "card" ? cardReceiptOf(attempt) : receiptOf(attempt)
    if (Object.entries(meant).some(([name, value]) => lower(said[name]) !== value))
      found.violate(check, { server, id, said, meant })
    const { answer } = attempt
    if (!ledger.hidden.has(id) && answer !== null) {
      const isSame = JSON.stringify(answer.record) === JSON.stringify(record)
      found.hold("a record is shown as it was answered", isSame, { server, id, answered: answer.record, record })
    }
  }
  for (const id of settled.keys()) if (!shown.has(id)) found.violate(check, { server, hides: id })
}

const auditTotals = ({ found, ledger }: Audited) => {
  const settled = ledger.attempts.filter(({ state }) => state === "settled")
  const atomic = settled.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const [totals] = ledger.totals
  const isSum =
    totals !== undefined && BigInt(totals.settled) === BigInt(settled.length) && BigInt(totals.atomic) === atomic
  found.hold("the totals are the sums of the settled acts", isSum, { totals, settled: settled.length, atomic })
  for (const [key, attempts] of Map.groupBy(ledger.attempts, ({ key }) => key))
    found.hold("a key has one attempt", attempts.length === 1, { key, attempts: attempts.length })
}

/**
 * An attempt may be pending only while its outcome is unknown: its transfer is in no final block, and no final block is past `validBefore`.
 */
const auditPending = ({ chain, found, isQuiet, ledger }: Audited) => {
  const transfers = new Map(chain.transfers.map((one) => [authorizationOf(one), one]))
  const check = "nothing is pending without a reason"
  for (const attempt of ledger.attempts) {
    found.examine(check)
    if (attempt.state !== "pending") continue
    const transfer = transfers.get(authorizationOf(attempt))
    const isPaid = transfer !== undefined && transfer.block <= chain.final.number
    const isOver =
      attempt.rail === "x402" && transfer === undefined && BigInt(attempt.validBefore) < chain.final.timestamp
    const isForgotten = attempt.nextCheckAt.getTime() > Date.now() + 3_600_000
    if (isPaid || isOver || isForgotten || isQuiet)
      found.violate(check, { attempt, transfer, final: chain.final.number })
  }
}

export const auditPayments = async (audited: Audited) => {
  const { chain, found, servers } = audited
  found.examine("a gift buys nothing", chain.gifts)
  await auditTransfers(audited)
  auditSettled(audited)
  auditPrices(audited)
  for (const server of servers) await auditReceipts(server, audited)
  auditStored(audited)
  auditTotals(audited)
  auditPending(audited)
}
