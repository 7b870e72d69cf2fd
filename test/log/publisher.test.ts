/** The log in a real database: the same tiles on every server and after every kill, and checkpoints that never contradict each other. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Exit, Layer, Logger, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { genesisHash } from "../../schema/altar/ChainLink.ts"
import { chainHash } from "../../src/altar/Hashes.ts"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { LastSigned } from "../../src/log/LastSigned.ts"
import { Cosigners } from "../../src/log/Cosigners.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Log from "../lab/log/LogFixture.ts"
import { until } from "../lab/Eventually.ts"
import * as PgProxy from "../lab/proxy/Postgres.ts"
import { newFolder } from "../lab/Folders.ts"
import { realClock } from "../lab/TestServices.ts"

const once = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, Log.server(256))

const rebuilt = Effect.andThen(Log.forget, once(Effect.andThen(Log.integrateAll, Log.publish)))

/** The time between two checkpoints is over. */
const rested = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE log_head SET rests_until = now()`)

layer(Log.logWorld, realClock)("the pump's publication", (it) => {
  it.effect("signs each integrated size once", function* () {
    assert.isTrue(yield* once(Log.publish))
    assert.strictEqual((yield* once(Log.newest)).size, 0)
    yield* Log.settle(300)
    assert.isFalse(yield* once(Log.publish))
    yield* once(Log.integrateAll)
    assert.isTrue(yield* once(Log.publish))
    assert.isFalse(yield* once(Log.publish))
    assert.strictEqual((yield* once(Log.newest)).size, 300)
  })

  it.effect("dates an unchanged checkpoint anew after ten minutes, unless its tree is wrong", function* () {
    const client = yield* SqlClient.SqlClient
    const before = yield* once(Log.newest)
    /** Whether a checkpoint of that age stays as old when it is published again. */
    const staysOld = Effect.fnUntraced(function* (minutes: number) {
      yield* client`UPDATE log_checkpoints SET published_at = now() - ${minutes}::int * interval '1 minute'
        WHERE size = ${before.size}::bigint`
      yield* Effect.exit(once(Log.publish))
      const { at, note } = yield* once(Log.newest)
      assert.strictEqual(note, before.note)
      return Date.now() - at.getTime() > 300_000
    })
    assert.deepStrictEqual([yield* staysOld(9), yield* staysOld(11)], [true, false])
    yield* Log.flipTile(0, 1)
    assert.isTrue(yield* staysOld(11))
    yield* Log.flipTile(0, 1)
    yield* once(Log.resume)
  })

  it.effect("signs once in a configured time on all servers together; the next checkpoint has the rest", function* () {
    const publishedBySeldom = Effect.provide(
      Log.publish,
      Log.server(256, Log.sharedMemory, undefined, Cosigners.none, 2),
    )
    const byThree = Effect.all([publishedBySeldom, publishedBySeldom, publishedBySeldom], {
      concurrency: "unbounded",
    })
    yield* once(Log.grow(1))
    assert.isTrue(yield* publishedBySeldom)
    yield* once(Log.grow(2))
    assert.deepStrictEqual(yield* byThree, [false, false, false])
    assert.strictEqual((yield* once(Log.newest)).size, 301)
    yield* rested
    assert.lengthOf((yield* byThree).filter(Boolean), 1, "one of three servers has the turn")
    assert.strictEqual((yield* once(Log.newest)).size, 303)
    yield* rested
  })

  it.effect("stops at a changed tile, stores the reason, and continues once it is restored", function* () {
    const before = yield* Log.stored
    yield* Log.flipTile(0, 1)
    yield* Log.settle(2)
    const heard: Array<unknown> = []
    const listening = Logger.layer([Logger.make(({ logLevel, message }) => void heard.push([logLevel, message]))])
    for (const _ of [1, 2, 3]) {
      const refused = yield* Effect.provide(Effect.flip(once(Log.integrateAll)), listening)
      assert.strictEqual(refused._tag, "LogStopped")
    }
    assert.lengthOf(heard, 1, "the alarm rings once")
    assert.match(yield* Log.stopReason, /do not have the root/u)
    yield* Log.flipTile(0, 1)
    assert.strictEqual((yield* Effect.flip(once(Log.integrateAll)))._tag, "LogStopped")
    assert.strictEqual((yield* Effect.flip(once(Log.publish)))._tag, "LogStopped")
    assert.deepStrictEqual({ ...(yield* Log.stored), stopped: before.stopped }, before)
    yield* once(Log.resume)
    assert.strictEqual(yield* once(Log.integrateAll), 2)
    assert.isTrue(yield* once(Log.publish))
    assert.deepStrictEqual(yield* Log.stored, yield* Log.expected)
  })

  it.effect("stops where a published checkpoint was changed", function* () {
    const client = yield* SqlClient.SqlClient
    yield* client`UPDATE log_checkpoints SET root = decode(repeat('ab', 32), 'hex')
        WHERE size = (SELECT max(size) FROM log_checkpoints)`
    yield* once(Log.grow(1))
    yield* Effect.flip(once(Log.publish))
    assert.match(yield* Log.stopReason, /are not those that the published checkpoint covers/u)
    yield* rebuilt
  })

  it.effect("adds nothing after a changed stone, even in a chain hashed again, or after a missing one", function* () {
    const client = yield* SqlClient.SqlClient
    const chain = yield* WitnessChain
    const { links } = yield* chain.segment(1, 1000)
    let previousHash = genesisHash
    for (const link of links) {
      const commitment = link.sequence === 5 ? "ab".repeat(32) : link.commitment
      const hash = chainHash({ ...link, commitment, previousHash })
      yield* client`UPDATE witness_stones SET commitment = ${commitment}, previous_hash = ${previousHash},
          chain_hash = ${hash} WHERE sequence = ${link.sequence}::bigint`
      previousHash = hash
    }
    yield* client`UPDATE witness_head SET chain_hash = ${previousHash}`
    yield* Log.settle(1)
    yield* Effect.flip(once(Log.integrateAll))
    assert.match(yield* Log.stopReason, /stone \d+ is not the one that the log holds/u)
    yield* rebuilt
    const { size } = yield* Log.stored
    yield* Log.takeAway(1)
    yield* Effect.flip(once(Log.integrateAll))
    assert.match(yield* Log.stopReason, new RegExp(`holds ${size} stones, but there are only ${size - 1}`, "u"))
    yield* rebuilt
  })

  it.effect("stays stopped after a backup was restored, which its checkpoint file reveals", function* () {
    const file = join(newFolder(), "checkpoint")
    const lastSigned = LastSigned.file(file, Log.origin).pipe(Layer.provide(NodeFileSystem.layer))
    const withFile = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, Log.server(256, lastSigned))
    writeFileSync(file, (yield* once(Log.newest)).note)
    yield* withFile(Effect.andThen(Log.grow(10), Log.publish))
    const { note, size } = yield* once(Log.newest)
    assert.strictEqual(readFileSync(file, "utf8"), note)

    // A lagging server that shares the file by mistake does not overwrite the newer checkpoint.
    const tree = { size: size - 1, root: new Uint8Array(32) }
    const behind = { ...tree, note: Log.signer.note({ origin: Log.origin, ...tree, extensions: [] }) }
    const memory = Effect.provide(LastSigned, Layer.fresh(lastSigned))
    assert.match(
      (yield* Effect.flip(Effect.flatMap(memory, ({ remember }) => remember(behind)))).message,
      /each server needs a file of its own/u,
    )
    assert.strictEqual(readFileSync(file, "utf8"), note)
    assert.deepStrictEqual(readdirSync(dirname(file)), ["checkpoint"])

    // A restored backup lacks the last ten stones and their part of the log.
    yield* Log.takeAway(10)
    yield* Log.forget
    yield* withFile(Log.integrateAll)
    yield* Effect.flip(withFile(Log.publish))
    assert.match(yield* Log.stopReason, /a backup was restored/u)
    yield* Log.settle(20)
    assert.strictEqual((yield* Effect.flip(withFile(Log.integrateAll)))._tag, "LogStopped")
    assert.strictEqual((yield* Effect.flip(withFile(Log.publish)))._tag, "LogStopped")

    // The log signs no other stones under the same numbers, either.
    yield* once(Log.resume)
    yield* withFile(Log.integrateAll)
    yield* Effect.flip(withFile(Log.publish))
    assert.match(yield* Log.stopReason, /are not those that the checkpoint this server signed last covers/u)

    writeFileSync(file, "nonsense")
    yield* once(Log.resume)
    assert.strictEqual((yield* Effect.flip(withFile(Log.publish)))._tag, "LastSignedLost")
    yield* rebuilt
  })
})

layer(Log.logWorld, realClock)("the pump's integration", (it) => {
  it.effect("builds the same tiles on any number of servers", function* () {
    yield* Log.settle(300)
    // A server that finds the head locked tries again, as its loop does.
    const atWork = Effect.andThen(Log.integrateAll, Log.stored).pipe(
      Effect.repeat({ until: ({ size }) => size === 350 }),
      Effect.provide(Log.server(7)),
    )
    yield* Effect.all([Log.settle(50), atWork, atWork, atWork, atWork], { concurrency: "unbounded", discard: true })
    assert.deepStrictEqual(yield* Log.stored, yield* Log.expected)
  })

  const steps = [/FROM log_head WHERE/u, /witness_head h/u, /^BEGIN/iu, /SKIP LOCKED/u, /FROM json_to_recordset.*p\(/su]
    .concat([/WITH growths/u, /^COMMIT/iu, /FROM log_checkpoints/u, /INSERT INTO log_checkpoints/u])
    .flatMap((step) => (["cutBefore", "cutAfter"] as const).map((fault) => ({ step, fault })))

  it.effect("continues after a kill between any two statements", function* () {
    const { url } = yield* LocalDatabase
    for (const { fault, step } of steps) {
      yield* Log.forget
      yield* Effect.provide(Log.integrateAll, Log.server(300))
      yield* Effect.provide(Log.publish, Log.server(300))
      yield* Log.settle(3)
      const proxy = yield* PgProxy.make(Redacted.value(url))
      const trap = proxy.arm(step, fault)
      const died = yield* Effect.andThen(Log.integrateAll, Log.publish).pipe(
        Effect.provide(Log.server(300, undefined, proxy.url)),
        Effect.exit,
      )
      yield* trap.arrived
      assert.isTrue(Exit.isFailure(died), `${fault} ${step.source}`)
      const whole = yield* Log.expected
      yield* Effect.andThen(Log.integrateAll, Log.publish).pipe(
        Effect.andThen(Log.newest),
        // The database may not have noticed the death yet and hold the dead server's head: it is looked for again.
        until("the log never had every stone", ({ size }) => size === whole.size, 30, 5),
        Effect.provide(Log.server(300)),
      )
      assert.deepStrictEqual(yield* Log.stored, whole, `${fault} ${step.source}`)
    }
  })
})
