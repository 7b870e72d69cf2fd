/** The transactions of the database, each of them one step. */
import { versionOf } from "./Chain.ts"
import {
  type Configuration,
  type Database,
  isOfSettled,
  type Row,
  type Server,
  type State,
  type Work,
} from "./State.ts"

export const patched = (database: Database, key: string, patch: Partial<Row>): Database => {
  const row = database.rows[key]
  return row === undefined ? database : { ...database, rows: { ...database.rows, [key]: { ...row, ...patch } } }
}

/** A new or cleared doubt is another one than a server may have read, whatever it says. */
const forget = (work: Work, key: string): Work =>
  work.key === key && work.ripe !== "" && !work.ripe.startsWith("!") ? { ...work, ripe: `!${work.ripe}` } : work

/** The state after a server's statement; earlier reads of a dropped doubt are stale from here on. */
export const written = (state: State, server: Server, work: Work, key: string, patch: Partial<Row>): State => {
  const before = state.database.rows[key]
  const isReplaced =
    before !== undefined && before.doubt !== "" && patch.doubt !== undefined && patch.doubt !== before.doubt
  const other = server === "one" ? "two" : "one"
  return {
    ...state,
    database: patched(state.database, key, patch),
    [server]: work,
    [other]: isReplaced ? forget(state[other], key) : state[other],
  }
}

export const authorizationClaim = (authorization: string) => `authorization ${authorization}`

const namesOf = (work: Work, { fault }: Configuration) => [
  ...(fault === "the authorization is not claimed" ? [] : [authorizationClaim(work.authorization)]),
  ...(work.slot === "" ? [] : [work.slot]),
]

/** `PaymentLedger.claim`: key, authorization and slots together, or none of them; none when it was not made. */
export const claimed = (database: Database, work: Work, configuration: Configuration): Database | undefined => {
  const names = namesOf(work, configuration)
  if (database.rows[work.key] !== undefined || names.some((name) => database.claims[name] !== undefined))
    return undefined
  const { authorization, fromBlock, hint, slot } = work
  const row: Row = {
    authorization,
    slot,
    state: "pending",
    reason: "",
    transaction: hint,
    moved: "",
    settledBlock: 0,
    fromBlock,
    refusal: "",
    doubt: "",
    isRipe: false,
    note: "",
    finality: "pending",
    records: 0,
    isResent: false,
    wasPoor: false,
  }
  // In one order, for every caller: two histories of one content are one state.
  const sorted = (record: Readonly<Record<string, Row | string>>) =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))
  return {
    rows: Object.fromEntries(sorted({ ...database.rows, [work.key]: row })) as Database["rows"],
    claims: Object.fromEntries(
      sorted({ ...database.claims, ...Object.fromEntries(names.map((name) => [name, work.key])) }),
    ) as Database["claims"],
    strays: database.strays,
  }
}

/** `PaymentLedger.settle`. */
export const settled = (
  state: State,
  server: Server,
  work: Work,
  next: Work,
  { fault }: Configuration,
  block: number,
): State => {
  const row = state.database.rows[work.key]
  if (row === undefined || (row.state !== "pending" && fault !== "settle without compare"))
    return { ...state, [server]: next }
  return written(state, server, next, work.key, {
    state: "settled",
    transaction: work.log,
    settledBlock: block,
    doubt: "",
    isRipe: false,
    records: Math.min(2, row.records + 1),
  })
}

/** `endUnpaid`: ends it and releases what it held. */
const ended = (state: State, server: Server, work: Work, { fault }: Configuration, reason: string): State => {
  const after = written(state, server, work, work.key, { state: "failed", reason })
  const held = Object.entries(after.database.claims)
  const kept = fault === "claims are kept" ? held : held.filter(([, key]) => key !== work.key)
  return { ...after, database: { ...after.database, claims: Object.fromEntries(kept) } }
}

