/** Which service a path belongs to, and how that service says what no endpoint of it says. */
import type { HttpServerResponse } from "effect/http"
import { Internal, MethodNotAllowed, NotFound, NotNow, TooLarge, UnsupportedMediaType } from "../../schema/Errors.ts"
import * as Room from "../../schema/room/Errors.ts"
import { refuse } from "../http/Responses.ts"
import { refuseRoom } from "../room/Refusals.ts"

type Response = HttpServerResponse.HttpServerResponse

export interface Shape {
  readonly notFound: () => Response
  readonly methodNotAllowed: (allow: string) => Response
  readonly tooLarge: () => Response
  readonly unsupportedMediaType: () => Response
  readonly internal: (requestId: string) => Response
  /** 503 with the seconds after which it may be asked again. */
  readonly unavailable: () => Response
}

/** Seconds after which a database that did not answer is asked again. */
const soon = { "retry-after": "2" }

export const altar: Shape = {
  notFound: () => refuse(404, new NotFound({})),
  methodNotAllowed: (allow) => refuse(405, new MethodNotAllowed({}), { allow }),
  tooLarge: () => refuse(413, new TooLarge({})),
  unsupportedMediaType: () => refuse(415, new UnsupportedMediaType({})),
  internal: (requestId) => refuse(500, new Internal({ requestId })),
  unavailable: () => refuse(503, new NotNow({}), soon),
}

export const room: Shape = {
  notFound: () => refuseRoom(new Room.RoomNotFound({})),
  methodNotAllowed: (allow) => refuseRoom(new Room.RoomMethodNotAllowed({}), { allow }),
  tooLarge: () => refuseRoom(new Room.RoomTooLarge({})),
  unsupportedMediaType: () =>
    refuseRoom(Room.RoomBadRequest.because("Send the body as Content-Type: application/json.")),
  internal: () => refuseRoom(new Room.RoomInternal({})),
  unavailable: () => refuseRoom(new Room.RoomUnavailable({}), soon),
}

/** Where the tools for agents are; both are the same endpoint. */
export const tools = ["/mcp", "/api/mcp"] as const

export const isTool = (path: string) => tools.some((one) => path === one)

/** The room's page and what lies below it: like the room, other origins are let in nowhere. */
export const isRoomPage = (path: string) => path === "/signals" || path.startsWith("/signals/")

const rooms = ["/api/rooms", "/api/health", "/livez", "/readyz"]

/** The room's paths, health and probes among them, whose errors have their shape; everything else is the altar's. */
export const isRoom = (path: string) => rooms.some((root) => path === root || path.startsWith(`${root}/`))
