/** What the room answers when a limit is reached. */
import { RoomRateLimited, RoomsFull } from "../../schema/room/Errors.ts"
import { refuseRoom } from "./Refusals.ts"
import { type Exceeded, headersOf } from "../limits/Policy.ts"

/** 503: nothing was created, and rooms that exist work on. */
export const allTaken = (retryAfter: number) =>
  refuseRoom(new RoomsFull({ retryAfter }), { "retry-after": String(retryAfter) })

/** 429, naming the limit. */
export const tooMany = ({ remaining, retryAfter, window }: Exceeded) =>
  refuseRoom(
    new RoomRateLimited({
      error: {
        code: "RATE_LIMITED",
        message: `The limit of ${window.says} is reached; try again in ${retryAfter} ${retryAfter === 1 ? "second" : "seconds"}.`,
      },
      retryAfter,
    }),
    { "retry-after": String(retryAfter), ...headersOf(remaining) },
  )
