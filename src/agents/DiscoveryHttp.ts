/** The documents that agents discover this server by; all are created at start. */
import { DateTime, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as Words from "./Words.ts"
import * as Routes from "./Routes.ts"
import { NotFound } from "../../schema/Errors.ts"
import { LimitFactor } from "../limits/Limit.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { preferred } from "../http/Accept.ts"
import { fresh, refuse } from "../http/Responses.ts"
import { cachedResponse, type ResponseOptions } from "../http/CachedResponse.ts"
import { ours } from "../http/SecurityHeaders.ts"
import { surroundings } from "../pages/Frame.ts"
import { layout, type Page } from "../pages/templates/Layout.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { didDocument, ReceiptKeys } from "../payments/Receipt.ts"
import { Operator } from "../platform/Operator.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { agentManifest, cardType, serverCard, x402 } from "./Manifests.ts"
import { manual } from "./Manual.ts"
import { Offers } from "./Offers.ts"
import { html } from "../platform/Html.ts"
import { headingsIn, prose } from "../pages/templates/Prose.ts"

export const page = (manual: string): Page => ({
  title: "For agents",
  description: Words.description,
  path: "/for-agents",
  chapter: "agents",
  assets: "docs",
  note: "Names here are self-declared. Every price is also in the live 402, and that one decides.",
  body: html`<div class="reference">
    <header class="intro"><h1>For agents, and for the people they act for</h1></header>
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

/** Days until the contact expires. Each day moves the expiry, so it never lapses on a running server. */
const lifeDays = 180

/** RFC 9116. Only the day of `now` counts, so that all servers answer the same bytes all day. */
export const securityText = (publicUrl: string, contact: string, now: DateTime.DateTime): string => {
  const expires = DateTime.add(DateTime.startOf(now, "day"), { days: lifeDays })
  return [
    `Contact: ${contact}`,
    `Expires: ${DateTime.formatIso(expires)}`,
    `Canonical: ${publicUrl}/.well-known/security.txt`,
    "Preferred-Languages: en",
    "",
  ].join("\n")
}

/** Allows crawling of everything public except rooms and the purchases of a wallet. */
export const robots = `User-agent: *
Allow: /
Disallow: /api/rooms
Disallow: /sandbox
Disallow: /v2/mine?
`

export const paths = {
  serverCard: "/.well-known/mcp/server-card.json",
  did: "/.well-known/did.json",
  agent: "/.well-known/agent.json",
  x402: "/.well-known/x402",
  security: "/.well-known/security.txt",
  robots: "/robots.txt",
  llms: "/llms.txt",
  manual: "/for-agents",
} as const

const plain = { contentType: "text/plain; charset=utf-8" }

/** RFC 9116 requires a contact, so without one there is no file. */
const unnamed = refuse(
  new NotFound({
    message:
      "The operator of this server has named no contact. Report faults of the software as SECURITY.md of its source says.",
  }),
)

const json = (path: `/${string}`, value: object, how: ResponseOptions = {}) =>
  Routes.get(path, cachedResponse(JSON.stringify(value), how).respond)

/** Browsers read the tag from any origin (SEP-2127). */
const cardAtTools: ResponseOptions = {
  contentType: cardType,
  headers: { "cache-control": "public, max-age=3600", "access-control-expose-headers": "ETag" },
}

/** A key in use is found within a minute of its rotation. */
const shortly: ResponseOptions = {
  contentType: "application/did+json",
  headers: { "cache-control": "public, max-age=60" },
}

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const offers = yield* Offers
    const frame = yield* surroundings
    const setting = yield* PaymentTerms
    const operator = yield* Operator
    const publicUrl = yield* PublicUrl

    const log = Option.getOrUndefined((yield* PublishedLog).identity)

    const keys = yield* ReceiptKeys
    const card = serverCard(publicUrl, log)

    const content = manual(publicUrl, offers, log, yield* LimitFactor)
    const text = `# ${Words.name}\n\n> ${Words.description}\n\n${content}\n`
    const headers = { vary: "accept", "content-security-policy": ours }
    const llms = cachedResponse(text, plain)
    const asMarkdown = cachedResponse(text, { contentType: "text/markdown; charset=utf-8", headers })
    const asPage = cachedResponse(layout(frame, page(content)), {
      contentType: "text/html; charset=utf-8",
      headers,
    })

    const forAgents = (request: HttpServerRequest.HttpServerRequest) =>
      (preferred(request.headers["accept"], ["text/html", "text/markdown"]) === "text/markdown"
        ? asMarkdown
        : asPage
      ).respond(request)

    const security = (request: HttpServerRequest.HttpServerRequest) =>
      Option.match(operator.contact, {
        onNone: () => Effect.succeed(unnamed),
        onSome: (contact) =>
          Effect.flatMap(DateTime.now, (now) => fresh(request, securityText(publicUrl, contact, now), plain)),
      })

    return Layer.mergeAll(
      json(paths.serverCard, card),
      ...Routes.tools.map((path) => json(`${path}/server-card`, card, cardAtTools)),
      ...(keys === undefined ? [] : [json(paths.did, didDocument(publicUrl, keys), shortly)]),
      json(paths.agent, agentManifest(publicUrl, offers, setting, log)),
      json(paths.x402, x402(publicUrl, offers)),
      Routes.get(paths.llms, llms.respond),
      Routes.get(paths.manual, forAgents),
      Routes.get(paths.robots, cachedResponse(robots, plain).respond),
      Routes.get(paths.security, security),
    )
  }),
)
