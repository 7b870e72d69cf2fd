/** The routes for agents beside the contract: the tools, and documents that are created at start. */
import { DateTime, Effect, Layer, Option } from "effect"
import { HttpRouter } from "effect/http"
import { PublishedLog } from "../log/PublishedLog.ts"
import { preferred } from "../http/Accept.ts"
import { fresh } from "../http/Responses.ts"
import { cachedResponse, type ResponseOptions } from "../http/CachedResponse.ts"
import { ours } from "../http/SecurityHeaders.ts"
import { surroundings } from "../pages/Frame.ts"
import * as Pages from "../pages/Pages.ts"
import { layout, type Page } from "../pages/templates/Layout.ts"
import { headingsIn, prose, sample } from "../pages/templates/Prose.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { didDocument, ReceiptKeys } from "../payments/Receipt.ts"
import { html } from "../platform/Html.ts"
import { Operator } from "../platform/Operator.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { agentManifest, serverCard, x402 } from "./Manifests.ts"
import { manual } from "./Manual.ts"
import * as McpHttp from "./McpHttp.ts"
import { Offers } from "./Offers.ts"
import * as Routes from "./Routes.ts"
import * as Words from "./Words.ts"

const page = (publicUrl: string, manual: string): Page => ({
  title: "For agents",
  description: Words.description,
  path: "/for-agents",
  chapter: "agents",
  assets: "docs",
  note: "Names here are self-declared. Every price is also in the live 402, and that one decides.",
  body: html`<div class="reference">
    <header class="intro">
      <h1>For agents</h1>
      <p>Paste this line into an agent that can pay by x402:</p>
      ${sample("paste", "the line for an agent", `Read ${publicUrl}/llms.txt, then set a stone for me. Ask me for my words and the maximum price before you sign.`)}
      <p>
        Below is a whole purchase in curl and twelve lines of signing, every price, and the remedy of every refusal.
      </p>
    </header>
    <nav class="contents" aria-label="On this page">
      <details>
        <summary>On this page</summary>
        <ul>
          ${headingsIn(manual).map(({ anchor, title }) => html`<li><a href="#${anchor}">${title}</a></li>`)}
          <li><a href="/llms.txt">The same as Markdown</a></li>
        </ul>
      </details>
    </nav>
    <div class="manual">
      ${manual.split(/^(?=## )/mu).map((section) => html`<section>${prose(section, section.slice(3).split("\n")[0])}</section> `)}
    </div>
  </div>`,
})

/** RFC 9116. The expiry moves with each request, so it never lapses on a running server. */
const securityText = (publicUrl: string, contact: string, now: DateTime.DateTime): string =>
  `Contact: ${contact}
Expires: ${DateTime.formatIso(DateTime.add(now, { days: 180 }))}
Canonical: ${publicUrl}/.well-known/security.txt
Preferred-Languages: en
`

/** Allows crawling of everything public except rooms and the purchases of a wallet. */
const robots = `User-agent: *
Allow: /
Disallow: /api/rooms
Disallow: /sandbox
Disallow: /v2/acts?
Disallow: /v2/wallets/
Disallow: /api/wallets/
`

const plain = { contentType: "text/plain; charset=utf-8" }

const json = (path: `/${string}`, value: object, how: ResponseOptions = {}) =>
  Routes.get(path, cachedResponse(JSON.stringify(value), how).respond)

const cardAtTools: ResponseOptions = {
  contentType: "application/mcp-server-card+json",
  headers: { "cache-control": "public, max-age=3600" },
}

/** A key in use is found within a minute of its rotation. */
const shortly: ResponseOptions = {
  contentType: "application/did+json",
  headers: { "cache-control": "public, max-age=60" },
}

const documents = Layer.unwrap(
  Effect.gen(function* () {
    const offers = yield* Offers
    const frame = yield* surroundings
    const { contact } = yield* Operator
    const publicUrl = yield* PublicUrl
    const log = Option.getOrUndefined((yield* PublishedLog).identity)
    const keys = yield* ReceiptKeys
    const card = serverCard(publicUrl)

    const content = manual(publicUrl, offers, log)
    const text = `# ${Words.name}\n\n> ${Words.about}\n\n${content}\n`
    const headers = { vary: "accept", "content-security-policy": ours }
    const asMarkdown = cachedResponse(text, { contentType: "text/markdown; charset=utf-8", headers })
    const asPage = cachedResponse(layout(frame, page(publicUrl, content)), {
      contentType: "text/html; charset=utf-8",
      headers,
    })

    return Layer.mergeAll(
      json("/.well-known/mcp/server-card.json", card),
      ...Routes.tools.map((path) => json(`${path}/server-card`, card, cardAtTools)),
      ...(keys === undefined ? [] : [json("/.well-known/did.json", didDocument(publicUrl, keys), shortly)]),
      json("/.well-known/agent.json", agentManifest(publicUrl, offers, yield* PaymentTerms, log)),
      json("/.well-known/x402", x402(publicUrl, offers)),
      Routes.get("/llms.txt", cachedResponse(text, plain).respond),
      Routes.get("/for-agents", (request) => {
        const type = preferred(request.headers["accept"], ["text/html", "text/markdown"])
        return (type === "text/markdown" ? asMarkdown : asPage).respond(request)
      }),
      HttpRouter.use((router) => Pages.slashed(router, "/for-agents")),
      Routes.get("/robots.txt", cachedResponse(robots, plain).respond),
      // RFC 9116 requires a contact, so without one there is no file.
      ...Option.toArray(contact).map((contact) =>
        Routes.get("/.well-known/security.txt", (request) =>
          Effect.flatMap(DateTime.now, (now) => fresh(request, securityText(publicUrl, contact, now), plain)),
        ),
      ),
    )
  }),
)

export const layer = Layer.merge(McpHttp.layer, documents).pipe(Layer.provide(Offers.layer))
