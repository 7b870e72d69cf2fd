/** The contests: the name of each contest, what it compares, and what is wanted of it. */

/** Where a contest is held: the servers that it needs. */
export type Arena = "altar" | "rooms" | "relayer"

export interface Contest {
  readonly name: string
  readonly arena: Arena
  readonly what: string
  /** The ratio, ours to the peer's, that is aimed at; higher is better in all contests. */
  readonly wanted?: number
}

export const contests: ReadonlyArray<Contest> = [
  { name: "spirits", arena: "altar", what: "GET /api/spirits; peer with SQL", wanted: 2 },
  { name: "spirits-gzip", arena: "altar", what: "the same, gzip; peer compresses", wanted: 2 },
  { name: "list", arena: "altar", what: "GET /api/witness?limit=20", wanted: 2 },
  { name: "list-gzip", arena: "altar", what: "the same, gzip; peer compresses", wanted: 2 },
  { name: "segment", arena: "altar", what: "GET a 100-entry chain segment", wanted: 5 },
  { name: "bare402", arena: "altar", what: "402 to a bare probe", wanted: 2 },
  { name: "keyed402", arena: "altar", what: "402 to a request with key and body", wanted: 1.2 },
  { name: "paid", arena: "altar", what: "paid stones, settled at once", wanted: 2.5 },
  { name: "appends", arena: "altar", what: "chain appends, without HTTP", wanted: 2 },
  { name: "relayer", arena: "relayer", what: "paid stones by our relayer; a facilitator alone", wanted: 1.2 },
  { name: "relayer-loop", arena: "relayer", what: "the same; the peer's whole loop over HTTP", wanted: 2 },
  { name: "poll0", arena: "rooms", what: "room polls, nothing new", wanted: 2 },
  { name: "poll10", arena: "rooms", what: "room polls, 10 new of 50", wanted: 1.5 },
  { name: "send100", arena: "rooms", what: "sends into 100 rooms", wanted: 2 },
  { name: "send10000", arena: "rooms", what: "sends into 10,000 rooms", wanted: 2.8 },
]

/** Those that are named, in their order; without names all. */
export const chosen = (names: ReadonlyArray<string> | undefined): ReadonlyArray<Contest> => {
  const unknown = names?.find((name) => !contests.some((contest) => contest.name === name))
  if (unknown !== undefined)
    throw new Error(`There is no contest ${unknown}; there are ${contests.map(({ name }) => name).join(", ")}`)
  return contests.filter(({ name }) => names?.includes(name) !== false)
}
