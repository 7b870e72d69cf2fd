/** The limits of the signal room's specification, and those of the networks around an address. */
import type { Policy, Window } from "../limits/Policy.ts"

const minute = 60
const hour = 3600
const day = 86_400

/** A window without its description. */
interface Quota extends Omit<Window, "says"> {
  readonly what: string
}

const policy = (
  name: string,
  [first, ...others]: readonly [Quota, ...ReadonlyArray<Quota>],
  network?: 56 | 48,
  factor = 1,
): Policy => {
  const [from, suffix] = network === undefined ? ["one address", ""] : [`one /${network} network`, `-${network}`]
  const window = ({ name, quota, seconds, what }: Quota): Window => ({
    name: `${name}${suffix}`,
    quota: factor * quota,
    seconds,
    says: `${factor * quota} ${what} from ${from}`,
  })
  const windows = [window(first), ...others.map(window)] as const
  return { name: `${name}${suffix}`, windows, ...(network === undefined ? {} : { network }) }
}

/** A limit on disk usage, also by network: a /56 is usually one customer, a /48 one site or many customers. */
const withNetworks = (name: string, windows: readonly [Quota, ...ReadonlyArray<Quota>]): Policy => ({
  ...policy(name, windows),
  wider: [policy(name, windows, 56, 4), policy(name, windows, 48, 20)],
})

export const creations = withNetworks("room-creations", [
  { name: "creations-hour", quota: 5, seconds: hour, what: "new rooms per hour" },
  { name: "creations-day", quota: 10, seconds: day, what: "new rooms per day" },
])

export const sends = withNetworks("room-sends", [
  { name: "sends", quota: 20, seconds: minute, what: "sends per minute" },
])

export const reads = policy("room-reads", [{ name: "reads", quota: 120, seconds: minute, what: "reads per minute" }])

export const deletions = policy("room-deletions", [
  { name: "deletions", quota: 10, seconds: minute, what: "deletions per minute" },
])

/** Counted in the room's own row, for new messages only. */
export const newMessages: Policy = {
  name: "room-messages",
  windows: [{ name: "room-messages", quota: 30, seconds: minute, says: "30 new messages per minute in one room" }],
}
