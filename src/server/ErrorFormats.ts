/** The path of a request, its service, and that service's format for answers outside its endpoints. */
import { Option } from "effect"
import type { HttpServerResponse } from "effect/http"
import { Internal, MethodNotAllowed, NotFound, NotNow, TooLarge, UnsupportedMediaType } from "../../schema/Errors.ts"
import * as Room from "../../schema/room/Errors.ts"
import { isTool } from "../agents/Routes.ts"
import { refuse } from "../http/Responses.ts"
import { refuseRoom } from "../room/Requests.ts"

type Response = HttpServerResponse.HttpServerResponse

export interface ErrorFormat {
  readonly notFound: () => Response
  readonly methodNotAllowed: (allow: string) => Response
  readonly tooLarge: () => Response
  readonly unsupportedMediaType: () => Response
  /** The body has a `Content-Encoding`. */
  readonly encoded: () => Response
  readonly internal: (requestId: string) => Response
  /** 503 with `Retry-After`. */
  readonly unavailable: () => Response
}

const encoded = "The body has a Content-Encoding. Send it as it is, without that header."

/** The encoding that a body may have (RFC 9110 §12.5.3). */
const plain = { "accept-encoding": "identity" }

export const altar: ErrorFormat = {
  notFound: () => refuse(new NotFound({})),
  methodNotAllowed: (allow) => refuse(new MethodNotAllowed({}), { allow }),
  tooLarge: () => refuse(new TooLarge({})),
  unsupportedMediaType: () => refuse(new UnsupportedMediaType({})),
  encoded: () => refuse(new UnsupportedMediaType({ message: `${encoded} This request charged nothing.` }), plain),
  internal: (requestId) => refuse(new Internal({ requestId })),
  unavailable: () => refuse(new NotNow({})),
}

export const room: ErrorFormat = {
  notFound: () => refuseRoom(new Room.RoomNotFound({})),
  methodNotAllowed: (allow) => refuseRoom(new Room.RoomMethodNotAllowed({}), { allow }),
  tooLarge: () => refuseRoom(new Room.RoomTooLarge({})),
  unsupportedMediaType: () =>
    refuseRoom(Room.RoomBadRequest.because("Send the body as Content-Type: application/json.")),
  encoded: () => refuseRoom(Room.RoomBadRequest.because(encoded), plain),
  internal: () => refuseRoom(new Room.RoomInternal({})),
  unavailable: () => refuseRoom(new Room.RoomUnavailable({})),
}

/** Whether the path is the room's page or below it. Like the room, it admits no other origin. */
export const isRoomPage = (path: string) => path === "/signals" || path.startsWith("/signals/")

const rooms = ["/api/rooms", "/api/health", "/livez", "/readyz"].map((path) => ({ path, below: `${path}/` }))

/** Whether the path has the room's error format, which includes health and probes. All others have the altar's. */
export const isRoom = (path: string) => rooms.some((room) => path === room.path || path.startsWith(room.below))

const decode = Option.liftThrowable(decodeURI)

/** The router also ends a path at these characters. */
const end = /[;#]/u

/** Without the host that a proxy's request may name (RFC 9112 §3.2.2), read as the router reads it. */
const spelled = (url: string) =>
  (/^https?:\/\//iu.test(url) && URL.canParse(url) ? new URL(url).pathname : url).split("?", 1)[0] ?? "/"

/**
 * The path as the router reads it: a guard that read it differently could be bypassed. Cut and decoded once. A path that cannot be
 * decoded matches no route.
 */
export const pathOf = (url: string): string => {
  const path = spelled(url)
  if (!end.test(path) && !path.includes("%")) return path
  const cut = path.split(end, 1)[0] ?? "/"
  return Option.getOrElse(decode(cut), () => cut)
}

/** The URL of the tools without the slash that some clients append; any other as it is. */
export const canonicalUrl = (url: string): string => {
  const [, short = "", query = ""] = /^([^?]*)\/(\?.*)?$/u.exec(url) ?? []
  return isTool(pathOf(short)) ? `${short}${query}` : url
}

/** Whether a path has a spelling that no route needs: a suffix that is no query, or an escape in a room's path. */
export const isMisspelt = (url: string): boolean => {
  const path = spelled(url)
  return end.test(path) || (path.includes("%") && isRoom(pathOf(url)))
}
