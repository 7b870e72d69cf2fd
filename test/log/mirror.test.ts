/** A mirror: a log as files, which any file server serves and which prove its entries when the log is gone. */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Layer, Option } from "effect"
import { utf8 } from "../../schema/log/Bytes.ts"
import { verifyEntry } from "../../src/buyer/log/EntryProof.ts"
import { verifyProof } from "../../src/buyer/log/StoneProof.ts"
import { at, inFolder, type LogSource, textOf } from "../../src/cli/log/LogSource.ts"
import { mirrorLog, openInto } from "../../src/cli/log/Mirror.ts"
import * as MirrorFolder from "../../src/cli/log/MirrorFolder.ts"
import { openLog } from "../../src/cli/log/OpenedLog.ts"
import { proveFrom } from "../../src/cli/log/Prove.ts"
import { verifyLog } from "../../src/cli/log/VerifyLog.ts"
import { serveFolder } from "../lab/log/FileServer.ts"
import { signer } from "../lab/log/LogFixture.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { newFolder } from "../lab/Folders.ts"
import { assert, assertEach, suite } from "../lab/Suites.ts"

const { vkey } = signer

const named = { vkey: Option.some(vkey), policy: Option.none() }

const openFor = (source: LogSource, folder: string) =>
  Effect.flatMap(MirrorFolder.make(folder), (here) => openInto(here, { ...named, source }))

const mirrored = Effect.fnUntraced(function* (source: LogSource, folder: string) {
  return yield* mirrorLog(yield* openFor(source, folder), yield* MirrorFolder.make(folder))
})
const run = ({ base }: Pick<StaticLog.Log, "base">, folder: string) => mirrored(at(`${base}/log`), folder)

/** Every file of a folder by its path. */
const filesIn = (folder: string) =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(folder, name)).isFile())
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name), "base64")]),
  )

/** Walks a folder as a stranger does who has nothing but the folder and the key. */
const checkFolder = Effect.fnUntraced(function* (folder: string) {
  const seen = Option.some(join(newFolder(), "seen.json"))
  const opened = yield* openLog({ ...named, source: yield* inFolder(folder), seen })
  return (yield* verifyLog(opened)).size
})

const all = StaticLog.entriesOf(1_300)

class Killed extends Error {}

/** A folder whose process dies before its n-th step; how many steps there were. */
const dyingAt = (folder: MirrorFolder.MirrorFolder, last: number) => {
  const steps = { count: 0 }
  const step =
    <Args extends ReadonlyArray<unknown>, A, E>(act: (...args: Args) => Effect.Effect<A, E>) =>
    (...args: Args) =>
      Effect.suspend(() => {
        steps.count += 1
        return steps.count > last ? Effect.die(new Killed()) : act(...args)
      })
  const write = step(folder.write)
  const copy = { ...folder.copy, addEntries: step(folder.copy.addEntries), addTile: step(folder.copy.addTile) }
  return { steps, folder: { ...folder, copy, write, publish: step(folder.publish), prune: step(folder.prune) } }
}

