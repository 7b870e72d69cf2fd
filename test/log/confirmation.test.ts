/** A log that others may have seen, after a start: the confirmations that it accepts, and its state until then. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer } from "effect"
import { LastSigned } from "../../src/log/LastSigned.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { cosigningKey, ownCosigner } from "../lab/log/Cosigner.ts"
import { policyOf, cosignersOf, type Named } from "../lab/log/Cosigners.ts"
import {
  forget,
  grow,
  integrateAll,
  logWorld,
  newest,
  origin,
  publish,
  resume,
  server,
  stopReason,
  stored,
  takeAway,
} from "../lab/log/LogFixture.ts"
import { onOwnClock, pass } from "../lab/Clock.ts"
import { realClock } from "../lab/TestServices.ts"
import { newFolder } from "../lab/Folders.ts"

const start = (cosigners: ReadonlyArray<Named>, file?: string) =>
  server(
    256,
    file === undefined ? LastSigned.memory : LastSigned.file(file, origin).pipe(Layer.provide(NodeFileSystem.layer)),
    undefined,
    cosignersOf(policyOf(cosigners, cosigners.length === 0 ? "none" : "any")),
  )

const waitsFor = Effect.flatMap(PublishedLog, ({ state }) => Effect.map(state, (now) => now.waitsFor))

const begin = (count: number, cosigners: ReadonlyArray<Named>, file?: string) =>
  Effect.provide(Effect.all([forget, grow(count), publish, newest]), start(cosigners, file)).pipe(
    Effect.map(([, , , published]) => published),
  )

const lasting = Effect.fnUntraced(function* (name: string) {
  const first = yield* ownCosigner(name)
  const port = Number(new URL(first.url).port)
  return { ...first, again: ownCosigner(name, { key: first.key, memory: first.memory, port }) }
})

layer(onOwnClock(logWorld), realClock)("a log after a restart", (it) => {
  it.effect("signs no second history of a restored backup while its only cosigner is away, then stops", function* () {
    const cosigner = yield* lasting("witness.example/w")
    yield* begin(5, [cosigner])
    // A restored backup lacks the last three stones and their part of the log.
    yield* takeAway(3)
    yield* forget
    const first = yield* Effect.provide(Effect.andThen(Effect.andThen(integrateAll, publish), newest), start([]))
    yield* cosigner.stop
    yield* Effect.gen(function* () {
      assert.strictEqual(yield* grow(3), 3, "stones are sold and integrated")
      assert.isFalse(yield* publish)
      assert.strictEqual((yield* newest).note, first.note, "nothing of the same size was signed with another root")
      assert.deepStrictEqual(yield* waitsFor, `a cosigner to confirm the checkpoint of size ${first.size}`)
      yield* cosigner.again
      yield* pass(1000)
      assert.strictEqual((yield* Effect.flip(publish))._tag, "LogStopped")
      assert.match(yield* stopReason, /are not those that the checkpoint that the cosigner witness\.example\/w holds/u)
      yield* resume
      yield* grow(20)
      assert.strictEqual((yield* Effect.flip(publish))._tag, "LogStopped", "what it said is not forgotten")
      assert.strictEqual((yield* newest).note, first.note)
    }).pipe(Effect.provide(start([cosigner])), Effect.scoped)
  })

  it.effect.each([
    ["has the same history as the database", 0],
    ["lags, and first signs the published checkpoint", 2],
  ] as const)("continues when the cosigner is back and %s", ([name, lag]) =>
    Effect.gen(function* () {
      const cosigner = yield* lasting(`back-${lag}.example/w`)
      yield* begin(2, [cosigner])
      yield* cosigner.stop
      // A server with a checkpoint file signs without the cosigner.
      const file = join(newFolder(), "checkpoint")
      writeFileSync(file, (yield* Effect.provide(newest, start([]))).note)
      if (lag > 0) yield* Effect.provide(Effect.andThen(grow(lag), publish), start([], file))
      yield* Effect.gen(function* () {
        yield* grow(3)
        assert.isFalse(yield* publish, name)
        yield* cosigner.again
        yield* pass(1000)
        assert.isTrue(yield* publish)
        assert.deepStrictEqual(yield* waitsFor, null)
        assert.strictEqual((yield* newest).size, (yield* stored).size)
      }).pipe(Effect.provide(start([cosigner])), Effect.scoped)
    }),
  )

  it.effect("is not confirmed by a cosigner that never signed it, and does not make it sign", function* () {
    const { note } = yield* begin(2, [])
    const stranger = yield* ownCosigner("stranger.example/w")
    yield* Effect.gen(function* () {
      yield* grow(1)
      assert.isFalse(yield* publish)
      yield* pass(1000)
      assert.isFalse(yield* publish)
      assert.strictEqual((yield* newest).note, note)
    }).pipe(Effect.provide(start([stranger])))
    assert.isFalse(yield* Effect.provide(publish, start([stranger])), "nor after another start")
  })

  it.effect("waits for a folder that takes its checkpoint file, and signs once there is one", function* () {
    yield* begin(2, [])
    const folder = newFolder()
    const file = join(folder, "checkpoint")
    writeFileSync(file, (yield* Effect.provide(newest, start([]))).note)
    yield* Effect.gen(function* () {
      yield* grow(1)
      assert.isTrue(yield* publish)
      yield* grow(1)
      renameSync(folder, `${folder}-away`)
      assert.strictEqual((yield* Effect.flip(publish))._tag, "LastSignedLost")
      assert.match((yield* waitsFor) ?? "", /^LOG_CHECKPOINT_FILE, which cannot be written \(ENOENT/u)
      renameSync(`${folder}-away`, folder)
      assert.isTrue(yield* publish)
      assert.isNull(yield* waitsFor)
      yield* grow(1)
      rmSync(file)
      mkdirSync(file)
      assert.strictEqual((yield* Effect.flip(publish))._tag, "LastSignedLost")
      assert.match((yield* waitsFor) ?? "", /^LOG_CHECKPOINT_FILE, which cannot be read \(EISDIR/u)
    }).pipe(Effect.provide(start([], file)), Effect.scoped)
  })

  it.effect("is confirmed by a checkpoint file that covers the published one, and by no older file", function* () {
    const file = join(newFolder(), "checkpoint")
    const old = yield* begin(2, [], file)
    yield* Effect.provide(Effect.andThen(grow(2), publish), start([], file))
    const { note, size } = yield* Effect.provide(newest, start([]))
    yield* Effect.gen(function* () {
      yield* grow(1)
      writeFileSync(file, old.note)
      assert.isFalse(yield* publish)
      assert.deepStrictEqual(
        yield* waitsFor,
        `LOG_CHECKPOINT_FILE, which covers ${old.size}, to confirm the checkpoint of size ${size}`,
      )
      writeFileSync(file, note.replace(origin, "other.example/log"))
      assert.include(`${yield* Effect.flip(publish)}`, `is of the log other.example/log, not of ${origin}`)
      writeFileSync(file, note)
      assert.isTrue(yield* publish)
    }).pipe(Effect.provide(start([], file)))
  })

  it.effect("is confirmed by another server that signs in the same database", function* () {
    const file = join(newFolder(), "checkpoint")
    yield* begin(2, [], file)
    yield* Effect.gen(function* () {
      yield* grow(1)
      assert.isFalse(yield* publish)
      assert.match((yield* waitsFor) ?? "", /none of them configured/u)
      yield* Effect.provide(publish, start([], file))
      assert.isFalse(yield* publish, "it is covered already")
      assert.deepStrictEqual(yield* waitsFor, null)
      yield* grow(1)
      assert.isTrue(yield* publish)
    }).pipe(Effect.provide(start([])))
  })

  it.effect("without a published checkpoint waits only until a cosigner knows none", function* () {
    yield* forget
    const absent = { name: "absent.example/w", vkey: cosigningKey("absent.example/w").vkey, url: "http://127.0.0.1:1" }
    yield* Effect.provide(
      Effect.gen(function* () {
        assert.isFalse(yield* publish)
        assert.deepStrictEqual(yield* waitsFor, "a cosigner to say what it holds")
      }),
      start([absent]),
    )
    const present = yield* ownCosigner("present.example/w")
    assert.isTrue(yield* Effect.provide(Effect.andThen(grow(1), publish), start([absent, present])))
    yield* forget
    assert.isTrue(yield* Effect.provide(Effect.andThen(grow(1), publish), start([])))
  })
})
