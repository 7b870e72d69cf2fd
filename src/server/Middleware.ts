/** Answers outside the endpoints, such as unknown paths and faults, in the format of their service. */
import { Cause, Effect, type Types } from "effect"
import { FindMyWay, Headers, HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { RevealBroken } from "../../schema/altar/Reveal.ts"
import * as DatabaseWatch from "../platform/DatabaseWatch.ts"
import { RoomForbidden } from "../../schema/room/Errors.ts"
import { requestIdOf } from "../http/Exchange.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import * as Sql from "../platform/Sql.ts"
import { mayCall, ownOrigins } from "../http/Origins.ts"
import { refuse } from "../http/Responses.ts"
import { refuseRoom } from "../room/Requests.ts"
import { UrlCache } from "../http/UrlCache.ts"
import { isTool } from "../agents/Routes.ts"
import { preflight } from "./CrossOrigin.ts"
import * as ErrorFormats from "./ErrorFormats.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The methods of a path in the contract; none of an unknown one. */
type Methods = (path: string) => ReadonlyArray<string>

/** `GET` includes `HEAD`, and the altar answers every `OPTIONS`. */
const methodsIn = <Groups extends HttpApiGroup.Constraint>(
  contract: HttpApi.HttpApi<"spirit-altar", Groups>,
): Methods => {
  const router = FindMyWay.make<string>()
  HttpApi.reflect(contract, {
    onGroup: () => {},
    onEndpoint: ({ endpoint: { method, path } }) => router.on(method, `/${path.slice(1)}`, path),
  })
  return (path) => {
    const methods = ["DELETE", "GET", "POST"].filter((method) => router.find(method, path) !== undefined)
    const open = methods.length > 0 && !ErrorFormats.isRoom(path) ? ["OPTIONS"] : []
    return [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), ...open].sort()
  }
}

const pathOf = (request: HttpServerRequest.HttpServerRequest) => ErrorFormats.pathOf(request.url)

const shapeOf = (request: HttpServerRequest.HttpServerRequest) =>
  ErrorFormats.isRoom(pathOf(request)) ? ErrorFormats.room : ErrorFormats.altar

const notFound = (methodsOf: Methods, request: HttpServerRequest.HttpServerRequest) => {
  const methods = methodsOf(pathOf(request))
  return methods.length === 0 || methods.includes(request.method)
    ? shapeOf(request).notFound()
    : shapeOf(request).methodNotAllowed(methods.join(", "))
}

/** An unavailable database is a 503 that may be retried. Anything else is a 500 under the request's id. */
const fault = (request: HttpServerRequest.HttpServerRequest, cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  // The alarm was raised where it was found.
  if (error instanceof RevealBroken) return Effect.succeed(refuse(error))
  return Effect.as(
    DatabaseWatch.failed("request failed")(cause),
    Sql.isAway(cause) ? shapeOf(request).unavailable() : shapeOf(request).internal(requestIdOf(request)),
  )
}

/** Gives bare responses of the framework a body that says what to do. */
const explain = (
  methodsOf: Methods,
  request: HttpServerRequest.HttpServerRequest,
  response: HttpServerResponse.HttpServerResponse,
) => {
  if (response.body._tag !== "Empty" && response.headers["content-type"] !== "text/plain") return response
  switch (response.status) {
    case 404:
      return notFound(methodsOf, request)
    case 413:
      return shapeOf(request).tooLarge()
    case 415:
      return shapeOf(request).unsupportedMediaType()
    default:
      return response
  }
}

const uncached = { "cache-control": "no-store" }

/** Computed once. A response gets one of these, or none. */
const headers = {
  uncached: Headers.fromInput(uncached),
  roomRefusal: Headers.fromInput({ ...uncached, link: '</docs/errors>; rel="help"' }),
}

const forbidden = HttpServerResponse.empty({ status: 403, headers: headers.uncached })

const isUnknownRoute = (error: unknown) =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

type Handled = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Types.unhandled,
  HttpServerRequest.HttpServerRequest
>

/** Whether a cache may store the response. A response to a change or a refusal belongs to one request. */
const mayBeKept = ({ method }: Request, { headers, status }: Response) =>
  headers["cache-control"] !== undefined || (status < 400 && (method === "GET" || method === "HEAD"))

/** The common headers of a response. The body of a room's refusal is fixed, so a header links the page of its codes. */
const headersOf = (request: Request, isRoom: boolean, response: Response) => {
  // A room's answer is for one reader at one time.
  if (isRoom) return response.status >= 400 ? headers.roomRefusal : headers.uncached
  return mayBeKept(request, response) ? undefined : headers.uncached
}

/** Browsers may use the room from its own pages only. Programs send no `Origin`. */
const isForeign = (request: HttpServerRequest.HttpServerRequest, own: ReadonlySet<string>) =>
  request.headers["origin"] !== undefined && !own.has(request.headers["origin"])

/** Whether the request has a body in an encoding. Read as it is, compressed bytes could pass for another body. */
const isEncoded = ({ headers }: HttpServerRequest.HttpServerRequest) => {
  const encoding = headers["content-encoding"]
  if (encoding === undefined || ["", "identity"].includes(encoding.trim().toLowerCase())) return false
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"
}

/** The one middleware around all routes, those of a contract and the others. */
export const layer = <Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<"spirit-altar", Groups>) =>
  HttpRouter.middleware(
    Effect.gen(function* () {
      const publicUrl = yield* PublicUrl
      const own = ownOrigins(publicUrl)
      const mayUseTools = mayCall(publicUrl)
      const methodsOf = methodsIn(contract)
      const urls = yield* UrlCache

      const finished = (request: Request, isRoom: boolean, response: Response) => {
        const explained = explain(methodsOf, request, response)
        const common = headersOf(request, isRoom, explained)
        return common === undefined ? explained : HttpServerResponse.setHeaders(explained, common)
      }

      const failed = (request: Request, cause: Cause.Cause<unknown>) =>
        isUnknownRoute(Cause.squash(cause)) ? Effect.succeed(notFound(methodsOf, request)) : fault(request, cause)

      return (httpEffect) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, (request): Handled => {
          const path = pathOf(request)
          const isRoom = ErrorFormats.isRoom(path)
          if (ErrorFormats.isMisspelt(request.url)) {
            return Effect.succeed(finished(request, isRoom, shapeOf(request).notFound()))
          }
          if (isRoom && isForeign(request, own)) {
            return Effect.succeed(finished(request, isRoom, refuseRoom(new RoomForbidden({}))))
          }
          if (!isRoom && request.method === "OPTIONS" && !ErrorFormats.isRoomPage(path)) {
            // A preflight must match the answer to the request itself.
            const isRefused = isTool(path) && !mayUseTools(request.headers["origin"])
            return Effect.succeed(isRefused ? forbidden : preflight)
          }
          if (isEncoded(request)) return Effect.succeed(finished(request, isRoom, shapeOf(request).encoded()))
          return Effect.matchCauseEffect(urls.answer(request) ?? httpEffect, {
            onSuccess: (response) => Effect.succeed(finished(request, isRoom, response)),
            onFailure: (cause) =>
              Cause.hasInterruptsOnly(cause)
                ? Effect.failCause(cause)
                : Effect.map(failed(request, cause), (response) => finished(request, isRoom, response)),
          })
        })
    }),
    { global: true },
  )
