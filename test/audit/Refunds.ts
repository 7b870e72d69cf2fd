/** Each refund pays one payment back once: from the wallet that was paid, to its payer, and no more than was paid. */
import { createHash } from "node:crypto"
import { each, isObject, parsed, request } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import type { Ledger, RefundRow } from "./Ledger.ts"
import { authorizationOf, type ChainView } from "./Transfers.ts"

const stands = ({ finality, state }: RefundRow) => state !== "failed" && finality !== "lost"

/** Whether a refund is public, under the payment's transaction and under its own. */
const auditPublic = async (servers: ReadonlyArray<string>, ledger: Ledger, found: Findings) => {
  const check = "a refund is public"
  for (const server of servers)
    await each(ledger.refunds, async (refund) => {
      for (const transaction of [refund.originalTransaction, refund.transaction]) {
        if (transaction === null || refund.state === "failed") continue
        const { text } = await request(`${server}/api/refunds/${transaction}`)
        const list = parsed(text)
        const shown = isObject(list) && Array.isArray(list["refunds"]) ? list["refunds"].filter(isObject) : []
        const own = shown.find(({ id }) => id === refund.id)
        const isShown =
          own?.["amountAtomic"] === refund.amount &&
          own["refundTransaction"] === (refund.state === "settled" ? refund.transaction : null) &&
          own["originalTransaction"] === refund.originalTransaction
        found.hold(check, isShown, { server, under: transaction, refund, text })
      }
    })
}

export const auditRefunds = async (
  target: {
    readonly token: string
    readonly payTo: string
    readonly isQuiet: boolean
    readonly servers: ReadonlyArray<string>
  },
  chain: ChainView,
  ledger: Ledger,
  found: Findings,
) => {
  const payTo = target.payTo.toLowerCase()
  const paid = new Map(
    chain.transfers.map((transfer) => [
      `authorization:eip155:${chain.chainId}:${target.token.toLowerCase()}:${authorizationOf(transfer)}`,
      transfer,
    ]),
  )
  const bought = new Map(
    ledger.attempts
      .filter(({ state }) => state === "settled")
      .map((one) => [`authorization:${one.network}:${one.asset}:${authorizationOf(one)}`, one.id]),
  )
  const claims = new Map(ledger.claims.map(({ attempt, name }) => [name, attempt]))
  const once = "a payment is refunded once"
  const holders = new Map<string, string>()
  for (const refund of ledger.refunds.filter(stands)) {
    const payment = paid.get(refund.payment)
    const facts = { refund, payment }
    found.hold(once, !holders.has(refund.payment), { refund, other: holders.get(refund.payment) })
    holders.set(refund.payment, refund.id)
    const holder = claims.get(`refund:${refund.payment}`)
    found.hold("a refund holds its payment", holder === refund.id, { refund, holder })
    const parts = ["spirit-altar/refund/v1", `eip155:${chain.chainId}`, refund.payment, "1"]
    const nonce = `0x${createHash("sha256").update(parts.join("\0")).digest("hex")}`
    found.hold("a refund has the one nonce of its payment", refund.nonce === nonce, { refund, nonce })
    const isReturned =
      payment !== undefined &&
      payment.payer === refund.payer &&
      payment.amount >= BigInt(refund.amount) &&
      payment.transaction === refund.originalTransaction &&
      refund.payTo === payTo
    found.hold("a refund returns a payment to its payer", isReturned, facts)
    const isSpent = ["unmatched", "failed"].includes(refund.reason) && bought.has(refund.payment)
    found.hold("a payment is refunded or buys something", !isSpent, { refund, act: bought.get(refund.payment) })
    if (target.isQuiet && refund.state === "pending") found.violate(once, facts)
    if (refund.state !== "settled") continue
    const own = chain.refunds.filter((one) => one.nonce === refund.nonce)
    const isPaid = own.length === 1 && own[0]?.transaction === refund.transaction && own[0]?.payer === refund.payer
    found.hold("a settled refund was paid once", isPaid, { refund, transfers: own })
  }
  const check = "a transfer of the wallet that is paid is a refund"
  for (const transfer of chain.refunds) {
    const own = ledger.refunds.filter(
      (one) => one.nonce === transfer.nonce && one.payer === transfer.payer && stands(one),
    )
    found.hold(check, own.length === 1 && BigInt(own[0]?.amount ?? "") === transfer.amount, { transfer, refunds: own })
  }
  await auditPublic(target.servers, ledger, found)
}
