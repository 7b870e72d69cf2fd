/** The limits of the signal room's specification, and those of the networks around an address. */
import { type Limit, ofNetworks, type Window } from "../limits/Limit.ts"

const minute = 60
const hour = 3600
const day = 86_400

const ofAddress = (name: string, quota: number, seconds: number, what: string): Window => ({
  name,
  quota,
  seconds,
  says: `${quota} ${what} from one address`,
})

export const creations: Limit = [
  ofAddress("creations-hour", 5, hour, "new rooms per hour"),
  ofAddress("creations-day", 10, day, "new rooms per day"),
  ...ofNetworks("creations-hour", 5, hour, "new rooms per hour"),
  ...ofNetworks("creations-day", 10, day, "new rooms per day"),
]

/** Replays count, too. */
export const sends: Limit = [
  ofAddress("sends", 20, minute, "sends per minute"),
  ...ofNetworks("sends", 20, minute, "sends per minute"),
]

export const reads: Limit = [ofAddress("reads", 120, minute, "reads per minute")]

export const deletions: Limit = [ofAddress("deletions", 10, minute, "deletions per minute")]

/** Counted by room, for new messages only. */
export const newMessages: Window = {
  name: "room-messages",
  quota: 30,
  seconds: minute,
  says: "30 new messages per minute in one room",
}
