/** Records and receipts as a table of facts to copy from. */
import type { Refund } from "../../../schema/payments/Refund.ts"
import { type AnyReceipt, Receipt } from "../../../schema/payments/Payment.ts"
import { networkName } from "../../../schema/payments/Usdc.ts"
import { type Html, html, type Value } from "../../platform/Html.ts"
import { rowReader } from "../../platform/Rows.ts"
import { moment, money } from "./Words.ts"

export type Row = readonly [label: string, value: Html | string | number]

export const code = (text: string): Html => html`<code class="long">${text}</code>`

export const facts = (list: ReadonlyArray<Row>): Html =>
  html`<dl class="facts">
    ${list.map(
      ([label, value]) =>
        html`<div>
          <dt>${label}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`

const finalityWords = {
  pending: "Not final yet: the chain could still take its block back",
  final: "Final",
  lost: "Lost: the chain took its block back, and the payer was not charged",
} as const

/** The receipt of a stone. */
export const receiptOf = rowReader("acts", Receipt)

/** Whether the payment was lost or returned, which a page shows at once. */
export const isUndone = (receipt: AnyReceipt): boolean =>
  receipt.transaction !== null && (receipt.finality === "lost" || receipt.refund !== undefined)

/** The proof of an act, below its words. */
export const evidence = (isOpen: boolean, what: string, ...parts: ReadonlyArray<Value>): Html =>
  html`<details class="fold evidence" ${isOpen ? "open" : ""}>
    <summary>The proof: ${what}</summary>
    ${parts}
  </details>`

const refundRows = ({ amountAtomic, recordedAt, transaction }: Refund): ReadonlyArray<Row> => [
  ["Refund", html`Refunded to the payer: ${amountAtomic} atomic USDC, recorded ${moment(recordedAt)}`],
  ["Refunded in", code(transaction)],
]

/** The sandbox's chain has no explorer; its link answers JSON. */
export const transactionOf = (explorerUrl: string, transaction: string): Html =>
  html`<a href="${explorerUrl}" rel="external noreferrer">${code(transaction)}</a>`

const rowsOf = (receipt: AnyReceipt): ReadonlyArray<Row> => {
  if (receipt.transaction === null) {
    return [
      ["Paid", html`${money(receipt.priceUsd)} by card`],
      ["Settled", moment(receipt.settledAt)],
      ["Card payment", code(receipt.card.reference)],
    ]
  }
  const { currentTransaction, finality, refund } = receipt
  const bought = html`The payment names this act; <a href="/verify">check it</a> with the receipt file.`
  const rows: ReadonlyArray<Row | false> = [
    ["Paid", html`${money(receipt.priceUsd)}, ${receipt.amountAtomic} atomic USDC`],
    ["Settled", moment(receipt.settledAt)],
    ["Transaction", transactionOf(receipt.explorerUrl, receipt.transaction)],
    ["From", html`<a href="/v2/acts?q=${receipt.payer}">${code(receipt.payer)}</a>`],
    ["To", code(receipt.payTo)],
    receipt.binding !== null && ["Bought", bought],
    currentTransaction !== undefined && ["Now in transaction", code(currentTransaction)],
    finality !== undefined && ["Finality", finalityWords[finality]],
    ...(refund === undefined ? [] : refundRows(refund)),
    ["Network", networkName(receipt.network)],
    ["Asset", code(receipt.asset)],
  ]
  return rows.filter((row) => row !== false)
}

export const receiptTable = (receipt: AnyReceipt): Html => facts(rowsOf(receipt))
