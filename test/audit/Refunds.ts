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
        found.hold(
          check,
          own?.["amountAtomic"] === refund.amount &&
            own["refundTransaction"] === (refund.state === "settled" ? refund.transaction : null) &&
            own["originalTransaction"] === refund.originalTransaction,
          () => `${server} does not show refund ${refund.id} under ${transaction}: ${text.slice(0, 200)}`,
        )
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
    const what = `refund ${refund.id} of ${refund.payment}`
    const payment = paid.get(refund.payment)
    const other = holders.get(refund.payment)
    found.hold(once, other === undefined, () => `${what} returns what ${other} returns`)
    holders.set(refund.payment, refund.id)
    found.hold(
      "a refund holds its payment",
      claims.get(`refund:${refund.payment}`) === refund.id,
      () => `${what} does not hold the claim of its payment`,
    )
    const parts = ["spirit-altar/refund/v1", `eip155:${chain.chainId}`, refund.payment, "1"]
    found.hold(
      "a refund has the one nonce of its payment",
      refund.nonce === `0x${createHash("sha256").update(parts.join("\0")).digest("hex")}`,
      () => `${what} has the nonce ${refund.nonce}, so that another transfer could return the payment as well`,
    )
    found.hold(
      "a refund returns a payment to its payer",
      payment !== undefined &&
        payment.payer === refund.payer &&
        payment.amount >= BigInt(refund.amount) &&
        payment.transaction === refund.originalTransaction &&
        refund.payTo === payTo,
      () => `${what} sends ${refund.amount} from ${refund.payTo} to ${refund.payer}, which no payment covers`,
    )
    found.hold(
      "a payment is refunded or buys something",
      !["unmatched", "failed"].includes(refund.reason) || !bought.has(refund.payment),
      () => `${what} returns what bought ${bought.get(refund.payment)}`,
    )
    if (target.isQuiet && refund.state === "pending") found.violate(once, `${what} has not ended`)
    const own = chain.refunds.filter(({ nonce }) => nonce === refund.nonce)
    if (refund.state !== "settled") continue
    found.hold(
      "a settled refund was paid once",
      own.length === 1 && own[0]?.transaction === refund.transaction && own[0]?.payer === refund.payer,
      () => `${what} names ${refund.transaction}, but ${own.map(({ transaction }) => transaction).join()} pay it`,
    )
  }
  const check = "a transfer of the wallet that is paid is a refund"
  for (const { amount, nonce, payer, transaction } of chain.refunds) {
    const own = ledger.refunds.filter((one) => one.nonce === nonce && one.payer === payer && stands(one))
    found.hold(
      check,
      own.length === 1 && BigInt(own[0]?.amount ?? "") === amount,
      () => `${transaction} sent ${amount} to ${payer} by authorization ${nonce}, which ${own.length} refunds explain`,
    )
  }
  await auditPublic(target.servers, ledger, found)
}
