/** The documents that agents discover this server by; all are created at start. */
import { DateTime, Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { NotFound } from "../../schema/Errors.ts"
import { LimitFactor } from "../limits/Limit.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { preferred } from "../http/Accept.ts"
import { fresh, refuse } from "../http/Responses.ts"
import { type ResponseOptions, cachedResponse } from "../http/CachedResponse.ts"
import { ours } from "../http/SecurityHeaders.ts"
import { Frame } from "../pages/Frame.ts"
import { layout } from "../pages/templates/Layout.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { didDocument, ReceiptKeys } from "../payments/Receipt.ts"
import { Operator } from "../platform/Operator.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { tools } from "../server/ErrorFormats.ts"
import { agentManifest, cardType, serverCard, x402 } from "./Manifests.ts"
import { manual } from "./Manual.ts"
import { Offers } from "./Offers.ts"
import { page } from "./Page.ts"
import * as Words from "./Words.ts"
import * as Routes from "./Routes.ts"
import { robots, securityText } from "./WellKnownText.ts"

export const paths = {
  serverCard: "/.well-known/mcp/server-card.json",
  did: "/.well-known/did.json",
  agent: "/.well-known/agent.json",
  x402: "/.well-known/x402",
  security: "/.well-known/security.txt",
  robots: "/robots.txt",
  llms: "/llms.txt",
  manual: "/for-agents",
  markdown: "/for-agents.md",
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

/** The card at its reserved place (SEP-2127). */
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
    const frame = yield* Frame
    const setting = yield* PaymentTerms
    const operator = yield* Operator
    const publicUrl = yield* PublicUrl

    const log = Option.getOrUndefined((yield* PublishedLog).identity)

    const keys = yield* ReceiptKeys
    const card = serverCard(publicUrl, log)

    const content = manual(publicUrl, offers, frame.money, log, yield* LimitFactor)
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
      ...tools.map((path) => json(`${path}/server-card`, card, cardAtTools)),
      ...(keys === undefined ? [] : [json(paths.did, didDocument(publicUrl, keys), shortly)]),
      json(paths.agent, agentManifest(publicUrl, offers, setting, log)),
      json(paths.x402, x402(publicUrl, offers)),
      Routes.get(paths.llms, llms.respond),
      Routes.get(paths.manual, forAgents),
      Routes.get(paths.markdown, asMarkdown.respond),
      Routes.get(paths.robots, cachedResponse(robots, plain).respond),
      Routes.get(paths.security, security),
    )
  }),
).pipe(Layer.provide(Frame.layer))
