/** The claims of purchases: names that one attempt has alone, numbers of pools, and the one record of each act. */
import { soldActs } from "./Acts.ts"
import { request } from "./Api.ts"
import type { Findings } from "./Findings.ts"
import type { Attempt, Ledger } from "./AuditLedger.ts"
import { authorizationOf } from "./Transfers.ts"

/** Stones of one UTC day, settled or held. */
const dailyStones = 5000

const dayOf = ({ acceptedAt }: Attempt) => acceptedAt.toISOString().slice(0, 10)

interface Item {
  readonly id: string
  readonly editionSize: number
  readonly issued: number
  readonly reserved: number
  readonly remaining: number
}

const auditRecords = (ledger: Ledger, found: Findings) => {
  const check = "a settled act has its one record"
  const settled = new Map(ledger.attempts.filter(({ state }) => state === "settled").map((one) => [one.id, one]))
  const acts = Map.groupBy(ledger.acts, ({ id }) => id)
  const records = Map.groupBy(ledger.records, ({ id }) => id)
  for (const [id, { act }] of settled) {
    const own = records.get(id)?.map(({ table }) => table) ?? []
    const rows = acts.get(id)?.map((row) => row.act) ?? []
    found.hold(check, rows.length === 1 && rows[0] === act, { id, act, acts: rows })
    found.hold(check, own.length === 1 && own[0] === soldActs[act]?.table, { id, act, tables: own })
  }
  const unsold = [...ledger.records, ...ledger.acts].filter(({ id }) => !settled.has(id))
  for (const row of unsold) found.violate(check, { unsold: row })
  for (const [place, rows] of Map.groupBy(ledger.records, (row) => `${row.table} ${row.place}`))
    found.hold("a place is recorded once", rows.length === 1, { place, rows })
}

/** The names an attempt has to hold. Its authorization or token stays, however it ends. */
const namesOf = (attempt: Attempt, places: ReadonlyMap<string, string>) => {
  const spirit = places.get(attempt.id)?.split(" ")[0]
  const names =
    attempt.rail === "x402"
      ? [`authorization:${attempt.network}:${attempt.asset}:${authorizationOf(attempt)}`]
      : ["card"]
  if (attempt.state !== "settled" || spirit === undefined) return names
  if (attempt.act === "offerPrayer") return [...names, `prayer:${spirit}:${dayOf(attempt)}`]
  return attempt.act === "takeIn" ? [...names, `keeper:${spirit}`] : names
}

const auditClaims = (ledger: Ledger, found: Findings) => {
  const check = "an attempt holds its names, and a failed one its authorization alone"
  const held = Map.groupBy(ledger.claims, ({ attempt }) => attempt)
  const places = new Map(ledger.records.map(({ id, place }) => [id, place]))
  for (const attempt of ledger.attempts) {
    // A used token is erased, and its claim is named after it. Only that there is one claim can be checked.
    const own = new Set((held.get(attempt.id) ?? []).map(({ name }) => name.replace(/^card:[0-9a-f]{64}$/u, "card")))
    const names = namesOf(attempt, places)
    const isHeld = names.every((name) => own.has(name)) && (attempt.state !== "failed" || own.size === names.length)
    found.hold(check, isHeld, { id: attempt.id, state: attempt.state, names, held: [...own] })
  }
  for (const { id, place } of ledger.records.filter((row) => row.table === "prayers")) {
    const attempt = ledger.attempts.find((one) => one.id === id)
    if (attempt !== undefined && !place.endsWith(dayOf(attempt)))
      found.violate(check, { id, place, accepted: dayOf(attempt) })
  }
}

const range = (most: number) => Array.from({ length: Math.max(0, most) }, (_, at) => at + 1)

/** Every number of a pool is out once or was given back once. */
const auditPools = (capacities: ReadonlyMap<string, number>, ledger: Ledger, found: Findings) => {
  const check = "the numbers of a pool are out once, or free"
  const holders = Map.groupBy(
    ledger.attempts.filter(({ pool, state }) => pool !== null && state !== "failed"),
    ({ pool }) => pool ?? "",
  )
  const pools = new Map(ledger.pools.map((pool) => [pool.name, pool]))
  for (const [name, attempts] of holders)
    if (!pools.has(name)) found.violate(check, { noPool: name, attempts: attempts.length })
  for (const { highest, name, released } of ledger.pools) {
    const out = (holders.get(name) ?? []).map(({ number }) => number ?? 0)
    const all = [...out, ...released].sort((a, b) => a - b)
    found.examine(check, all.length)
    if (all.join() !== range(highest).join()) found.violate(check, { name, highest, out, released })
    const capacity = name.startsWith("witness:") ? dailyStones : capacities.get(name)
    if (capacity === undefined || highest > capacity) found.violate(check, { name, highest, capacity })
  }
  const places = new Map(ledger.records.map(({ id, place }) => [id, place]))
  for (const attempt of ledger.attempts.filter(({ act, state }) => act === "collectMaterial" && state === "settled")) {
    const element = attempt.pool?.slice("edition:".length)
    const [claimed, recorded] = [`${element} ${attempt.number}`, places.get(attempt.id)]
    const { id } = attempt
    found.hold("an edition has the number that was claimed", claimed === recorded, { id, claimed, recorded })
  }
  for (const attempt of ledger.attempts.filter(({ act }) => act === "setWitnessStone"))
    if (attempt.pool !== `witness:${dayOf(attempt)}`)
      found.violate(check, { id: attempt.id, accepted: dayOf(attempt), pool: attempt.pool })
}

/** Every item of the three catalogs, which have to add up. */
const readCatalogs = async (server: string, ledger: Ledger, found: Findings) => {
  const check = "issued, reserved and remaining editions add up"
  const capacities = new Map<string, number>()
  for (const name of ["elements", "companions", "pixels"]) {
    const { status, text } = await request(`${server}/api/${name}`)
    if (status !== 200) {
      found.violate(check, { server, name, status })
      continue
    }
    const catalog: Readonly<Record<string, ReadonlyArray<Item>>> & { readonly totalEditionSize: number } =
      JSON.parse(text)
    const items = catalog[name] ?? []
    const total = items.reduce((sum, { editionSize }) => sum + editionSize, 0)
    found.hold(check, total === catalog.totalEditionSize, { server, name, total, said: catalog.totalEditionSize })
    for (const { editionSize, id, issued, remaining, reserved } of items) {
      capacities.set(`edition:${id}`, editionSize)
      const own = ledger.attempts.filter(({ pool }) => pool === `edition:${id}`)
      const settled = own.filter(({ state }) => state === "settled").length
      const open = own.filter(({ state }) => state === "pending").length
      const fits = issued === settled && reserved === open && remaining === editionSize - settled - open
      found.hold(check, fits, { server, id, issued, reserved, remaining, editionSize, settled, open })
    }
  }
  return capacities
}

export const auditClaimed = async (servers: ReadonlyArray<string>, ledger: Ledger, found: Findings) => {
  auditRecords(ledger, found)
  auditClaims(ledger, found)
  let capacities: ReadonlyMap<string, number> = new Map()
  for (const server of servers) capacities = await readCatalogs(server, ledger, found)
  auditPools(capacities, ledger, found)
}
