/** The contests: the name of each contest, where it is held, and what it compares. */

/** Where a contest is held: the servers that it needs. */
export type Arena = "altar" | "rooms" | "relayer"

export interface Contest {
  readonly name: string
  readonly arena: Arena
  readonly what: string
}

export const contests: ReadonlyArray<Contest> = [
  { name: "spirits", arena: "altar", what: "GET /api/spirits; peer with SQL" },
  { name: "list", arena: "altar", what: "GET /api/witness?limit=20" },
  { name: "segment", arena: "altar", what: "GET a 100-entry chain segment" },
  { name: "bare402", arena: "altar", what: "402 to a bare probe" },
  { name: "keyed402", arena: "altar", what: "402 to a request with key and body" },
  { name: "paid", arena: "altar", what: "paid stones, settled at once" },
  { name: "appends", arena: "altar", what: "chain appends, without HTTP" },
  { name: "relayer", arena: "relayer", what: "paid stones by our relayer; a facilitator alone" },
  { name: "poll0", arena: "rooms", what: "room polls, nothing new" },
  { name: "poll10", arena: "rooms", what: "room polls, 10 new of 50" },
  { name: "send100", arena: "rooms", what: "sends into 100 rooms" },
  { name: "send10000", arena: "rooms", what: "sends into 10,000 rooms" },
]

/** Those that are named, in their order; without names all. */
export const chosen = (names: ReadonlyArray<string> | undefined): ReadonlyArray<Contest> => {
  const unknown = names?.find((name) => !contests.some((contest) => contest.name === name))
  if (unknown !== undefined)
    throw new Error(`There is no contest ${unknown}; there are ${contests.map(({ name }) => name).join(", ")}`)
  return contests.filter(({ name }) => names?.includes(name) !== false)
}
