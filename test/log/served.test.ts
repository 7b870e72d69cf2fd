/** The served log: every file and proof of the published size, nothing beyond it, and nothing that was changed. */
import { randomUUID } from "node:crypto"
import { assert, layer } from "../lab/It.ts"
import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { hex } from "../../schema/log/Bytes.ts"
import { entryOf } from "../../schema/log/Entry.ts"
import { bundleBytes, bundlePath, tilePath } from "../../schema/log/Tile.ts"
import { chainHash } from "../../src/altar/Hashes.ts"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { verifyProof } from "../../src/buyer/log/EntryProof.ts"
import * as Http from "../../src/log/Http.ts"
import { LogStore } from "../../src/log/LogStore.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { Cosigners } from "../../src/log/Cosigners.ts"
import * as Log from "../lab/log/LogFixture.ts"
import { counting } from "../lab/Statements.ts"
import { realClock } from "../lab/TestServices.ts"

const { vkey } = Log.signer

const served = PublishedLog.layer({ origin: Log.origin, signer: Log.signer }).pipe(
  Layer.provideMerge(LogStore.layer),
  Layer.provide(Cosigners.none),
  Layer.provideMerge(Log.logWorld),
)

const links = Effect.flatMap(WitnessChain, (chain) => Effect.map(chain.segment(1, 10_000), (segment) => segment.links))

/** The log's routes alone, asked as a browser would, on a server that has no file in memory yet. */
const asking = Effect.map(Effect.context<PublishedLog>(), (context) => {
  const { handler } = HttpRouter.toWebHandler(Http.layer.pipe(Layer.provide(Layer.succeedContext(context))), {
    disableLogger: true,
  })
  return (path: string, init: RequestInit = {}, references: Context.Context<never> = Context.empty()) =>
    Effect.promise(() => handler(new Request(`http://altar.example/log/${path}`, init), references))
})

const bytesOf = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.arrayBuffer()),
    (buffer) => new Uint8Array(buffer),
  )

