/** The documents by which agents find and understand this server; all of them are written once, when it starts. */
import { Effect, Layer, Option } from "effect"
import type { HttpServerRequest } from "effect/http"
import { PublishedLog } from "../log/PublishedLog.ts"
import { preferred } from "../platform/http/Accept.ts"
import { written } from "../platform/http/Written.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { agentManifest, serverCard, x402 } from "./Manifests.ts"
import { manual } from "./Manual.ts"
import { markdown } from "./Markdown.ts"
import { Offers } from "./Offers.ts"
import { page, policy } from "./Page.ts"
import * as Routes from "./Routes.ts"

export const paths = {
  serverCard: "/.well-known/mcp/server-card.json",
  agent: "/.well-known/agent.json",
  x402: "/.well-known/x402",
  llms: "/llms.txt",
  manual: "/for-agents",
} as const

const json = (path: (typeof paths)[keyof typeof paths], value: object) => {
  const text = written(JSON.stringify(value))
  return Routes.get(path, text.respond)
}

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const offers = yield* Offers
    const setting = yield* PaymentTerms
    const publicUrl = yield* PublicUrl

    const log = Option.getOrUndefined((yield* PublishedLog).identity)

    const sections = manual(publicUrl, offers, log)
    const text = markdown(sections)
    const headers = { vary: "accept", "content-security-policy": policy }
    const llms = written(text, { contentType: "text/plain; charset=utf-8" })
    const asMarkdown = written(text, { contentType: "text/markdown; charset=utf-8", headers })
    const asPage = written(page(publicUrl, sections), { contentType: "text/html; charset=utf-8", headers })

    const forAgents = (request: HttpServerRequest.HttpServerRequest) =>
      (preferred(request.headers["accept"], ["text/html", "text/markdown"]) === "text/markdown"
        ? asMarkdown
        : asPage
      ).respond(request)

    return Layer.mergeAll(
      json(paths.serverCard, serverCard(publicUrl, log)),
      json(paths.agent, agentManifest(publicUrl, offers, setting, log)),
      json(paths.x402, x402(publicUrl, offers)),
      Routes.get(paths.llms, llms.respond),
      Routes.get(paths.manual, forAgents),
    )
  }),
)
