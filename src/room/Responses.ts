/** What the room answers, as bytes, and what is left of the limits. */
import { HttpServerResponse } from "effect/http"
import { RoomRateLimited } from "../../schema/room/Errors.ts"
import { refuseRoom } from "./Refusals.ts"
import { type Exceeded, headersOf, type Left } from "../limits/Policy.ts"

/** 429, naming the limit. */
export const tooMany = ({ left, retryAfter, window }: Exceeded) =>
  refuseRoom(
    new RoomRateLimited({
      error: {
        code: "RATE_LIMITED",
        message: `The limit of ${window.says} is reached; try again in ${retryAfter} ${retryAfter === 1 ? "second" : "seconds"}.`,
      },
      retryAfter,
    }),
    { "retry-after": String(retryAfter), ...headersOf(left) },
  )

/** JSON text that is already written. */
export const answer = (text: string, status: number, left: ReadonlyArray<Left>) =>
  HttpServerResponse.text(text, {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store", ...headersOf(left) },
  })
