/** Each recorded refund returned its payment: one transaction moved at least what was paid to the payer. */
import { createPublicClient, type Hex, http, parseEventLogs } from "viem"
import { each, isObject, parsed, request } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import type { Ledger } from "./AuditLedger.ts"
import { authorizationOf, type ChainView, events } from "./Transfers.ts"

interface Target {
  readonly rpcUrl: string
  readonly token: string
  readonly servers: ReadonlyArray<string>
}

export const auditRefunds = async (target: Target, chain: ChainView, ledger: Ledger, found: Findings) => {
  const client = createPublicClient({ transport: http(target.rpcUrl) })
  const paid = new Map(
    chain.transfers.map((transfer) => [
      `authorization:eip155:${chain.chainId}:${target.token.toLowerCase()}:${authorizationOf(transfer)}`,
      transfer,
    ]),
  )
  await each(ledger.refunds, async (refund) => {
    const payment = paid.get(refund.payment)
    const receipt = await client.getTransactionReceipt({ hash: refund.transaction as Hex }).catch(() => undefined)
    const moved = parseEventLogs({ abi: events, eventName: "Transfer", logs: receipt?.logs ?? [] })
      .filter(({ address, args }) => address === target.token.toLowerCase() && args.to.toLowerCase() === payment?.payer)
      .reduce((sum, { args }) => sum + args.value, 0n)
    const isReturned =
      payment !== undefined && moved >= payment.amount && payment.transaction === refund.shown["originalTransaction"]
    found.hold("a refund returned a payment to its payer", isReturned, { refund, payment, moved })
    const id = refund.attempt
    if (id === null || !ledger.acts.some((act) => act.id === id)) return
    for (const server of target.servers) {
      const { text } = await request(`${server}/api/acts/${id}`)
      const answer = parsed(text)
      const act = isObject(answer) && isObject(answer["act"]) ? answer["act"]["receipt"] : undefined
      const shown = isObject(act) && isObject(act["refund"]) ? act["refund"]["transaction"] : undefined
      found.hold("a refund is shown on its act", shown === refund.transaction, { server, refund, text })
    }
  })
}