/** `PaymentLedger.fail`: only while the doubt of the row is the one that was read. */
export const failed = (state: State, server: Server, work: Work, next: Work, configuration: Configuration): State => {
  const row = state.database.rows[work.key]
  const { fault } = configuration
  const isAgreed = row?.state === "pending" && (fault === "one look is enough" || !work.ripe.startsWith("!"))
  return isAgreed || fault === "fail without compare"
    ? ended(state, server, next, configuration, work.outcome)
    : { ...state, [server]: next }
}

/** `PaymentLedger.failUnsent`: only while no broadcast is recorded, and no other server has leased it (`checks` grows with every look). */
export const failedUnsent = (
  state: State,
  server: Server,
  work: Work,
  next: Work,
  configuration: Configuration,
): State => {
  const row = state.database.rows[work.key]
  const carelessly = configuration.settles === "relayer" ? "unsent without compare" : "unheard without compare"
  const isAgreed = row?.state === "pending" && (row.note === "" || configuration.fault === carelessly)
  return isAgreed ? ended(state, server, next, configuration, work.outcome) : { ...state, [server]: next }
}

/** `PaymentLedger.defer`: the doubt that this inquiry leaves; `keeps` when no node answered. */
export const deferred = (state: State, server: Server, work: Work, next: Work): State => {
  const row = state.database.rows[work.key]
  if (row?.state !== "pending") return { ...state, [server]: next }
  const keeps = work.outcome === "unavailable"
  return written(state, server, next, work.key, {
    transaction: work.hint === "" ? row.transaction : work.hint,
    ...(work.isSubmitted ? { refusal: work.refusal.startsWith("facilitator") ? work.refusal : "" } : {}),
    ...(keeps || work.outcome === row.doubt ? {} : { doubt: work.outcome, isRipe: false, wasPoor: false }),
  })
}

/** `Broadcasts.note` for one payment: takes the place of the one before, or the first one, while the attempt is what it was. */
const notedFor = (
  state: State,
  server: Server,
  work: Work,
  { fault }: Configuration,
  key: string,
  before: string,
  is: Row["state"],
): State | undefined => {
  const row = state.database.rows[key]
  if (row === undefined) return undefined
  const isWhatItWas = row.state === is && row.finality === "pending"
  if (!isWhatItWas && fault !== "a note asks nobody") return undefined
  const isJudged = (before === "" || row.state === "pending") && fault !== "a note keeps the doubt"
  const doubt = isJudged ? { refusal: "", doubt: "", isRipe: false } : {}
  const note = { note: work.making, isResent: row.isResent || row.state === "settled", ...doubt }
  if (before === "") {
    if (row.note !== "") return undefined
    return written(state, server, work, key, note)
  }
  if (row.note !== before && fault !== "a note does not name the one before") return undefined
  return written(state, server, work, key, note)
}

/** The result of a record: whom it was made for. */
export interface Noted {
  readonly state: State
  readonly leader: boolean
  readonly passenger: boolean
}

/** `Broadcasts.note`: one statement for all who travel together, each judged by itself. */
export const noted = (state: State, server: Server, work: Work, configuration: Configuration): Noted => {
  const { noted: before, passenger, passengerNoted } = work
  const led = notedFor(state, server, work, configuration, work.key, before, isOfSettled(work) ? "settled" : "pending")
  const isAlong = passenger !== "" && configuration.fault !== "a group is noted for its first"
  const along = isAlong
    ? notedFor(led ?? state, server, work, configuration, passenger, passengerNoted, "pending")
    : undefined
  return {
    state: along ?? led ?? state,
    leader: led !== undefined,
    passenger: !isAlong || along !== undefined,
  }
}

/** The name of a broadcast under this nonce, after the ones before it; none when there were enough. */
export const versionAfter = (work: Work, nonce: number, members: string, { versions }: Configuration) => {
  const after = (before: string) => (before === "" ? 0 : versionOf(before) + 1)
  const version = Math.max(after(work.noted), after(work.passengerNoted))
  const who = members.length > 1 ? `gR${nonce}${version}${members}` : `${members}R${nonce}${version}`
  return version < versions ? who : undefined
}
