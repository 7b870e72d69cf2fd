/** A hash chain in the database: gapless, each link naming and hashing its predecessor, re-hashed when it is read. */
import { Effect, Option, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ChainClaim, type ChainPoint, checkLink, genesis } from "../../schema/altar/ChainCheck.ts"
import * as CachedReads from "../platform/CachedReads.ts"
import { log } from "../platform/LogMessages.ts"
import { Moment, rowsOf, Whole } from "../platform/Rows.ts"
import { atMost, bounded } from "../platform/Sql.ts"

export type Head = ChainPoint

export type Link = ChainClaim

/** A link of a stored chain no longer verifies: the stored chain was changed. */
export class ChainBroken extends Schema.TaggedError<ChainBroken>()("ChainBroken", {
  sequence: Schema.Int,
  message: Schema.String,
}) {}

export interface Segment<L> {
  /** The link before the first one, or the genesis. */
  readonly anchor: Head
  readonly links: ReadonlyArray<L>
  readonly head: Head
  readonly next: number | null
}

/** The rules of one chain, with its alarm; `name` is the log's word for its links. */
const rulesOf = Effect.fnUntraced(function* <L extends Link>(name: string, hashOf: (link: L) => string) {
  const last = yield* Ref.make(Option.none<number>())

  const broken = (sequence: number, what: string) => {
    const error = new ChainBroken({ sequence, message: `${name} ${sequence} ${what}` })
    // Any reader can hit the broken link again; the alarm rings only when the break is found.
    return Ref.getAndSet(last, Option.some(sequence)).pipe(
      Effect.tap((previous) =>
        Option.contains(previous, sequence) ? Effect.void : log("hash chain broken", { reason: error.message }),
      ),
      Effect.andThen(Effect.fail(error)),
    )
  }

  /** Fails at the first link that does not follow `anchor` or does not hash. */
  const check = (links: ReadonlyArray<L>, anchor: Head): Effect.Effect<void, ChainBroken> => {
    let previous: Head = anchor
    for (const link of links) {
      const { follows, hashes } = checkLink(link, previous, hashOf(link))
      if (!follows) return broken(link.sequence, "does not follow its predecessor")
      if (!hashes) return broken(link.sequence, "does not hash to its chainHash")
      previous = link
    }
    return Effect.void
  }

  /** Returns links `from` … `from + limit - 1` of stored ones, which may include the one before. A gap is a break. */
  const segment = Effect.fnUntraced(function* <Shown extends L>(
    stored: ReadonlyArray<Shown>,
    head: Head,
    from: number,
    limit: number,
  ) {
    const before = stored[0]?.sequence === from - 1 ? stored[0] : undefined
    const links = before === undefined ? stored : stored.slice(1)
    if (before !== undefined && hashOf(before) !== before.chainHash) {
      return yield* broken(before.sequence, "does not hash to its chainHash")
    }
    // A segment after the head is anchored to the head itself.
    const { chainHash, sequence } = from === 1 ? genesis : (before ?? head)
    yield* check(links, { sequence, chainHash })
    const expected = Math.max(0, Math.min(limit, head.sequence - from + 1))
    if (links.length !== expected) return yield* broken(from + links.length, "is missing")
    const newest = links.at(-1)
    if (newest !== undefined && newest.sequence === head.sequence && newest.chainHash !== head.chainHash) {
      return yield* broken(newest.sequence, "is not the head of the chain")
    }
    const next = newest !== undefined && newest.sequence < head.sequence ? newest.sequence + 1 : null
    return { anchor: { sequence, chainHash }, links, head, next }
  })

  /** The last known break, until `mended`. */
  return { check, segment, brokenAt: Ref.get(last), mended: Ref.set(last, Option.none()) }
})

/** The place of a link, which its hash covers together with its parts. */
export type Place = Pick<Link, "sequence" | "previousHash">

/** The storage of one chain. `Parts` are hashed, `New` is appended, `Shown` is what a segment reads. */
interface Storage<Parts, New extends Parts, Shown extends Parts & Link> {
  /** The log's word for a link. */
  readonly name: string
  readonly links: string
  readonly head: string
  /** The head's column with the time of the newest link, for chains whose time never runs back. */
  readonly newest?: string
  /** SQL types of the appended members. */
  readonly types: { readonly [Name in keyof New]: string }
  readonly row: Schema.Codec<Shown, unknown> & { readonly fields: Schema.Struct.Fields }
  readonly hashOf: (parts: Parts, place: Place) => string
}

interface Range {
  readonly from: number
  readonly limit: number
}

/** An empty range is one row with only the head. */
const isLink = (row: unknown) => typeof row === "object" && row !== null && "sequence" in row && row.sequence !== null

const snake = (name: string) => name.replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)

const placeColumns = { sequence: "bigint", previousHash: "text", chainHash: "text" }

