/** The page of a transaction on the sandbox's chain, as an explorer shows one. */
import { erc20Abi, parseEventLogs, type TransactionReceipt } from "viem"
import { type Html, html } from "../platform/Html.ts"

const dollars = (atomic: bigint) => `${Number(atomic) / 1_000_000} USDC (play money)`

/** The transfers of a receipt; logs of other events are left out. */
const transfersOf = ({ logs }: TransactionReceipt): ReadonlyArray<Html> =>
  parseEventLogs({ abi: erc20Abi, eventName: "Transfer", logs }).map(
    ({ args: { from, to, value } }) => html`<li>${dollars(value)} from <code>${from}</code> to <code>${to}</code></li>`,
  )

export const explorerPage = (receipt: TransactionReceipt): string => {
  const transfers = transfersOf(receipt)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Transaction ${receipt.transactionHash.slice(0, 10)} · Sandbox chain</title>
        <link rel="icon" href="/style/icon.svg" type="image/svg+xml" />
      </head>
      <body>
        <p><a href="/v2/">Spirit Altar</a>, the sandbox's private chain. Nothing here is real money.</p>
        <h1>Transaction</h1>
        <p><code>${receipt.transactionHash}</code></p>
        <dl>
          <dt>Status</dt>
          <dd>${receipt.status === "success" ? "succeeded" : "reverted"}</dd>
          <dt>Block</dt>
          <dd>${receipt.blockNumber}</dd>
          <dt>Sent by</dt>
          <dd><code>${receipt.from}</code>, which paid the network's fee</dd>
          <dt>To</dt>
          <dd><code>${receipt.to}</code></dd>
        </dl>
        <h2>Transfers</h2>
        ${
          transfers.length === 0
            ? html`<p>This transaction moved no tokens.</p>`
            : html`<ul>
                ${transfers}
              </ul>`
        }
      </body>
    </html>`.text
}
