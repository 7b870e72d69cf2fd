/** The altar as its own contract types it; there is no second description of a route, a body or an answer. */
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApi, HttpApiClient } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { refuse } from "./PurchaseError.ts"

/** Answers may grow members that this version does not know; requests may not. */
const Contract = Api.annotate(HttpApi.SuccessParseOptions, { onExcessProperty: "ignore" }).annotate(
  HttpApi.ErrorParseOptions,
  { onExcessProperty: "ignore" },
)

/** How an altar is reached. */
export interface Reach {
  readonly fetch?: typeof fetch
  /** Of a signal room. */
  readonly token?: string | undefined
  /** Plain http to another machine is allowed: whoever is on the way reads and changes everything. */
  readonly insecure?: boolean | undefined
}

const loopback = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u

/** Words, tokens and payees cross only a network that keeps them; this machine is none. */
export const guarded = (url: string, insecure: boolean) => {
  if (!URL.canParse(url) || !/^https?:$/u.test(new URL(url).protocol))
    return refuse("bad_url", `${url} is no URL of an altar; name one with https://. This request charged nothing.`)
  const { hostname, protocol } = new URL(url)
  return insecure || protocol === "https:" || loopback.test(hostname)
    ? Effect.void
    : refuse(
        "insecure_url",
        `${url} is not encrypted, so anybody on the way could read your words and change the payee: use https, or allow it by name (insecure). This request charged nothing.`,
      )
}

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

/** The typed client of the altar at `url`; fails where the way there is open to everybody. */
export const make = Effect.fn("Client.make")(function* (
  url: string,
  { fetch: send = fetch, insecure = false, token }: Reach = {},
) {
  yield* guarded(url, insecure)
  const context = yield* Layer.build(layerOf(send))
  return yield* HttpApiClient.make(Contract, {
    baseUrl: baseOf(url),
    transformClient: (client) =>
      client.pipe(
        token === undefined ? (same) => same : HttpClient.mapRequest(HttpClientRequest.bearerToken(token)),
        HttpClient.transform((effect) => Effect.provideContext(effect, context)),
      ),
  }).pipe(Effect.provideContext(context))
}, Effect.scoped)

export type Client = Effect.Success<ReturnType<typeof make>>
