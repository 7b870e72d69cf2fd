/** Pages as responses, and as error pages instead of bare failures. */
import { Cause, Effect, Schema } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { SqlError } from "effect/sql"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { SpiritId } from "../../schema/altar/Spirit.ts"
import { Uuid } from "../../schema/Common.ts"
import type { RateLimited } from "../../schema/Errors.ts"
import { RevealBroken } from "../../schema/altar/Reveal.ts"
import type { ChainBroken } from "../altar/StoredChain.ts"
import { cachedResponse } from "../http/CachedResponse.ts"
import { requestIdOf } from "../http/Exchange.ts"
import * as Sql from "../platform/Sql.ts"
import type { Surroundings } from "./Frame.ts"
import { layout, type Page } from "./templates/Layout.ts"
import * as ErrorPage from "./templates/ErrorPage.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

export const isUuid = Schema.is(Uuid)
const isSpirit = Schema.is(SpiritId)

export const contentType = "text/html; charset=utf-8"

const bare = (frame: Surroundings, status: number, page: Page) =>
  HttpServerResponse.text(layout(frame, page), { status, contentType, headers: { "cache-control": "no-store" } })

export const notFound = (frame: Surroundings, what: string) => bare(frame, 404, ErrorPage.notFound(what))

export const limited = (frame: Surroundings, { message, retryAfter }: RateLimited) =>
  HttpServerResponse.setHeader(bare(frame, 429, ErrorPage.limited(message)), "retry-after", String(retryAfter))

export const page = (frame: Surroundings, request: Request, shown: Page) =>
  cachedResponse(layout(frame, shown), { contentType }).respond(request)

/** Why a page cannot be made: its records contradict each other, or the database does not answer. */
export type Unreadable = ChainBroken | SqlError.SqlError

/** Turns any failure into a page. A broken chain is stated openly; otherwise a number leads to the cause in the log. */
export const guarded = <R>(
  frame: Surroundings,
  handled: Effect.Effect<Response, Unreadable, R>,
): Effect.Effect<Response, never, R | Request> =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    return handled.pipe(
      Effect.catchTag("ChainBroken", ({ message }) => Effect.succeed(bare(frame, 500, ErrorPage.broken(message)))),
      Sql.toMiddleware,
      Effect.catchDefect((defect) =>
        defect instanceof RevealBroken
          ? Effect.succeed(bare(frame, 500, ErrorPage.notSealed(defect.message)))
          : Effect.die(defect),
      ),
      Effect.catchCauseIf(
        (cause) => !Cause.hasInterruptsOnly(cause),
        (cause) => {
          const page = ErrorPage.failed(requestIdOf(request))
          return Effect.as(
            DatabaseWatch.failed("page failed")(cause),
            Sql.isAway(cause)
              ? HttpServerResponse.setHeader(bare(frame, 503, page), "retry-after", "2")
              : bare(frame, 500, page),
          )
        },
      ),
    )
  })

/** A request for a page: its query with what names an existing place in it, and the last part of its path. */
const callOf = (request: Request, name: string) => {
  const query = new URLSearchParams(/\?.*/u.exec(request.url)?.[0])
  const [spirit, before] = [query.get("spirit") ?? "", query.get("before") ?? ""]
  return {
    request,
    name,
    query,
    spirit: isSpirit(spirit) ? spirit : undefined,
    before: isUuid(before) ? before : undefined,
  }
}

export type PageCall = ReturnType<typeof callOf>

/** A path of ours, with the query of a request before its fragment. */
export const withQuery = (to: string, { url }: Pick<Request, "url">) =>
  to.replace(/(?=#|$)/u, () => /\?.*/u.exec(url)?.[0] ?? "")

/** Leads from a page's path with a final slash to the page. */
export const slashed = (router: Pick<HttpRouter.HttpRouter, "add">, path: `/${string}`) =>
  path.endsWith("/")
    ? Effect.void
    : router.add("GET", `${path}/`, ({ url }) => Effect.succeed(moved(url.replace(/\/(?=\?|$)/u, ""))))

/** Routes that answer with a page, or with a response that is none. */
export const pagesOn =
  (router: HttpRouter.HttpRouter, frame: Surroundings) =>
  (path: `/${string}`, make: (call: PageCall) => Effect.Effect<Page | Response, Unreadable>) =>
    Effect.andThen(
      slashed(router, path),
      router.add("GET", path, (request) =>
        Effect.flatMap(HttpRouter.params, ({ name = "" }) =>
          guarded(
            frame,
            Effect.flatMap(make(callOf(request, name)), (made) =>
              HttpServerResponse.isHttpServerResponse(made) ? Effect.succeed(made) : page(frame, request, made),
            ),
          ),
        ),
      ),
    )

/** A permanent address elsewhere. */
export const moved = (to: string) => HttpServerResponse.redirect(to, { status: 308 })
