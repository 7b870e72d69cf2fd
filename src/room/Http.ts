/** The signal room's endpoints, which pass requests to the store and encode its results by the contract. */
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import type { SqlError } from "effect/sql"
import { Api } from "../../schema/Api.ts"
import * as Errors from "../../schema/room/Errors.ts"
import { MessageBody } from "../../schema/room/Message.ts"
import { type Replayed, RoomBody, type Sent, type Signals } from "../../schema/room/Room.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import { type Call, UrlCache } from "../http/UrlCache.ts"
import { Exceeded, headersOf } from "../limits/Limit.ts"
import { jsonOf, JsonText } from "../platform/JsonText.ts"
import { toMiddleware } from "../platform/Sql.ts"
import { RoomStore } from "./RoomStore.ts"
import { body, refuseRoom, tokenOf } from "./Requests.ts"
import type { Admitted } from "./Rows.ts"

const roomBody = body.as(RoomBody, "{}")
const messageBody = body.as(MessageBody)

/** A decoded call of an endpoint below a room. */
interface RoomCall extends Call {
  readonly params: { readonly roomId: string }
}

type RateLimitHeaders = ReturnType<typeof headersOf>

/** 429 with the name of the limit. */
const tooMany = ({ remaining, retryAfter, window }: Exceeded) =>
  Errors.RoomRateLimited.because(window.says, retryAfter, headersOf(remaining))

const isExceeded = (error: unknown): error is Exceeded => error instanceof Exceeded

/** Encodes an admitted request by `write`, with the remaining quota of what it took. */
const respond = <A, Answered, E>(
  admitted: Effect.Effect<Admitted<A>, E | Exceeded | SqlError.SqlError>,
  write: (value: A, headers: RateLimitHeaders) => Answered,
) =>
  admitted.pipe(
    Effect.map(({ remaining, value }) => write(value, headersOf(remaining))),
    Effect.catchIf(isExceeded, (exceeded) => Effect.fail(tooMany(exceeded))),
    toMiddleware,
  )

/** Answers stored bytes, so that a replay equals the first answer. */
const stored = (text: string, status: number, headers: RateLimitHeaders) =>
  HttpServerResponse.text(text, { status, contentType: "application/json", headers })

export const handlers = HttpApiBuilder.group(Api, "rooms", (handlers) =>
  Effect.gen(function* () {
    const rooms = yield* RoomStore
    const addresses = yield* ClientAddress

    const callerOf = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(tokenOf(request), (token) => ({ token, address: addresses.of(request) }))

    const answerRead = (id: string, after: number, request: HttpServerRequest.HttpServerRequest) =>
      Effect.flatMap(callerOf(request), (caller) =>
        respond(rooms.read(id, after, caller), ({ messages, room, serverTime, truncated }, headers) =>
          stored(
            jsonOf<typeof Signals.Type>({ room, messages: new JsonText(`[${messages}]`), truncated, serverTime }),
            200,
            headers,
          ),
        ),
      )

    const send = (id: string, request: HttpServerRequest.HttpServerRequest) =>
      Effect.all([callerOf(request), messageBody(request)]).pipe(
        Effect.flatMap(([caller, message]) =>
          respond(rooms.send(id, message, caller), ({ duplicate, message, room }, headers) =>
            stored(
              jsonOf<typeof Sent.Type | typeof Replayed.Type>({ message: new JsonText(message), room, duplicate }),
              duplicate ? 200 : 201,
              headers,
            ),
          ),
        ),
      )

    const hot = (yield* UrlCache).hot(refuseRoom)
    const reading = hot<RoomCall & { readonly query: { readonly after?: number } }>(
      ({ params: { roomId }, query: { after = 0 } }) =>
        (request) =>
          answerRead(roomId, after, request),
    )
    const sending = hot<RoomCall>(
      ({ params: { roomId } }) =>
        (request) =>
          send(roomId, request),
    )

    // Raw: a room's body is read as a stream of 4096 bytes at most, and a message only with a token.
    return handlers
      .handleRaw("createRoom", ({ request }) =>
        Effect.flatMap(roomBody(request), ({ name }) =>
          respond(rooms.create(name, addresses.of(request)), (room, headers) =>
            HttpServerResponse.jsonUnsafe(room, { status: 201, headers }),
          ),
        ),
      )
      .handle("readRoom", reading)
      .handle("streamRoom", reading)
      .handleRaw("sendMessage", sending)
      .handleRaw("sendMessageToRoom", sending)
      .handle("deleteRoom", ({ params, request }) =>
        Effect.flatMap(callerOf(request), (caller) =>
          respond(rooms.remove(params.roomId, caller), (_, headers) =>
            HttpApiSchema.withHeaders({ body: { deleted: true }, headers }),
          ),
        ),
      )
  }),
)