export const make = Effect.fnUntraced(function* <Parts, New extends Parts & object, Shown extends Parts & Link>(
  storage: Storage<Parts, New, Shown>,
) {
  const { hashOf, name, newest, row, types } = storage
  // Segments are long and read often: their columns are renamed in SQL rather than in each row.
  const sql = (yield* SqlClient.SqlClient).withoutTransforms()
  const chain = yield* rulesOf<Parts & Link>(name, (link) => hashOf(link, link))

  const [head, links] = [sql.literal(storage.head), sql.literal(storage.links)]
  const headColumns = sql.literal('h.sequence AS "headSequence", h.chain_hash AS "headHash"')
  const shown = sql.literal(
    Object.keys(row.fields)
      .map((member) => `l.${snake(member)} AS "${member}"`)
      .join(", "),
  )
  const columns = Object.entries<string>({ ...types, ...placeColumns })
  const written = sql.literal(columns.map(([member]) => snake(member)).join(", "))
  const members = sql.literal(columns.map(([member]) => `"${member}"`).join(", "))
  const typed = sql.literal(columns.map(([member, type]) => `"${member}" ${type}`).join(", "))
  const time = sql.literal(newest === undefined ? "clock_timestamp()" : `greatest(clock_timestamp(), ${newest})`)

  const headOf = rowsOf(storage.head, Schema.Struct({ headSequence: Whole, headHash: Schema.String }))
  const lockedOf = rowsOf(storage.head, Schema.Struct({ headSequence: Whole, headHash: Schema.String, time: Moment }))
  const linksOf = rowsOf(storage.links, row)
  const headless = Effect.die(`the chain of each ${name} has no head`)

  /**
   * Appends the links of `write` in order while the head is locked; runs inside a transaction. `time` is the database's
   * clock, which all servers share, and never before the newest link.
   */
  const append = Effect.fnUntraced(function* <E>(write: (time: string) => Effect.Effect<ReadonlyArray<New>, E>) {
    const [locked] = yield* lockedOf(sql`SELECT ${headColumns}, ${time} AS time FROM ${head} h WHERE id = 1 FOR UPDATE`)
    if (locked === undefined) return yield* headless
    let sequence = locked.headSequence
    let previousHash = locked.headHash
    const appended = (yield* write(locked.time)).map((entry): New & Link => {
      const place = { sequence: (sequence += 1), previousHash }
      previousHash = hashOf(entry, place)
      return { ...entry, ...place, chainHash: previousHash }
    })
    if (appended.length === 0) return appended
    const moved = newest === undefined ? sql`` : sql`, ${sql.literal(newest)} = ${locked.time}::timestamptz`
    yield* sql`
      WITH appended AS (
        INSERT INTO ${links} (${written})
        SELECT ${members} FROM json_to_recordset(${JSON.stringify(appended)}::json) AS r(${typed})
      )
      UPDATE ${head} SET sequence = ${sequence}::bigint, chain_hash = ${previousHash}${moved} WHERE id = 1`
    return appended
  })

  const rowsFrom = ({ from, limit }: Range) => sql`
    SELECT ${headColumns}, ${shown}
    FROM ${head} h LEFT JOIN (
      SELECT * FROM ${links} WHERE sequence BETWEEN ${from - 1}::bigint AND ${from + limit - 1}::bigint
      ORDER BY sequence ${atMost(limit + 1)}
    ) l ON true
    WHERE h.id = 1 ORDER BY l.sequence`

  const segmentOf = Effect.fnUntraced(function* (rows: ReadonlyArray<unknown>, { from, limit }: Range) {
    const [now] = yield* headOf(Effect.succeed(rows.slice(0, 1)))
    if (now === undefined) return yield* headless
    const stored = yield* linksOf(Effect.succeed(rows.filter(isLink)))
    return yield* chain.segment(stored, { sequence: now.headSequence, chainHash: now.headHash }, from, limit)
  })

  /** At most `limit` links from `from` on, the one before them, and the head, in one round trip. */
  const segment = (from: number, limit: number) =>
    Effect.flatMap(bounded(rowsFrom({ from, limit })), (rows) => segmentOf(rows, { from, limit }))

  const kept = yield* CachedReads.make({
    nameOf: ({ from, limit }: Range) => `${from} ${limit}`,
    statement: rowsFrom,
    make: segmentOf,
  })
  /** The same segment, cached while its links and the head stay the same. */
  const page = (from: number, limit: number) => kept({ from, limit })

  /** The newest link, re-hashed together with the last known broken one. */
  const current = Effect.gen(function* () {
    const broken = yield* chain.brokenAt
    if (Option.isSome(broken)) {
      yield* segment(broken.value, 1)
      yield* chain.mended
    }
    const [now] = yield* headOf(bounded(sql`SELECT ${headColumns} FROM ${head} h WHERE id = 1`))
    if (now === undefined) return yield* headless
    return (yield* segment(Math.max(1, now.headSequence), 1)).head
  })

  return { append, segment, page, check: chain.check, current }
})
