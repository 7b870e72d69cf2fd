/** The answers of a server that is starting or stopping, in the format of the service, with `Retry-After`. */
import { NotNow as AltarNotNow } from "../../schema/Errors.ts"
import type { Readiness } from "../../schema/Health.ts"
import type { NotNow, Phase } from "../http/Listener.ts"
import { refusalOf } from "../http/Responses.ts"
import { isTool } from "../agents/Routes.ts"
import { RoomUnavailable } from "../../schema/room/Errors.ts"
import { allowed } from "./CrossOrigin.ts"
import { isRoom, isRoomPage, pathOf } from "./ErrorFormats.ts"

const message = "The server is starting or stopping: ask again in a second. This request did nothing."

const headers = { "content-type": "application/json", "cache-control": "no-store" }
const later = { ...headers, "retry-after": "1" }

const room = JSON.stringify({ error: new RoomUnavailable({ error: { code: "UNAVAILABLE", message } }).error })
const altar = JSON.stringify({ ...refusalOf(new AltarNotNow({})), message })

/** No part is checked: a starting or stopping server takes no traffic in any case. */
const readiness = (state: Phase) =>
  JSON.stringify({
    ready: false,
    state,
    database: "unknown",
    clock: "unknown",
    payments: "unknown",
    settlement: "unknown",
  } satisfies typeof Readiness.Type)

export const notNow: NotNow = ({ method, url = "/" }, phase) => {
  const path = pathOf(url)
  // A page cannot read the refusal of a request whose preflight failed.
  if (method === "OPTIONS" && !isRoom(path) && !isRoomPage(path) && !isTool(path))
    return { status: 200, headers: allowed, body: "" }
  if (path === "/livez") return { status: 200, headers, body: JSON.stringify({ alive: true }) }
  if (path === "/readyz") return { status: 503, headers: later, body: readiness(phase) }
  return { status: 503, headers: later, body: isRoom(path) ? room : altar }
}
