/** The documents by which agents find and understand this server; all of them are written once, when it starts. */
import { Effect, Layer, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { PublishedLog } from "../log/PublishedLog.ts"
import { preferred } from "../platform/http/Accept.ts"
import { fresh } from "../platform/http/Responses.ts"
import { PaymentTerms } from "../payments/PaymentTerms.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { agentManifest, serverCard, x402 } from "./Manifests.ts"
import { forPeople, manual } from "./Manual.ts"
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
  const text = JSON.stringify(value)
  return Routes.get(path, (request) => Effect.succeed(fresh(request, text)))
}

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const offers = yield* Offers
    const setting = yield* PaymentTerms
    const publicUrl = yield* PublicUrl

    const log = Option.getOrUndefined((yield* PublishedLog).identity)

    const sections = manual(publicUrl, offers, log)
    const asMarkdown = markdown(sections)
    const asPage = page(publicUrl, [...sections, ...forPeople(publicUrl)])

    const forAgents = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.succeed(
        (preferred(request.headers["accept"], ["text/html", "text/markdown"]) === "text/markdown"
          ? fresh(request, asMarkdown, "text/markdown; charset=utf-8")
          : fresh(request, asPage, "text/html; charset=utf-8")
        ).pipe(HttpServerResponse.setHeaders({ vary: "accept", "content-security-policy": policy })),
      )

    return Layer.mergeAll(
      json(paths.serverCard, serverCard(publicUrl, log)),
      json(paths.agent, agentManifest(publicUrl, offers, setting, log)),
      json(paths.x402, x402(publicUrl, offers)),
      Routes.get(paths.llms, (request) => Effect.succeed(fresh(request, asMarkdown, "text/plain; charset=utf-8"))),
      Routes.get(paths.manual, forAgents),
    )
  }),
)
