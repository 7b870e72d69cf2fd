/** The limits of the signal room, as its specification tabulates them. */
import type { Policy } from "../limits/Policy.ts"

const minute = 60
const hour = 3600
const day = 86_400

export const creations: Policy = {
  name: "room-creations",
  windows: [
    { name: "creations-hour", quota: 5, seconds: hour, says: "5 new rooms per hour from one address" },
    { name: "creations-day", quota: 10, seconds: day, says: "10 new rooms per day from one address" },
  ],
}

export const reads: Policy = {
  name: "room-reads",
  windows: [{ name: "reads", quota: 120, seconds: minute, says: "120 reads per minute from one address" }],
}

export const sends: Policy = {
  name: "room-sends",
  windows: [{ name: "sends", quota: 20, seconds: minute, says: "20 sends per minute from one address" }],
}

export const deletions: Policy = {
  name: "room-deletions",
  windows: [{ name: "deletions", quota: 10, seconds: minute, says: "10 deletions per minute from one address" }],
}

/** Counted in the room's own row, by new messages only. */
export const newMessages: Policy = {
  name: "room-messages",
  windows: [{ name: "room-messages", quota: 30, seconds: minute, says: "30 new messages per minute in one room" }],
}
