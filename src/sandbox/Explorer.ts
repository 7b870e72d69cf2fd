/** The page of a transaction on the sandbox's chain, as an explorer shows one. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createPublicClient, erc20Abi, http, parseEventLogs, type TransactionReceipt } from "viem"
import { NotFound } from "../../schema/Errors.ts"
import { preferred } from "../http/Accept.ts"
import { refuse } from "../http/Responses.ts"
import { ours } from "../http/SecurityHeaders.ts"
import { Frame } from "../pages/Frame.ts"
import { layout, type Page } from "../pages/templates/Layout.ts"
import { type Html, html } from "../platform/Html.ts"
import { LocalChain } from "./LocalChain.ts"

const dollars = (atomic: bigint) => `${Number(atomic) / 1_000_000} USDC (play money)`

/** An address leads to the acts that it paid for. */
const address = (hex: string | null): Html =>
  hex === null ? html`nobody` : html`<a href="/v2/wallets/${hex}"><code class="long">${hex}</code></a>`

/** The transfers of a receipt; logs of other events are left out. */
const transfersOf = ({ logs }: TransactionReceipt): ReadonlyArray<Html> =>
  parseEventLogs({ abi: erc20Abi, eventName: "Transfer", logs }).map(
    ({ args: { from, to, value } }) => html`<li>${dollars(value)} from ${address(from)} to ${address(to)}</li>`,
  )

const page = (path: string, title: string, body: Html): Page => ({
  title,
  description: "A transaction on the sandbox's private chain.",
  path,
  chapter: "none",
  body: html`<header class="opening">
      <h1>${title}</h1>
      <p class="lead">On the private chain of this sandbox, which ends with it.</p>
    </header>
    ${body}`,
})

const missingPage = (path: string): Page =>
  page(
    path,
    "No such transaction",
    html`<p>This chain has no transaction with this hash. A sandbox that starts with <code>--fresh</code> forgets.</p>`,
  )

const explorerPage = (path: string, receipt: TransactionReceipt): Page => {
  const transfers = transfersOf(receipt)
  return page(
    path,
    "Transaction",
    html`<section aria-label="The transaction">
        <dl class="facts facts--record">
          <div>
            <dt>Hash</dt>
            <dd><code class="long">${receipt.transactionHash}</code></dd>
          </div>
          <div>
            <dt>Status</dt>
            <dd>${receipt.status === "success" ? "succeeded" : "reverted"}</dd>
          </div>
          <div>
            <dt>Block</dt>
            <dd>${receipt.blockNumber}</dd>
          </div>
          <div>
            <dt>Sent by</dt>
            <dd>${address(receipt.from)}, which paid the network's fee</dd>
          </div>
          <div>
            <dt>To</dt>
            <dd>${address(receipt.to)}</dd>
          </div>
        </dl>
      </section>
      <section aria-labelledby="transfers">
        <h2 id="transfers">Transfers</h2>
        ${
          transfers.length === 0
            ? html`<p>This transaction moved no tokens.</p>`
            : html`<ul>
                ${transfers}
              </ul>`
        }
      </section>`,
  )
}

const asJson = (receipt: TransactionReceipt) =>
  HttpServerResponse.text(
    JSON.stringify({ ok: true, receipt }, (_, value) => (typeof value === "bigint" ? value.toString() : value)),
    { contentType: "application/json" },
  )

/** A page for people, JSON for programs. */
export const layer = Layer.unwrap(
  Effect.map(Frame, (frame) =>
    HttpRouter.add(
      "GET",
      "/sandbox/transactions/:hash",
      Effect.gen(function* () {
        const { hash } = yield* HttpRouter.params
        const { rpcUrl } = yield* LocalChain
        const receipt = yield* Effect.promise(() =>
          createPublicClient({ transport: http(rpcUrl) })
            .getTransactionReceipt({ hash: `0x${(hash ?? "").slice(2)}` })
            .catch(() => null),
        )
        const { headers, url } = yield* HttpServerRequest.HttpServerRequest
        if (preferred(headers["accept"], ["application/json", "text/html"]) === "application/json")
          return receipt === null ? refuse(404, new NotFound({})) : asJson(receipt)
        return HttpServerResponse.text(
          layout(frame, receipt === null ? missingPage(url) : explorerPage(url, receipt)),
          {
            status: receipt === null ? 404 : 200,
            contentType: "text/html; charset=utf-8",
            headers: { "content-security-policy": ours, vary: "accept" },
          },
        )
      }),
    ),
  ),
).pipe(Layer.provide(Frame.layer))
