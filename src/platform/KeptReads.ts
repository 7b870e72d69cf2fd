/** What was made of rows is kept, and the database is asked each time whether they are still the same. */
import { Clock, Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { BoundedMap } from "./BoundedMap.ts"
import * as Gather from "./Gather.ts"
import { bounded } from "./Sql.ts"
import { timestampOf } from "./Time.ts"

/** A read of one kind. What is made must depend on its rows alone: a day that is shown is a column of them. */
export interface KeptRead<Key, A extends object, E> {
  /** Equal names, equal statements but for their time. */
  readonly nameOf: (key: Key) => string
  /** Rows in their order; `now` is RFC 3339, of the moment when the database is asked. */
  readonly statement: (key: Key, now: string) => Statement.Fragment
  readonly make: (rows: ReadonlyArray<unknown>, key: Key) => Effect.Effect<A, E>
}

interface Kept<A> {
  readonly tag: string
  readonly value: A
  readonly bytes: number
}

interface TaggedRow {
  readonly tag: string
  readonly octets: number
  /** Null when there are no rows, or when they are those that are known. */
  readonly place: bigint | null
}

/** Bytes that one kind of read keeps at most; the least used go first. */
const most = 6 * 1_048_576

/** What a value takes in memory with its JSON and its compressed forms, for each byte of its rows, and beside them. */
const growth = 12
const overhead = 1024

/**
 * The same value, the very object, as long as its rows are the same. One statement reads the rows and their hash at one
 * moment, and sends them only when that is not the hash we have: so whatever changes a row is seen by the next read, be it
 * an act, another server, the clock or somebody with a database client.
 */
export const make = Effect.fnUntraced(function* <Key, A extends object, E>({
  make,
  nameOf,
  statement,
}: KeptRead<Key, A, E>) {
  const sql = yield* SqlClient.SqlClient
  const kept = new BoundedMap<string, Kept<A>>(most)

  const run = Effect.fnUntraced(function* (key: Key) {
    const name = nameOf(key)
    const known = kept.get(name)
    const now = timestampOf(yield* Clock.currentTimeMillis)
    const rows = yield* Effect.orDie(sql<TaggedRow>`
      WITH found AS MATERIALIZED (
        SELECT row_number() OVER () AS place, r.* FROM (${statement(key, now)}) r
      ), tagged AS MATERIALIZED (
        SELECT encode(sha256(convert_to(rows, 'UTF8')), 'hex') AS tag, octet_length(rows) AS octets
        FROM (SELECT COALESCE(string_agg(f::text, '' ORDER BY f.place), '') AS rows FROM found f) f
      )
      SELECT t.tag, t.octets, f.*
      FROM tagged t LEFT JOIN found f ON t.tag IS DISTINCT FROM ${known?.tag ?? null}::text ORDER BY f.place`)
    const [first] = rows
    if (first === undefined) return yield* Effect.die("a kept read has no tag")
    if (known !== undefined && known.tag === first.tag) {
      kept.set(name, known, known.bytes)
      return known.value
    }
    const value = yield* make(first.place === null ? [] : rows, key)
    const bytes = overhead + growth * first.octets
    kept.set(name, { tag: first.tag, value, bytes }, bytes)
    return value
  })

  return yield* Gather.shared({ nameOf, run: (key: Key) => bounded(run(key)) })
})
