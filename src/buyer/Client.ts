/** A typed client of the altar, derived from its contract. */
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { HttpApi, HttpApiClient } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { refuse } from "./PurchaseError.ts"

/** Answers may gain members that this version does not know; requests may not. */
const Contract = Api.annotate(HttpApi.SuccessParseOptions, { onExcessProperty: "ignore" }).annotate(
  HttpApi.ErrorParseOptions,
  { onExcessProperty: "ignore" },
)

export interface ClientOptions {
  readonly fetch?: typeof fetch
  /** Allows plain http to another machine, where anyone on the network can read and change everything. */
  readonly insecure?: boolean | undefined
}

const loopback = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/u

/** Words and payees travel only over https, or to this machine. */
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

export const baseOf = (url: string): string => url.replace(/\/+$/u, "")

/** A redirect is an error, so a signed request reaches only its URL. Trace headers would fail a CORS preflight. */
const layerOf = (send: typeof fetch) =>
  FetchHttpClient.layer.pipe(
    Layer.provideMerge(Layer.succeed(FetchHttpClient.Fetch, send)),
    Layer.provideMerge(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
    Layer.provideMerge(Layer.succeed(HttpClient.TracerPropagationEnabled, false)),
  )

/** The typed client of the altar at `url`; fails for an insecure URL. */
export const make = Effect.fn("Client.make")(function* (
  url: string,
  { fetch: send = fetch, insecure = false }: ClientOptions = {},
) {
  yield* guarded(url, insecure)
  const context = yield* Layer.build(layerOf(send))
  return yield* HttpApiClient.make(Contract, {
    baseUrl: baseOf(url),
    transformClient: HttpClient.transform((effect) => Effect.provideContext(effect, context)),
  }).pipe(Effect.provideContext(context))
}, Effect.scoped)

export type Client = Effect.Success<ReturnType<typeof make>>