layer(served, realClock)("the published log", (it) => {
  it.effect("serves the files of its size, and of no larger one", function* () {
    const ask = yield* asking
    for (const path of ["checkpoint", "tile/0/000", "tile/entries/000"])
      assert.strictEqual((yield* ask(path)).status, 404, "before the first checkpoint")
    yield* Effect.provide(Effect.andThen(Log.grow(600), Log.publish), Log.server(4096))
    const log = yield* Log.memoryLog
    const stones = yield* links
    const checkpoint = yield* ask("checkpoint")
    assert.strictEqual(checkpoint.headers.get("content-type"), "text/plain; charset=utf-8")
    const note = yield* Effect.promise(() => checkpoint.text())
    assert.strictEqual(
      note,
      Log.signer.note({ origin: Log.origin, size: 600, root: Uint8Array.from(log.root), extensions: [] }),
    )
    for (const [level, index, width] of [
      [0, 0, 256],
      [0, 0, 7],
      [0, 1, 256],
      [0, 2, 88],
      [0, 2, 1],
      [1, 0, 2],
      [1, 0, 1],
    ] as const) {
      const tile = yield* ask(tilePath({ level, index, width }))
      assert.deepInclude(Object.fromEntries(tile.headers), {
        "cache-control": "public, max-age=31536000, immutable",
        "access-control-allow-origin": "*",
        "content-type": "application/octet-stream",
      })
      const whole = log.tileAt({ level, index }) ?? new Uint8Array()
      assert.strictEqual(hex(yield* bytesOf(tile)), hex(whole.subarray(0, width * 32)))
      if (level > 0) continue
      const bundle = yield* ask(bundlePath({ index, width }))
      const entries = stones.slice(index * 256, index * 256 + width).map(entryOf)
      assert.strictEqual(hex(yield* bytesOf(bundle)), hex(bundleBytes(entries)))
    }
    const missing = `tile/0/002 tile/0/002.p/89 tile/0/003.p/1 tile/1/000 tile/1/000.p/3 tile/2/000.p/1 tile/entries/002
      tile/entries/002.p/89 tile/entries/003.p/1 tile/63/000.p/1 tile/8/000 tile/0/0 tile/0/000.p/256 tile/0/000?x=1
      tile/%30/000 checkpoint/ tile/0/000/ tile/0/x999/x999/x999/x999/999`.split(/\s+/u)
    for (const path of ["", ...missing]) assert.strictEqual((yield* ask(path)).status, 404, path)
  })

  it.effect("serves proved files from memory, without a query and without later changes of a row", function* () {
    const client = yield* SqlClient.SqlClient
    const paths = ["tile/0/000", "tile/0/002.p/88", "tile/1/000.p/2", "tile/entries/000", "tile/entries/002.p/88"]
    const ask = yield* asking
    const first = yield* Effect.forEach(paths, (path) => Effect.flatMap(ask(path), bytesOf))
    const { context, sent } = counting()
    const [seventh] = (yield* links).slice(6)
    if (seventh === undefined) return assert.fail("no stone")
    const change = (commitment: string) =>
      client`UPDATE witness_stones SET commitment = ${commitment} WHERE sequence = 7`
    yield* change("ab".repeat(32))
    yield* Log.flipTile(0, 0)
    for (const [at, path] of paths.entries()) {
      const shown = yield* Effect.flatMap(ask(path, {}, context), bytesOf)
      assert.strictEqual(hex(shown), hex(first[at] ?? new Uint8Array()))
    }
    assert.strictEqual(sent.statements, 0)
    yield* ask("checkpoint", {}, context)
    assert.strictEqual(sent.statements, 1)
    yield* Log.flipTile(0, 0)
    // Rereading finds the changed row although its file is served from memory.
    const { reread } = yield* PublishedLog
    assert.match((yield* Effect.flip(Effect.forever(reread))).message, /^witness stone 7 /u)
    yield* change(seventh.commitment)
    yield* Log.resume
  })

  it.effect("proves each covered stone to the shipped verifier, and no other", function* () {
    const log = yield* PublishedLog
    const stones = yield* links
    const isProved = Effect.fnUntraced(function* (stone: (typeof stones)[number]) {
      const { text } = yield* log.proof(stone.id)
      return yield* Effect.promise(() => verifyProof(text, stone, { vkey }).then(({ ok }) => ok))
    })
    for (const stone of stones.filter(({ sequence }) => sequence % 29 === 0 || sequence > 595))
      assert.isTrue(yield* isProved(stone), `${stone.sequence}`)
    assert.strictEqual((yield* Effect.flip(log.proof(randomUUID())))._tag, "EntryUnknown")
    yield* Log.settle(1)
    const [late] = (yield* links).slice(600)
    if (late === undefined) return assert.fail("no stone")
    assert.strictEqual((yield* Effect.flip(log.proof(late.id)))._tag, "NotPublished")
    yield* Effect.provide(Log.integrateAll, Log.server(1))
    assert.strictEqual((yield* Effect.flip(log.proof(late.id)))._tag, "NotPublished")
    assert.strictEqual((yield* (yield* asking)("tile/0/002.p/89")).status, 404)
    yield* Effect.provide(Log.publish, Log.server(1))
    assert.isTrue(yield* isProved(late))
  })

  it.effect("does not serve a changed tile, stone or checkpoint", function* () {
    const client = yield* SqlClient.SqlClient
    const statusOf = (path: string) => Effect.flatMap(asking, (ask) => Effect.map(ask(path), ({ status }) => status))

    for (const [level, index, path] of [
      [0, 0, "tile/0/000"],
      [0, 2, "tile/0/002.p/89"],
      [1, 0, "tile/0/000"],
    ] as const) {
      yield* Log.flipTile(level, index)
      for (const one of [path, "tile/entries/000"]) assert.strictEqual(yield* statusOf(one), 500, `${one} by ${level}`)
      if (path === "tile/0/000" && level === 0) assert.strictEqual(yield* statusOf("tile/0/001"), 200)
      assert.match(yield* Log.stopReason, /tiles above stone/u)
      yield* Log.flipTile(level, index)
      assert.strictEqual(yield* statusOf(path), 200)
      yield* Log.resume
    }

    const [stone] = (yield* links).slice(299)
    if (stone === undefined) return assert.fail("no stone")
    const lie = { ...stone, commitment: "ab".repeat(32) }
    const log = yield* PublishedLog
    const show = ({ chainHash: own, commitment }: typeof stone) =>
      client`UPDATE witness_stones SET commitment = ${commitment}, chain_hash = ${own} WHERE sequence = 300`
    yield* show({ ...lie, chainHash: chainHash(lie) })
    assert.strictEqual((yield* Effect.flip(log.proof(stone.id)))._tag, "LogStopped")
    assert.match(yield* Log.stopReason, /stone 300 is not the one/u)
    yield* show(lie)
    assert.strictEqual((yield* Effect.flip(log.proof(stone.id)))._tag, "ChainBroken")
    assert.strictEqual(yield* statusOf("tile/entries/001"), 500)
    assert.strictEqual(yield* statusOf("tile/entries/000"), 200)
    yield* show(stone)
    yield* Log.resume
    assert.strictEqual(yield* statusOf("tile/entries/001"), 200)

    yield* client`UPDATE log_checkpoints SET note = replace(note, ${"\n601\n"}, ${"\n602\n"})`
    assert.strictEqual(yield* statusOf("checkpoint"), 500)
    assert.match(yield* Log.stopReason, /not as signed/u)
  })
})
