/** A database with unpaid stones, and servers of its log that come and go. */
import { createHash, randomUUID } from "node:crypto"
import { Effect, Layer, Option, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { hex } from "../../../schema/log/Bytes.ts"
import { entryOf } from "../../../schema/log/Entry.ts"
import { WitnessChain } from "../../../src/altar/witness/WitnessChain.ts"
import { LastSigned } from "../../../src/log/LastSigned.ts"
import { LogStore } from "../../../src/log/LogStore.ts"
import { PublishedLog } from "../../../src/log/PublishedLog.ts"
import { Pump } from "../../../src/log/Pump.ts"
import { fromText } from "../../../src/log/Signer.ts"
import { leafOf, type TreeHead } from "../../../src/log/Tree.ts"
import { Cosigners } from "../../../src/log/Cosigners.ts"
import * as Sql from "../../../src/platform/Sql.ts"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import { database, sql } from "../Database.ts"
import { MemoryLog } from "./MemoryLog.ts"
import { golden } from "./Vectors.ts"

export const signer = Result.getOrThrow(fromText(Redacted.make(golden.signerKey)))
export const origin = golden.name

/** A log that signs whenever its tree has grown, and keeps no checkpoint outside its database. */
export const signing = { signer, origin, publishSeconds: 0, checkpointFile: Option.none<string>() }

let lastSigned: TreeHead | undefined

/** Stones stand without the payments they need elsewhere. */
const unpaid = Layer.effectDiscard(
  Effect.flatMap(SqlClient.SqlClient, (client) => {
    // Files share this module, not their databases.
    lastSigned = undefined
    return client`ALTER TABLE witness_stones DROP CONSTRAINT witness_stones_id_fkey`
  }),
)

/** The tests' own connection to the database, and the chain of their stones. */
export const logWorld = WitnessChain.layer.pipe(
  Layer.provideMerge(unpaid),
  Layer.provideMerge(sql),
  Layer.provideMerge(database),
)

/** Lays stones, as settling does. */
export const settle = Effect.fnUntraced(function* (count: number) {
  const client = yield* SqlClient.SqlClient
  const chain = yield* WitnessChain
  const stones = Array.from({ length: count }, () => {
    const id = randomUUID()
    const commitment = createHash("sha256").update(id).digest("hex")
    return {
      id,
      commitment,
      kind: "intention" as const,
      spirit: "moss-hare" as const,
      agentName: null,
      payer: "0x",
      transaction: `0x${commitment}`,
    }
  })
  return yield* client.withTransaction(chain.append(stones))
})

/** One memory outside the database for all servers of a file, as if they shared a checkpoint file. */
export const sharedMemory = Layer.succeed(LastSigned, {
  isDurable: true,
  recall: Effect.sync(() => Option.fromUndefinedOr(lastSigned)),
  remember: (signed) => Effect.sync(() => void (lastSigned = signed)),
})

/** A server of the log on a connection of its own, without loops: its tests say when it works. */
export const server = (
  batch: number,
  memory: Layer.Layer<LastSigned> = sharedMemory,
  url?: string,
  cosigners: Layer.Layer<Cosigners> = Cosigners.none,
  publishSeconds = 0,
): Layer.Layer<Pump | LogStore | PublishedLog, never, LocalDatabase> =>
  Layer.fresh(
    Pump.layerNoLoop({ ...signing, publishSeconds, batch }).pipe(
      Layer.provideMerge(PublishedLog.layer(signing)),
      Layer.provideMerge(LogStore.layer),
      Layer.provide([WitnessChain.layer, cosigners, memory]),
      Layer.provide(
        Layer.unwrap(
          Effect.map(LocalDatabase, (local) => Sql.layer(url === undefined ? local.url : Redacted.make(url), 2)),
        ),
      ),
      Layer.orDie,
    ),
  )

/** Integrates all stones, and returns their number. */
export const integrateAll = Effect.gen(function* () {
  const { integrate } = yield* Pump
  let total = 0
  for (let added = yield* integrate; added > 0; added = yield* integrate) total += added
  return total
})

export const publish = Effect.flatMap(Pump, (pump) => pump.publish)

export const grow = (count: number) => Effect.andThen(settle(count), integrateAll)

export const resume = Effect.flatMap(LogStore, (store) => store.resume)

export const newest = Effect.flatMap(LogStore, (store) => Effect.flatMap(store.newest, Effect.fromOption))

export const stored = Effect.gen(function* () {
  const client = yield* SqlClient.SqlClient
  const tiles = yield* client<{ place: string; hashes: Uint8Array }>`
    SELECT level || '/' || index AS place, hashes FROM log_tiles`
  const [head] = yield* client<{ size: bigint; root: Uint8Array; stoppedReason: string | null }>`
    SELECT size, root, stopped_reason FROM log_head WHERE id = 1`
  if (head === undefined) return yield* Effect.die("no head")
  return {
    size: Number(head.size),
    root: hex(head.root),
    stopped: Option.fromNullOr(head.stoppedReason),
    tiles: Object.fromEntries(tiles.map(({ hashes, place }) => [place, hex(hashes)])),
  }
})

/** Why the log stopped; empty where it has not. */
export const stopReason = Effect.suspend(() => Effect.map(stored, ({ stopped }) => Option.getOrElse(stopped, () => "")))

/** Removes the newest stones, like the restore of an older backup, and returns how many are left. */
export const takeAway = Effect.fnUntraced(function* (count: number) {
  const client = yield* SqlClient.SqlClient
  const [head] = yield* client<{ left: number }>`
    UPDATE witness_head SET sequence = sequence - ${count}::bigint,
      chain_hash = (SELECT chain_hash FROM witness_stones s WHERE s.sequence = witness_head.sequence - ${count}::bigint)
    RETURNING sequence::int AS left`
  yield* client`DELETE FROM witness_stones WHERE sequence > (SELECT sequence FROM witness_head)`
  return head?.left ?? 0
})

/** Changes a byte of a hash in a tile, and back again. */
export const flipTile = (level: number, index: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (client) => client`UPDATE log_tiles SET hashes = set_byte(hashes, 7, 255 - get_byte(hashes, 7))
      WHERE level = ${level}::smallint AND index = ${index}::bigint`,
  )

/** The expected rows: the same leaves, one by one, in memory. */
export const expected = Effect.gen(function* () {
  const log = yield* memoryLog
  return {
    size: log.size,
    root: hex(log.root),
    stopped: Option.none<string>(),
    tiles: Object.fromEntries([...log.tiles].map(([place, bytes]) => [place, hex(bytes)])),
  }
})

/** The log of the stones there are, built in memory. */
export const memoryLog = Effect.gen(function* () {
  const chain = yield* WitnessChain
  const { links } = yield* chain.segment(1, 100_000)
  const log = new MemoryLog()
  for (const link of links) log.append([leafOf(entryOf(link))])
  return log
})

/** Deletes the log and the memory of its checkpoints, but no stones. */
export const forget = Effect.gen(function* () {
  lastSigned = undefined
  const client = yield* SqlClient.SqlClient
  yield* client`DELETE FROM log_tiles`
  yield* client`DELETE FROM log_checkpoints`
  yield* client`UPDATE log_head SET size = 0, stopped_code = NULL, stopped_reason = NULL, stopped_at = NULL,
    root = decode('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex') WHERE id = 1`
})
