/** Caches decoded parameters per URL, since routing and decoding are a third of the cost of a read. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Trace from "../platform/Trace.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

interface Endpoint {
  readonly path: string
  readonly headers: Schema.Constraint | undefined
}

interface Call {
  readonly request: Request
  readonly endpoint: Endpoint
  readonly headers?: unknown
}

/** A handler with its services provided. */
type Handler = (call: Call) => Effect.Effect<Response, unknown>

/** None if the headers do not satisfy the contract. */
type Again = (request: Request) => Option.Option<Effect.Effect<Response, unknown>>

/** Maximum length of a cached URL. */
const longest = 512

/** Maximum number of cached URLs per endpoint. The oldest is evicted. */
export const urlMaximum = Context.Reference("spirit-altar/http/UrlCache/urlMaximum", { defaultValue: () => 1024 })

/** A refusal from a cached handler. The router then handles the request and encodes the refusal by the contract. */
const Refused = Context.Reference<Option.Option<unknown>>("spirit-altar/http/UrlCache/Refused", {
  defaultValue: () => Option.none(),
})

/** `GET` and `HEAD` share a handler. */
const nameOf = ({ method, url }: Request) => `${method === "HEAD" ? "GET" : method} ${url}`

/** Keeps only the call's URL and endpoint: a request holds its body and its secrets. */
const againOf = (handler: Handler, { headers: _, request: __, ...said }: Call): Again => {
  const { headers, path } = said.endpoint
  const fits = headers === undefined ? () => true : Schema.is(headers)
  return (request) => {
    const again = Effect.suspend(() => handler({ ...said, request, headers: request.headers }))
    return fits(request.headers) ? Option.some(Trace.routed(path)(again)) : Option.none()
  }
}

export class UrlCache extends Context.Service<
  UrlCache,
  {
    /** Answers a request from the cache. An unknown URL or a refusal takes the `whole` path. */
    answer<E, R>(request: Request, whole: Effect.Effect<Response, E, R>): Effect.Effect<Response, E, R>
    /** Caches the URL of a request that its handler is about to answer. */
    remember(call: Call, handler: Handler): void
  }
>()("spirit-altar/http/UrlCache") {
  static readonly layer = Layer.effect(
    UrlCache,
    Effect.map(urlMaximum, (most) => {
      const known = new Map<string, Again>()
      const namesOf = new Map<Endpoint, Set<string>>()
      return UrlCache.of({
        answer: (request, whole) => {
          const again = Option.flatMap(Option.fromUndefinedOr(known.get(nameOf(request))), (one) => one(request))
          return Option.isNone(again)
            ? whole
            : // Interruptible as under the router: a disconnect stops the handler.
              Effect.catch(Effect.interruptible(again.value), (refusal) =>
                Effect.provideService(whole, Refused, Option.some(refusal)),
              )
        },
        remember: (call, handler) => {
          const name = nameOf(call.request)
          if (known.has(name) || name.length > longest) return
          const names = namesOf.get(call.endpoint) ?? new Set<string>()
          namesOf.set(call.endpoint, names.add(name))
          known.set(name, againOf(handler, call))
          const [oldest] = names
          if (names.size <= most || oldest === undefined) return
          names.delete(oldest)
          known.delete(oldest)
        },
      })
    }),
  )
}

/** Wraps handlers so that their raw ones are cached by URL. Raw handlers must take no service from the request. */
export const cachedUrl = <Handlers extends { readonly handleRaw: (name: never, handler: never) => unknown }>(
  handlers: Handlers,
) =>
  Effect.map(UrlCache, (urls): Handlers => {
    const remembering = (handler: Handler) => (call: Call) =>
      Effect.flatMap(Refused, (refused) => {
        if (Option.isSome(refused)) return Effect.fail(refused.value)
        urls.remember(call, handler)
        return handler(call)
      })
    const handleRaw = (name: string, handler: Handler, ...options: ReadonlyArray<unknown>) => {
      Reflect.apply(handlers.handleRaw, handlers, [name, remembering(handler), ...options])
      return wrapped
    }
    const wrapped: Handlers = Object.create(handlers, { handleRaw: { value: handleRaw } })
    return wrapped
  })
