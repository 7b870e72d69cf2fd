/** Caches results of reads. Each read asks the database whether the rows are still the same. */
import { Clock, Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { BoundedMap } from "./BoundedMap.ts"
import * as Batcher from "./Batcher.ts"
import { bounded } from "./Sql.ts"
import { timestampOf } from "./Time.ts"

/** One kind of read. Its result must depend on its rows alone, so a displayed day is a column of them. */
export interface CachedRead<Key, A extends object, E> {
  /** Keys with equal names have equal statements, apart from their time. */
  readonly nameOf: (key: Key) => string
  /** The time of a read whose rows depend on it, in milliseconds since 1970. */
  readonly clock?: Effect.Effect<number>
  /** Rows in their order. `now` is the time of the query as RFC 3339. */
  readonly statement: (key: Key, now: string) => Statement.Fragment
  readonly make: (rows: ReadonlyArray<unknown>, key: Key) => Effect.Effect<A, E>
}

interface CacheEntry<A> {
  readonly tag: string
  readonly value: A
  readonly bytes: number
}

interface TaggedRow {
  readonly tag: string
  readonly octets: number
  /** Null when there are no rows, or when they equal the cached ones. */
  readonly place: bigint | null
}

/** Maximum bytes that one kind of read caches. The least recently used go first. */
const maximumBytes = 6 * 1_048_576

/** Memory of a cached value with its JSON and compressed variants: bytes per byte of its rows, and a constant. */
const growth = 12
const overhead = 1024

/**
 * Returns the same object as long as its rows are the same. One statement reads rows and hash and sends the rows only
 * if the hash is new, so the next read sees a change from any source.
 */
export const make = Effect.fnUntraced(function* <Key, A extends object, E>({
  clock = Clock.currentTimeMillis,
  make,
  nameOf,
  statement,
}: CachedRead<Key, A, E>) {
  const sql = yield* SqlClient.SqlClient
  const kept = new BoundedMap<string, CacheEntry<A>>(maximumBytes)

  const run = Effect.fnUntraced(function* (key: Key) {
    const name = nameOf(key)
    const cached = kept.get(name)
    const now = timestampOf(yield* clock)
    const rows = yield* sql<TaggedRow>`
      WITH listed AS MATERIALIZED (
        SELECT row_number() OVER () AS place, r.* FROM (${statement(key, now)}) r
      ), tagged AS MATERIALIZED (
        SELECT encode(sha256(convert_to(rows, 'UTF8')), 'hex') AS tag, octet_length(rows) AS octets
        FROM (SELECT COALESCE(string_agg(f::text, '' ORDER BY f.place), '') AS rows FROM listed f) f
      )
      SELECT t.tag, t.octets, f.*
      FROM tagged t LEFT JOIN listed f ON t.tag IS DISTINCT FROM ${cached?.tag ?? null}::text ORDER BY f.place`
    const [first] = rows
    if (first === undefined) return yield* Effect.die("a kept read has no tag")
    if (cached !== undefined && cached.tag === first.tag) {
      kept.set(name, cached, cached.bytes)
      return cached.value
    }
    const value = yield* make(first.place === null ? [] : rows, key)
    const bytes = overhead + growth * first.octets
    kept.set(name, { tag: first.tag, value, bytes }, bytes)
    return value
  })

  return yield* Batcher.shared({ nameOf, run: (key: Key) => bounded(run(key)) })
})