suite("a mirror of a log", Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici), (it) => {
  it("downloads every file, follows growth, and requests no file twice", function* () {
    const folder = newFolder()
    const log = yield* StaticLog.serve(all)
    log.size = 600
    assert.deepStrictEqual(yield* run(log, folder), { stones: 600, keyIsItsOwnWord: false, isOpaque: false })
    assert.strictEqual(yield* checkFolder(folder), 600)
    assert.strictEqual(log.asked, 3)
    log.size = 1_300
    for (const _ of [1, 2]) yield* run(log, folder)
    assert.strictEqual(log.asked, 3 + 4, "of the first three bundles only the grown one is read again")
    assert.strictEqual(yield* checkFolder(folder), 1_300)
    const names = [...filesIn(folder).keys()]
    const tiles = ["000", "001", "002", "003", "004", "005.p/20"]
    assert.sameMembers(
      names.filter((name) => name.startsWith("tile")),
      [...tiles.flatMap((tile) => [`tile/0/${tile}`, `tile/entries/${tile}`]), "tile/1/000.p/2", "tile/1/000.p/5"],
      "a partial file goes when the full one is there",
    )
    const kept = names.filter((name) => name.startsWith("checkpoints/"))
    assertEach(kept, (name) => name.split("-")[0], ["checkpoints/1300", "checkpoints/600"])
    assert.strictEqual(statSync(join(folder, "checkpoint")).mode & 0o777, 0o644, "for any file server")
  })

  it("proves each stone from its files alone, by sequence and by id, also through a plain file server", function* () {
    const folder = newFolder()
    yield* Effect.scoped(Effect.flatMap(StaticLog.serve(all), (log) => run(log, folder)))
    const served = at(yield* serveFolder(folder))
    for (const [source, named, sequence] of [
      [yield* inFolder(folder), "1", 1],
      [served, "1300", 1_300],
      [served, "stone-777", 777],
    ] as const) {
      const { proof, stone } = yield* proveFrom(source, named)
      if (stone === undefined) return assert.fail("no stone")
      const verdict = yield* Effect.promise(() => verifyProof(proof, stone, { vkey }))
      assert.deepInclude(verdict, { ok: true, index: sequence - 1, size: 1_300 })
      assert.strictEqual(Reflect.get(stone, "id"), `stone-${sequence}`)
    }
    for (const [named, says] of [
      ["1301", /covers 1300 entries, and not 1301/u],
      ["0", /covers 1300 entries, and not 0/u],
      ["stone-9999", /has no stone stone-9999 beside it/u],
    ] as const) {
      assert.match((yield* Effect.flip(proveFrom(served, named))).message, says)
    }
  })

  it("downloads a log of opaque entries as well, and proves them by their bytes", function* () {
    const folder = newFolder()
    const log = yield* StaticLog.serve(Array.from({ length: 257 }, (_, index) => utf8(`entry-${index}`)))
    assert.deepStrictEqual(yield* run(log, folder), { stones: undefined, keyIsItsOwnWord: false, isOpaque: true })
    const { entry, proof, stone } = yield* proveFrom(yield* inFolder(folder), "257")
    assert.isUndefined(stone)
    assert.strictEqual(Buffer.from(entry).toString(), "entry-256")
    const verdict = yield* Effect.promise(() => verifyEntry(proof, { entry: Uint8Array.from(entry) }, { vkey }))
    assert.deepInclude(verdict, { ok: true, index: 256, size: 257 })
  })

  it("that was killed at any step holds a complete checkpoint, and the next run continues", function* () {
    const log = yield* StaticLog.serve(all)
    /** Mirrors so many entries. */
    const reach = (size: number, folder: string) => Effect.suspend(() => run(Object.assign(log, { size }), folder))
    const whole = newFolder()
    yield* reach(600, whole)
    const expected = filesIn(whole)
    let deaths = 0
    for (let last = 0; ; last += 1) {
      const folder = newFolder()
      yield* reach(300, folder)
      log.size = 600
      const dying = dyingAt(yield* MirrorFolder.make(folder), last)
      const opened = yield* openFor(at(`${log.base}/log`), folder)
      const ended = yield* Effect.exit(mirrorLog(opened, dying.folder))
      const size = yield* checkFolder(folder)
      assert.strictEqual(size, readFileSync(join(folder, "checkpoint"), "utf8").split("\n")[1] === "600" ? 600 : 300)
      yield* run(log, folder)
      const made = filesIn(folder)
      for (const [name, content] of expected) assert.strictEqual(made.get(name), content, `${last}: ${name}`)
      if (Exit.isSuccess(ended)) break
      deaths += 1
    }
    assert.isAtLeast(deaths, 8)
  })

  it("repairs each file that was changed, truncated or removed", function* () {
    const folder = newFolder()
    const log = yield* StaticLog.serve(all)
    log.size = 600
    yield* run(log, folder)
    const whole = filesIn(folder)
    const files = [...whole.keys()].filter((name) => name !== "mirror.json" && !name.startsWith("checkpoints/"))
    assert.isAtLeast(files.length, 11)
    for (const name of files) {
      const file = join(folder, name)
      for (const harm of ["change", "truncate", "remove"]) {
        const bytes = readFileSync(file)
        const half = bytes.length >> 1
        if (harm === "remove") rmSync(file)
        else if (harm === "truncate") writeFileSync(file, bytes.subarray(0, half))
        else writeFileSync(file, bytes.with(half, (bytes[half] ?? 0) ^ 1))
        yield* run(log, folder)
        const mended = filesIn(folder)
        // Further members of a stone are stored unchanged.
        if (name.startsWith("stones/") && mended.get(name) !== whole.get(name)) {
          writeFileSync(file, Buffer.from(whole.get(name) ?? "", "base64"))
        } else assert.deepStrictEqual(mended, whole, name)
      }
    }
  })

  it("rejects a shorter history and a fork, and stores both checkpoints", function* () {
    const folder = newFolder()
    const log = yield* StaticLog.serve(all)
    log.size = 1_000
    yield* run(log, folder)
    const before = filesIn(folder)
    const refused = Effect.map(Effect.flip(run(log, folder)), ({ message }) => message)
    /** The files that came; the others are as they were. */
    const added = () => {
      const after = filesIn(folder)
      for (const [name, content] of before) assert.strictEqual(after.get(name), content, name)
      return [...after.keys()].filter((name) => !before.has(name))
    }
    log.size = 900
    assert.match(yield* refused, /it had 1000 entries at the last check and has 900 now/u)
    // The checkpoint of the copy tells it too.
    rmSync(join(folder, "mirror.json"))
    assert.match(yield* refused, /has 900 now/u)
    writeFileSync(join(folder, "mirror.json"), Buffer.from(before.get("mirror.json") ?? "", "base64"))
    assert.deepStrictEqual(added(), [], "an older copy is proved to be one, and contradicts nothing")

    StaticLog.become(log, StaticLog.entriesOf(1_300, 991))
    log.size = 1_300
    const message = yield* refused
    assert.match(message, /^THE LOG IS BROKEN: .*Keep both signed checkpoints: \S+mirror\.json and \S+\.checkpoint\./u)
    const [kept = ""] = added()
    assert.match(readFileSync(join(folder, kept), "utf8"), /^webtessera\.fixture\.log\n1300\n/u)
    assert.strictEqual(yield* checkFolder(folder), 1_000)

    // Files that were changed together contradict the signed root: nothing is published over them.
    StaticLog.become(log, all)
    log.size = 1_300
    const forged = StaticLog.entriesOf(1_300, 1)
    const other = newFolder()
    yield* run(yield* StaticLog.serve(forged), other)
    for (const name of ["tile/entries/001", "tile/0/001"]) {
      writeFileSync(join(folder, name), readFileSync(join(other, name)))
    }
    assert.match(yield* refused, /BROKEN: [^]*[Mm]irror into an empty folder/u)
    assert.match(yield* textOf(yield* inFolder(folder), "checkpoint"), /\n1000\n/u)
  })
})
