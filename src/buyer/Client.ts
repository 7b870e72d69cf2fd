/** The altar as its own contract types it; there is no second description of a route, a body or an answer. */
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApi, HttpApiClient } from "effect/http-api"
import { Api } from "../../schema/Api.ts"

/** Answers may grow members that this version does not know; requests may not. */
const Contract = Api.annotate(HttpApi.SuccessParseOptions, { onExcessProperty: "ignore" }).annotate(
  HttpApi.ErrorParseOptions,
  { onExcessProperty: "ignore" },
)

/** Without the slashes at its end. */
export const baseOf = (url: string): string => url.replace(/\/+$/u, "")

/**
 * A signed request goes where it was sent, or nowhere: redirects are errors. Headers of a trace are left out, for a page
 * on another host they would fail the preflight.
 */
const layerOf = (send: typeof fetch) =>
  FetchHttpClient.layer.pipe(
    Layer.provideMerge(Layer.succeed(FetchHttpClient.Fetch, send)),
    Layer.provideMerge(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
    Layer.provideMerge(Layer.succeed(HttpClient.TracerPropagationEnabled, false)),
  )

/** The typed client of the altar at `url`; with `token` for a signal room. */
export const make = (url: string, send: typeof fetch = fetch, token?: string) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(layerOf(send))
    return yield* HttpApiClient.make(Contract, {
      baseUrl: baseOf(url),
      transformClient: (client) =>
        client.pipe(
          token === undefined ? (same) => same : HttpClient.mapRequest(HttpClientRequest.bearerToken(token)),
          HttpClient.transform((effect) => Effect.provideContext(effect, context)),
        ),
    }).pipe(Effect.provideContext(context))
  }).pipe(Effect.scoped)

export type Client = Effect.Success<ReturnType<typeof make>>

/** The exact URL that a request of the contract is sent to. */
export const urlsOf = (url: string) => HttpApiClient.urlBuilder(Contract, { baseUrl: baseOf(url) })

export type Urls = ReturnType<typeof urlsOf>
