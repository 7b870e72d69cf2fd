/** The page of a transaction on the sandbox's chain, as an explorer shows one. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createPublicClient, erc20Abi, http, parseEventLogs, type TransactionReceipt } from "viem"
import { NotFound } from "../../schema/Errors.ts"
import { preferred } from "../http/Accept.ts"
import { refuse } from "../http/Responses.ts"
import { ours } from "../http/SecurityHeaders.ts"
import { Frame } from "../pages/Frame.ts"
import { heading, layout, type Page } from "../pages/templates/Layout.ts"
import { type Html, html } from "../platform/Html.ts"
import { LocalChain } from "./LocalChain.ts"

const dollars = (atomic: bigint) => `${Number(atomic) / 1_000_000} USDC (play money)`

const code = (text: string): Html => html`<code class="long">${text}</code>`

const fact = (label: string, value: Html | string): Html =>
  html`<div>
    <dt>${label}</dt>
    <dd>${value}</dd>
  </div>`

/** An address leads to the acts that it paid for. */
const address = (hex: string): Html => html`<a href="/v2/wallets/${hex}">${code(hex)}</a>`

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
      <p class="lead">
        A payment on the sandbox's private chain, as a block explorer shows it. The chain ends with the sandbox.
      </p>
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
    "A payment",
    html`<section aria-labelledby="transfers">
        ${heading("transfers", "What moved")}
        ${
          transfers.length === 0
            ? html`<p>This transaction moved no tokens.</p>`
            : html`<ul>
                ${transfers}
              </ul>`
        }
        <p><a href="/v2/search?q=${receipt.transactionHash}">Find the act that it paid for</a></p>
      </section>
      <section aria-labelledby="facts">
        ${heading("facts", "The transaction")}
        <dl class="facts facts--record">
          ${fact("Hash", code(receipt.transactionHash))}
          ${fact("Status", receipt.status === "success" ? "succeeded" : "failed, and moved nothing")}
          ${fact("Block", String(receipt.blockNumber))}
          ${fact("Sent by", html`${address(receipt.from)}, which paid the network's fee`)}
          ${fact("Called", receipt.to === null ? "no contract" : html`${code(receipt.to)}, the contract of the token`)}
        </dl>
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
          return receipt === null ? refuse(new NotFound({})) : asJson(receipt)
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
