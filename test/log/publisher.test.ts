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
import {
  expected,
  flipTile,
  forget,
  grow,
  integrateAll,
  newest,
  origin,
  publish,
  resume,
  server,
  settle,
  sharedMemory,
  signer,
  stopReason,
  stored,
  takeAway,
  logWorld,
} from "../lab/log/LogFixture.ts"
import { until } from "../lab/Eventually.ts"
import * as PgProxy from "../lab/proxy/Postgres.ts"
import { newFolder } from "../lab/Folders.ts"
import { realClock } from "../lab/TestServices.ts"

const once = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, server(256))

const rebuilt = Effect.andThen(forget, once(Effect.andThen(integrateAll, publish)))

/** The time between two checkpoints is over. */
const rested = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE log_head SET rests_until = now()`)

layer(logWorld, realClock)("the pump's publication", (it) => {
  it.effect("signs each integrated size once", function* () {
    assert.isTrue(yield* once(publish))
    assert.strictEqual((yield* once(newest)).size, 0)
    yield* settle(300)
    assert.isFalse(yield* once(publish))
    yield* once(integrateAll)
    assert.isTrue(yield* once(publish))
    assert.isFalse(yield* once(publish))
    assert.strictEqual((yield* once(newest)).size, 300)
  })

  it.effect("dates an unchanged checkpoint anew after ten minutes, unless its tree is wrong", function* () {
    const client = yield* SqlClient.SqlClient
    const before = yield* once(newest)
    /** Whether a checkpoint of that age stays as old when it is published again. */
    const staysOld = Effect.fnUntraced(function* (minutes: number) {
      yield* client`UPDATE log_checkpoints SET published_at = now() - ${minutes}::int * interval '1 minute'
        WHERE size = ${before.size}::bigint`
      yield* Effect.exit(once(publish))
      const { at, note } = yield* once(newest)
      assert.strictEqual(note, before.note)
      return Date.now() - at.getTime() > 300_000
    })
    assert.deepStrictEqual([yield* staysOld(9), yield* staysOld(11)], [true, false])
    yield* flipTile(0, 1)
    assert.isTrue(yield* staysOld(11))
    yield* flipTile(0, 1)
    yield* once(resume)
  })

  it.effect(
    "signs at most once in the configured time on all servers together, and the next checkpoint covers the rest",
    function* () {
      const publishedBySeldom = Effect.provide(publish, server(256, sharedMemory, undefined, Cosigners.none, 2))
      const byThree = Effect.all([publishedBySeldom, publishedBySeldom, publishedBySeldom], {
        concurrency: "unbounded",
      })
      yield* once(grow(1))
      assert.isTrue(yield* publishedBySeldom)
      yield* once(grow(2))
      assert.deepStrictEqual(yield* byThree, [false, false, false])
      assert.strictEqual((yield* once(newest)).size, 301)
      yield* rested
      assert.lengthOf((yield* byThree).filter(Boolean), 1, "one of three servers has the turn")
      assert.strictEqual((yield* once(newest)).size, 303)
      yield* rested
    },
  )

  it.effect("stops at a changed tile, stores the reason, and continues once it is restored", function* () {
    const before = yield* stored
    yield* flipTile(0, 1)
    yield* settle(2)
    const heard: Array<unknown> = []
    const listening = Logger.layer([Logger.make(({ logLevel, message }) => void heard.push([logLevel, message]))])
    for (const _ of [1, 2, 3]) {
      const refused = yield* Effect.provide(Effect.flip(once(integrateAll)), listening)
      assert.strictEqual(refused._tag, "LogStopped")
    }
    assert.lengthOf(heard, 1, "the alarm rings once")
    assert.match(yield* stopReason, /do not have the root/u)
    yield* flipTile(0, 1)
    assert.strictEqual((yield* Effect.flip(once(integrateAll)))._tag, "LogStopped")
    assert.strictEqual((yield* Effect.flip(once(publish)))._tag, "LogStopped")
    assert.deepStrictEqual({ ...(yield* stored), stopped: before.stopped }, before)
    yield* once(resume)
    assert.strictEqual(yield* once(integrateAll), 2)
    assert.isTrue(yield* once(publish))
    assert.deepStrictEqual(yield* stored, yield* expected)
  })

  it.effect("stops where a published checkpoint was changed", function* () {
    const client = yield* SqlClient.SqlClient
    yield* client`UPDATE log_checkpoints SET root = decode(repeat('ab', 32), 'hex')
        WHERE size = (SELECT max(size) FROM log_checkpoints)`
    yield* once(grow(1))
    yield* Effect.flip(once(publish))
    assert.match(yield* stopReason, /are not those that the published checkpoint covers/u)
    yield* rebuilt
  })

  it.effect(
    "adds nothing after a changed stone, even if the chain was hashed again, or after a missing one",
    function* () {
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
      yield* settle(1)
      yield* Effect.flip(once(integrateAll))
      assert.match(yield* stopReason, /stone \d+ is not the one that the log holds/u)
      yield* rebuilt
      const { size } = yield* stored
      yield* takeAway(1)
      yield* Effect.flip(once(integrateAll))
      assert.match(yield* stopReason, new RegExp(`holds ${size} stones, but there are only ${size - 1}`, "u"))
      yield* rebuilt
    },
  )

  it.effect("stays stopped after a backup was restored, which its checkpoint file reveals", function* () {
    const file = join(newFolder(), "checkpoint")
    const lastSigned = LastSigned.file(file, origin).pipe(Layer.provide(NodeFileSystem.layer))
    const withFile = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, server(256, lastSigned))
    writeFileSync(file, (yield* once(newest)).note)
    yield* withFile(Effect.andThen(grow(10), publish))
    const { note, size } = yield* once(newest)
    assert.strictEqual(readFileSync(file, "utf8"), note)

    // A lagging server that shares the file by mistake does not overwrite the newer checkpoint.
    const tree = { size: size - 1, root: new Uint8Array(32) }
    const behind = { ...tree, note: signer.note({ origin, ...tree, extensions: [] }) }
    const memory = Effect.provide(LastSigned, Layer.fresh(lastSigned))
    assert.match(
      (yield* Effect.flip(Effect.flatMap(memory, ({ remember }) => remember(behind)))).message,
      /each server needs a file of its own/u,
    )
    assert.strictEqual(readFileSync(file, "utf8"), note)
    assert.deepStrictEqual(readdirSync(dirname(file)), ["checkpoint"])

    // A restored backup lacks the last ten stones and their part of the log.
    yield* takeAway(10)
    yield* forget
    yield* withFile(integrateAll)
    yield* Effect.flip(withFile(publish))
    assert.match(yield* stopReason, /a backup was restored/u)
    yield* settle(20)
    assert.strictEqual((yield* Effect.flip(withFile(integrateAll)))._tag, "LogStopped")
    assert.strictEqual((yield* Effect.flip(withFile(publish)))._tag, "LogStopped")

    // The log signs no other stones under the same numbers, either.
    yield* once(resume)
    yield* withFile(integrateAll)
    yield* Effect.flip(withFile(publish))
    assert.match(yield* stopReason, /are not those that the checkpoint this server signed last covers/u)

    writeFileSync(file, "nonsense")
    yield* once(resume)
    assert.strictEqual((yield* Effect.flip(withFile(publish)))._tag, "LastSignedLost")
    yield* rebuilt
  })
})

layer(logWorld, realClock)("the pump's integration", (it) => {
  it.effect("builds the same tiles on any number of servers", function* () {
    yield* settle(300)
    // A server that finds the head locked tries again, as its loop does.
    const atWork = Effect.andThen(integrateAll, stored).pipe(
      Effect.repeat({ until: ({ size }) => size === 350 }),
      Effect.provide(server(7)),
    )
    yield* Effect.all([settle(50), atWork, atWork, atWork, atWork], { concurrency: "unbounded", discard: true })
    assert.deepStrictEqual(yield* stored, yield* expected)
  })

  const steps = [/FROM log_head WHERE/u, /witness_head h/u, /^BEGIN/iu, /SKIP LOCKED/u, /FROM json_to_recordset.*p\(/su]
    .concat([/WITH growths/u, /^COMMIT/iu, /FROM log_checkpoints/u, /INSERT INTO log_checkpoints/u])
    .flatMap((step) => (["cutBefore", "cutAfter"] as const).map((fault) => ({ step, fault })))

  it.effect("continues after a kill between any two statements", function* () {
    const { url } = yield* LocalDatabase
    for (const { fault, step } of steps) {
      yield* forget
      yield* Effect.provide(integrateAll, server(300))
      yield* Effect.provide(publish, server(300))
      yield* settle(3)
      const proxy = yield* PgProxy.make(Redacted.value(url))
      const trap = proxy.arm(step, fault)
      const died = yield* Effect.andThen(integrateAll, publish).pipe(
        Effect.provide(server(300, undefined, proxy.url)),
        Effect.exit,
      )
      yield* trap.arrived
      assert.isTrue(Exit.isFailure(died), `${fault} ${step.source}`)
      const whole = yield* expected
      yield* Effect.andThen(integrateAll, publish).pipe(
        Effect.andThen(newest),
        // The database may not have noticed the death yet and hold the dead server's head: it is looked for again.
        until("the log never had every stone", ({ size }) => size === whole.size, 30, 5),
        Effect.provide(server(300)),
      )
      assert.deepStrictEqual(yield* stored, whole, `${fault} ${step.source}`)
    }
  })
})
