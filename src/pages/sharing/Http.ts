/** The picture of an act and the badge of a stone, for other sites; neither runs script. */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { NotFound, NotNow, type RateLimited } from "../../../schema/Errors.ts"
import { ActNotFound } from "../../../schema/payments/Act.ts"
import { WitnessNotFound } from "../../../schema/altar/Witness.ts"
import { limits } from "../../altar/Limits.ts"
import { WitnessStones } from "../../altar/witness/WitnessStones.ts"
import type { Policy } from "../../limits/Policy.ts"
import { refuse } from "../../http/Responses.ts"
import { inert } from "../../http/SecurityHeaders.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { cachedResponse } from "../../http/CachedResponse.ts"
import { isUuid, urlOf } from "../Pages.ts"
import { isLost, receiptOf } from "../templates/RecordTable.ts"
import { badge } from "./Badge.ts"
import { qrCode } from "./QrCode.ts"
import { type Picture, Pictures } from "./Pictures.ts"
import { Renderer, type RendererBusy } from "./Renderer.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Limit for pictures that must be drawn; cached ones are not counted. */
const drawings: Policy = {
  name: "pages-drawings",
  windows: [{ name: "drawings", quota: 60, seconds: 60, says: "60 new pictures per minute from one address" }],
}

const policy = { "content-security-policy": inert }

/** Seconds that caches keep unchanging files; improved drawings appear after that. */
const week = 604_800

const cacheControl = ({ until }: Picture, now: number) =>
  until === undefined
    ? `public, max-age=${week}, immutable`
    : `public, max-age=${Math.max(0, Math.min(week, Math.floor((until - now) / 1000)))}`

const hasIt = (request: Request, tag: string) =>
  (request.headers["if-none-match"] ?? "").split(",").some((one) => one.trim().replace(/^W\//u, "") === tag)

const pictureOf = (request: Request, picture: Picture, now: number) => {
  const headers = { ...policy, etag: picture.tag, "cache-control": cacheControl(picture, now) }
  return hasIt(request, picture.tag)
    ? HttpServerResponse.empty({ status: 304, headers })
    : HttpServerResponse.uint8Array(picture.png, { contentType: "image/png", headers })
}

type Refusal = ActNotFound | WitnessNotFound | RateLimited | RendererBusy

type Answer = (request: Request, id: string) => Effect.Effect<HttpServerResponse.HttpServerResponse, Refusal>

const refused = (refusal: Refusal) => {
  return refuse("code" in refusal ? refusal : new NotNow({}))
}

const routes = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const pictures = yield* Pictures
    const stones = yield* WitnessStones
    const take = yield* limits
    const publicUrl = yield* PublicUrl

    const drawn = Effect.fnUntraced(function* (request: Request, id: string) {
      if (!isUuid(id)) return yield* new ActNotFound({})
      if (!(yield* pictures.has(id))) yield* take(drawings, request)
      const picture = yield* pictures.get(id)
      return pictureOf(request, picture, yield* Clock.currentTimeMillis)
    })

    const embedded = Effect.fnUntraced(function* (request: Request, id: string) {
      if (!isUuid(id)) return yield* new WitnessNotFound({})
      const { receipt, stone } = yield* stones.get(id).pipe(Effect.catchTag("ChainBroken", Effect.die))
      const text = badge(stone, isLost(yield* receiptOf(receipt)))
      const headers = { ...policy, "cache-control": "public, max-age=300" }
      return yield* cachedResponse(text, {
        contentType: "image/svg+xml; charset=utf-8",
        effort: "once",
        headers,
      }).respond(request)
    })

    const serve = (path: "/acts/:id/preview.png" | "/witness/:id/badge.svg", answer: Answer) =>
      router.add("GET", path, (request) =>
        Effect.flatMap(HttpRouter.params, ({ id }) =>
          Effect.catch(answer(request, id ?? ""), (refusal) => Effect.succeed(refused(refusal))),
        ),
      )

    yield* router.add("GET", "/v2/qr.svg", (request) => {
      const to = urlOf(request).searchParams.get("to") ?? ""
      // Codes lead to pages of this site alone.
      if (!/^\/[a-z0-9-][a-z0-9/-]{0,199}$/u.test(to)) return Effect.succeed(refuse(new NotFound({})))
      const text = qrCode(`${publicUrl}${to}`, "QR code of this page's address", true).text
      const headers = { ...policy, "cache-control": "public, max-age=86400" }
      return cachedResponse(text, { contentType: "image/svg+xml; charset=utf-8", effort: "once", headers }).respond(
        request,
      )
    })
    yield* serve("/acts/:id/preview.png", drawn)
    yield* serve("/witness/:id/badge.svg", embedded)
  }),
)

export const layer = routes.pipe(Layer.provide(Pictures.layer.pipe(Layer.provide(Renderer.layer))))
