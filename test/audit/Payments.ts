/** Transfers, settled rows and receipts are the same purchases, each of them once. */
import { each, isObject, pagesOf, parsed, textAt } from "./Api.ts"
import { cardReceiptOf } from "./Cards.ts"
import type { Findings } from "./Findings.ts"
import type { Attempt, Ledger } from "./Ledger.ts"
import { authorizationOf, type ChainView, type Transfer } from "./Transfers.ts"

/** A settled act in the public API. */
export interface PublicAct {
  readonly id: string
  readonly act: string
  readonly receipt: Readonly<Record<string, unknown>>
  readonly record: Readonly<Record<string, unknown>>
}

/** All acts that a server shows. */
export const readActs = async (server: string, found: Findings): Promise<ReadonlyArray<PublicAct>> => {
  const { rows, wrong } = await pagesOf(server, "/api/acts", "acts")
  if (wrong !== undefined) found.violate("acts are public", wrong)
  return rows as unknown as ReadonlyArray<PublicAct>
}

/** The price of each act, atomic USDC. */
const prices: Readonly<Record<string, string>> = {
  offerPrayer: "10000",
  takeIn: "10000",
  collectMaterial: "10000",
  lightDay: "1000000",
  lightWeek: "3000000",
  lightMonth: "9000000",
  setWitnessStone: "10000",
}

const lower = (value: unknown) => (typeof value === "string" ? value.toLowerCase() : value)

/** Where the money of a settled attempt lies now. */
const placeOf = ({ currentTransaction, transaction }: Attempt) => currentTransaction ?? transaction

const auditTransfers = async (
  { token }: { readonly token: string },
  settlers: ReadonlySet<string>,
  chain: ChainView,
  ledger: Ledger,
  found: Findings,
) => {
  const paid = Map.groupBy(
    ledger.attempts.filter(({ rail }) => rail === "x402"),
    authorizationOf,
  )
  const strays = new Set(ledger.strays.map(({ name }) => name))
  // The sender of a recorded broadcast is one of our relayers.
  const noted = new Set(ledger.broadcasts.map(({ hash }) => hash))
  const ours = new Set(settlers)
  const sample = chain.transfers.find(({ transaction }) => noted.has(transaction))
  if (sample !== undefined) ours.add(await chain.senderOf(sample.transaction))
  const check = "a transfer buys one act"
  await each(chain.transfers, async (transfer) => {
    found.examine(check)
    const attempts = paid.get(authorizationOf(transfer)) ?? []
    const settled = attempts.filter(({ state }) => state === "settled")
    const what = `${transfer.amount} atomic USDC of ${transfer.payer} by authorization ${transfer.nonce} in ${transfer.transaction}`
    const [one] = settled
    if (settled.length > 1) found.violate(check, `${what} settled ${settled.length} acts`)
    else if (one !== undefined) {
      if (BigInt(one.amount) !== transfer.amount)
        found.violate(check, `${what} settled ${one.id}, which costs ${one.amount}`)
    } else if (attempts.some(({ state }) => state === "pending")) {
      // Whether it may be open still, the check of pending attempts says.
    } else if (
      strays.has(`authorization:eip155:${chain.chainId}:${token.toLowerCase()}:${authorizationOf(transfer)}`)
    ) {
      found.examine("a payment of no purchase is noted for the operator")
    } else if (attempts.length > 0) {
      found.violate(check, `${what} paid for nothing: its attempt ${attempts.map(({ id }) => id).join(", ")} failed`)
    } else if (ours.has(await chain.senderOf(transfer.transaction))) {
      found.violate(check, `${what} was sent by this server, but no intent is on disk`)
    } else found.examine("an outsider brought an authorization that nobody ever showed here")
  })
}

/** Whether what is settled was paid, for exactly its price, to exactly the right address, where it says. */
const auditSettled = (
  target: { readonly token: string; readonly payTo: string },
  chain: ChainView,
  ledger: Ledger,
  found: Findings,
) => {
  const transfers = Map.groupBy(chain.transfers, authorizationOf)
  const check = "a settled act was paid once"
  const seen = new Map<string, string>()
  for (const attempt of ledger.attempts.filter(({ rail, state }) => rail === "x402" && state === "settled")) {
    const name = authorizationOf(attempt)
    const other = seen.get(name)
    const what = `act ${attempt.id} (${attempt.act})`
    found.hold("no authorization pays two acts", other === undefined, () => `${what} and ${other} share ${name}`)
    seen.set(name, attempt.id)
    const own: ReadonlyArray<Transfer> = transfers.get(name) ?? []
    const [transfer] = own
    if (attempt.finality === "lost") {
      found.hold(
        "a lost act was not paid",
        own.length === 0,
        () => `${what} is marked lost, but ${transfer?.transaction} pays it`,
      )
      continue
    }
    found.examine(check)
    if (transfer === undefined) found.violate(check, `${what} is settled, but no transfer of ${name} is on the chain`)
    else if (transfer.transaction !== placeOf(attempt))
      found.violate(check, `${what} names ${placeOf(attempt)}, but ${transfer.transaction} pays it`)
    else if (transfer.amount !== BigInt(attempt.amount))
      found.violate(check, `${what} costs ${attempt.amount}, but ${transfer.amount} was paid`)
    if (attempt.finality === "final" && transfer !== undefined && transfer.block > chain.final.number)
      found.violate(check, `${what} is said to be final, but block ${transfer.block} is not`)
    if (attempt.network !== `eip155:${chain.chainId}` || attempt.asset !== target.token.toLowerCase())
      found.violate(check, `${what} is paid in ${attempt.asset} on ${attempt.network}`)
    if (attempt.payTo !== target.payTo.toLowerCase()) found.violate(check, `${what} is paid to ${attempt.payTo}`)
  }
}

