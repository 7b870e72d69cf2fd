/** The signal room's endpoints: each hands on to the store and writes down its answer. */
import { Effect, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { Invite } from "../../schema/room/Api.ts"
import { MessageBody } from "../../schema/room/Message.ts"
import { RoomBody } from "../../schema/room/Room.ts"
import { ClientAddress } from "../limits/ClientAddress.ts"
import { headersOf } from "../limits/Policy.ts"
import { bodyAs } from "./Body.ts"
import { refuseRoom } from "./Refusals.ts"
import { answer, tooMany } from "./Responses.ts"
import { RoomStore } from "./RoomStore.ts"
import type { Answer } from "./Rows.ts"

const roomBody = bodyAs(RoomBody, "{}")
const messageBody = bodyAs(MessageBody)

/** Every answer of the store as a response, with what is left of the limits. */
const respond = <A>(result: Answer<A>, status: (value: A) => number, text: (value: A) => string) =>
  result.pipe(
    Effect.map(({ left, outcome }) =>
      Result.match(outcome, {
        onFailure: (refusal) => refuseRoom(refusal, headersOf(left)),
        onSuccess: (value) => answer(text(value), status(value), left),
      }),
    ),
    Effect.catchTags({ Exceeded: (refusal) => Effect.succeed(tooMany(refusal)), SqlError: Effect.die }),
  )

const ok = () => 200
const created = () => 201

export const handlers = HttpApiBuilder.group(Api, "rooms", (handlers) =>
  Effect.gen(function* () {
    const rooms = yield* RoomStore
    const addresses = yield* ClientAddress

    const callerOf = (request: HttpServerRequest.HttpServerRequest) =>
      Effect.map(Invite, (token) => ({ token, address: addresses.of(request) }))

    const poll = (id: string, after: number | undefined, request: HttpServerRequest.HttpServerRequest) =>
      Effect.flatMap(callerOf(request), (caller) =>
        respond(
          rooms.read(id, after ?? 0, caller),
          ok,
          ({ messages, room, serverTime, truncated }) =>
            `{"room":${JSON.stringify(room)},"messages":[${messages}],"truncated":${truncated},"serverTime":"${serverTime}"}`,
        ),
      )

    const send = (id: string, request: HttpServerRequest.HttpServerRequest) =>
      Effect.all([callerOf(request), messageBody(request)]).pipe(
        Effect.flatMap(([caller, body]) =>
          respond(
            rooms.send(id, body, caller),
            ({ duplicate }) => (duplicate ? 200 : 201),
            ({ duplicate, message, room }) =>
              `{"message":${message},"room":${JSON.stringify(room)},"duplicate":${duplicate}}`,
          ),
        ),
      )

    return handlers
      .handleRaw("createRoom", ({ request }) =>
        Effect.flatMap(roomBody(request), ({ name }) =>
          respond(rooms.create(name, addresses.of(request)), created, (value) => JSON.stringify(value)),
        ),
      )
      .handleRaw("readRoom", ({ params, query, request }) => poll(params.roomId, query.after, request))
      .handleRaw("streamRoom", ({ params, query, request }) => poll(params.roomId, query.after, request))
      .handleRaw("sendMessage", ({ params, request }) => send(params.roomId, request))
      .handleRaw("sendMessageToRoom", ({ params, request }) => send(params.roomId, request))
      .handleRaw("deleteRoom", ({ params, request }) =>
        Effect.flatMap(callerOf(request), (caller) =>
          respond(rooms.remove(params.roomId, caller), ok, () => '{"deleted":true}'),
        ),
      )
  }),
)
