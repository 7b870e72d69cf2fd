/** Remembers decoded calls by URL, since routing and decoding are a third of the cost of a read. */
import { Context, Effect, Layer, Schema } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { SqlError } from "effect/sql"
import { toMiddleware } from "../platform/Sql.ts"
import * as Trace from "../platform/Trace.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** A decoded call, as the router passes it to a handler. */
export interface Call {
  readonly request: Request
  readonly endpoint: { readonly path: string; readonly headers: Schema.Constraint | undefined }
}

interface CachedAnswer {
  readonly fits: (headers: unknown) => boolean
  readonly answer: (request: Request) => Effect.Effect<Response>
}

/** Maximum length of a cached URL. */
const longest = 512

/** Maximum number of cached URLs per endpoint. The oldest is evicted. */
export const urlMaximum = Context.Reference("spirit-altar/http/UrlCache/urlMaximum", { defaultValue: () => 1024 })

/** `GET` and `HEAD` share a handler. */
const nameOf = ({ method, url }: Request) => `${method === "HEAD" ? "GET" : method} ${url}`

const anyHeaders = () => true

export class UrlCache extends Context.Service<UrlCache>()("spirit-altar/http/UrlCache", {
  make: Effect.map(urlMaximum, (most) => {
    const answers = new Map<string, CachedAnswer>()
    const namesOf = new Map<string, Set<string>>()

    const remember = ({ endpoint: { headers, path }, request }: Call, answer: CachedAnswer["answer"]) => {
      const name = nameOf(request)
      if (answers.has(name) || name.length > longest) return
      const names = namesOf.get(path) ?? new Set<string>()
      namesOf.set(path, names.add(name))
      const routed = Trace.routed(path)
      answers.set(name, {
        fits: headers === undefined ? anyHeaders : Schema.is(headers),
        // Interruptible as under the router: a disconnect stops the handler.
        answer: (again) => Effect.interruptible(routed(Effect.suspend(() => answer(again)))),
      })
      const [oldest] = names
      if (names.size <= most || oldest === undefined) return
      names.delete(oldest)
      answers.delete(oldest)
    }

    return {
      /** The answer of a known URL; undefined if the router has to find it. */
      answer: (request: Request) => {
        const cached = answers.get(nameOf(request))
        return cached?.fits(request.headers) === true ? cached.answer(request) : undefined
      },
      /**
       * A handler whose calls are remembered. `prepare` runs once per URL, so it must not keep the first request, which
       * holds a body and secrets. The handler encodes its refusals by `refused` and takes no service from the request.
       */
      hot:
        <E>(refused: (error: E) => Response) =>
        <C extends Call>(prepare: (call: C) => (request: Request) => Effect.Effect<Response, E | SqlError.SqlError>) =>
        (call: C) => {
          const handler = prepare(call)
          const answer = (request: Request) =>
            Effect.catch(toMiddleware(handler(request)), (error) => Effect.succeed(refused(error)))
          remember(call, answer)
          return answer(call.request)
        },
    }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