const auditPrices = (ledger: Ledger, found: Findings) => {
  for (const { act, amount, id } of ledger.attempts.filter(({ state }) => state === "settled")) {
    found.hold(
      "an act is paid its price",
      amount === (prices[act] ?? amount),
      () => `act ${id} (${act}) was sold for ${amount}, and its price is ${prices[act]}`,
    )
  }
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
const auditStored = (ledger: Ledger, found: Findings) => {
  const check = "a stored answer names its payment"
  for (const attempt of ledger.attempts.filter(({ state }) => state === "settled")) {
    // Node reads the alphabet of URLs as base64, too.
    const header = parsed(Buffer.from(attempt.paymentResponse ?? "", "base64").toString())
    const answer = parsed(attempt.answer ?? "")
    const said =
      attempt.rail === "card"
        ? [textAt(header, "reference"), textAt(answer, "receipt", "card", "reference")]
        : [textAt(header, "transaction"), textAt(answer, "receipt", "transaction")]
    found.hold(
      check,
      said.every((transaction) => lower(transaction) === attempt.transaction),
      () => `act ${attempt.id} was settled by ${attempt.transaction}, but its answer names ${said.join(" and ")}`,
    )
  }
}

const auditReceipts = (server: string, acts: ReadonlyArray<PublicAct>, ledger: Ledger, found: Findings) => {
  const check = "a receipt is shown of each settled act, once"
  const settled = new Map(ledger.attempts.filter(({ state }) => state === "settled").map((one) => [one.id, one]))
  const shown = new Set<string>()
  for (const { id, receipt, record } of acts) {
    found.hold(check, !shown.has(id), () => `${server} shows act ${id} twice`)
    shown.add(id)
    const attempt = settled.get(id)
    if (attempt === undefined) {
      found.violate(check, `${server} shows act ${id}, which is not settled`)
      continue
    }
    const { card } = receipt
    const said = { ...receipt, ...(isObject(card) ? card : {}) }
    const meant = attempt.rail === "card" ? cardReceiptOf(attempt) : receiptOf(attempt)
    for (const [name, value] of Object.entries(meant)) {
      if (lower(said[name]) !== value)
        found.violate(check, `the receipt of ${id} says ${name} ${String(said[name])} and not ${value}`)
    }
    const answered: unknown = parsed(attempt.answer ?? "")
    if (!ledger.hidden.has(id) && typeof answered === "object" && answered !== null && "record" in answered) {
      found.hold(
        "a record is shown as it was answered",
        JSON.stringify(answered.record) === JSON.stringify(record),
        () => `${server} shows another record of act ${id} than its buyer was given`,
      )
    }
  }
  for (const id of settled.keys()) {
    if (!shown.has(id)) found.violate(check, `${server} does not show act ${id}, which is settled`)
  }
}

const auditTotals = (ledger: Ledger, found: Findings) => {
  const settled = ledger.attempts.filter(({ state }) => state === "settled")
  const atomic = settled.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const [totals] = ledger.totals
  found.hold(
    "the totals are the sums of the settled acts",
    totals !== undefined && BigInt(totals.settled) === BigInt(settled.length) && BigInt(totals.atomic) === atomic,
    () =>
      `${totals?.settled} acts and ${totals?.atomic} atomic USDC are counted, ${settled.length} and ${atomic} are there`,
  )
  const keys = Map.groupBy(ledger.attempts, ({ key }) => key)
  for (const [key, attempts] of keys) {
    found.hold("a key has one attempt", attempts.length === 1, () => `${attempts.length} attempts have the key ${key}`)
  }
}

/**
 * An attempt may be pending only while its outcome is unknown: its transfer is in no final block, and no final block is past `validBefore`.
 */
const auditPending = (isQuiet: boolean, chain: ChainView, ledger: Ledger, found: Findings) => {
  const transfers = new Map(chain.transfers.map((one) => [authorizationOf(one), one]))
  const check = "nothing is pending without a reason"
  for (const attempt of ledger.attempts) {
    found.examine(check)
    if (attempt.state !== "pending") continue
    const what = `attempt ${attempt.id} (${attempt.act}) is pending`
    const transfer = transfers.get(authorizationOf(attempt))
    if (transfer !== undefined && transfer.block <= chain.final.number)
      found.violate(check, `${what}, but ${transfer.transaction} paid it in the final block ${transfer.block}`)
    else if (attempt.rail === "x402" && transfer === undefined && BigInt(attempt.validBefore) < chain.final.timestamp)
      found.violate(check, `${what}, but its authorization ended unused before the final block ${chain.final.number}`)
    else if (attempt.nextCheckAt.getTime() > Date.now() + 3_600_000)
      found.violate(check, `${what}, and nobody looks at it before ${attempt.nextCheckAt.toISOString()}`)
    else if (isQuiet) found.violate(check, `${what}, though everything was said to have ended`)
  }
}

export const auditPayments = async (
  target: {
    readonly token: string
    readonly payTo: string
    readonly isQuiet: boolean
    readonly settlers: ReadonlyArray<string>
  },
  chain: ChainView,
  ledger: Ledger,
  servers: ReadonlyMap<string, ReadonlyArray<PublicAct>>,
  found: Findings,
) => {
  found.examine("a gift buys nothing", chain.gifts)
  await auditTransfers(target, new Set(target.settlers.map((one) => one.toLowerCase())), chain, ledger, found)
  auditSettled(target, chain, ledger, found)
  auditPrices(ledger, found)
  for (const [server, acts] of servers) auditReceipts(server, acts, ledger, found)
  auditStored(ledger, found)
  auditTotals(ledger, found)
  auditPending(target.isQuiet, chain, ledger, found)
}
