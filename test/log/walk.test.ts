/** The walk over a whole log: it goes on where it was stopped, remembers what it believed, and finds what was changed. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Option } from "effect"
import { concat, hex } from "../../schema/log/Bytes.ts"
import { policyFrom } from "../lab/log/Witnesses.ts"
import { at } from "../../src/cli/log/LogSource.ts"
import { type LogCheck, openLog } from "../../src/cli/log/OpenedLog.ts"
import { verifyLog } from "../../src/cli/log/VerifyLog.ts"
import { renamed } from "../lab/log/Vectors.ts"
import { signer } from "../lab/log/LogFixture.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { ask } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"
import { newFolder } from "../lab/Folders.ts"

/** More than the 40 bundles after which a walk saves its place. */
const all = StaticLog.entriesOf(15_000)

const openIt = (
  { base }: StaticLog.Log,
  seen: string,
  vkey = Option.some(signer.vkey),
  policy: LogCheck["policy"] = Option.none(),
) => openLog({ source: at(`${base}/log`), vkey, policy, seen: Option.some(seen) })

/** The chain of the very entries that are served, as its own walk finds it. */
const chainOf = ({ entries, size }: StaticLog.Log) => ({
  stones: entries.length,
  markedHash: StaticLog.hashAt(entries, size),
})

const check = (log: StaticLog.Log, ...how: [seen: string, vkey?: Option.Option<string>, policy?: LogCheck["policy"]]) =>
  Effect.flatMap(openIt(log, ...how), (opened) => verifyLog(opened, chainOf(log)))

const policyOf = (...lines: ReadonlyArray<string>) => Option.some(policyFrom(...lines, "quorum none"))

/** All entries, of which one was changed in a byte. */
const forgedAt = (index: number) => all.with(index, concat(all[index] ?? new Uint8Array()).fill(0x61, 140, 141))

const newFile = () => join(newFolder(), "seen.json")

suite("a walk through a log", Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici), (it) => {
  it("continues where it stopped, also to a later checkpoint, and at no other place", function* () {
    const file = newFile()
    const log = yield* StaticLog.serve(all)
    /** Walks from what a file says, and counts the bundles that it asks for. */
    const walk = Effect.fnUntraced(function* (one: StaticLog.Log, seen: string, text?: string) {
      if (text !== undefined) writeFileSync(`${seen}.walk`, text)
      one.asked = 0
      const { continues, from, size } = yield* check(one, seen)
      assert.isFalse(existsSync(`${seen}.walk`))
      return [size, continues, from, one.asked]
    })
    log.size = 14_900
    log.refuse = (index) => index >= 58
    assert.match((yield* Effect.flip(check(log, file))).message, /could not be read: it was answered 404/u)
    assert.isFalse(existsSync(file), "what was not walked to its end is not believed")
    const place = JSON.parse(readFileSync(`${file}.walk`, "utf8"))
    assert.strictEqual(place.size, 40 * 256)
    log.refuse = () => false
    log.size = 15_000
    assert.deepStrictEqual(yield* walk(log, file), [15_000, null, 40 * 256 + 1, Math.ceil(15_000 / 256) - 40])

    // The same with the place after one bundle of three.
    const short = yield* StaticLog.serve(all.slice(0, 600))
    const [root, chainHash] = [hex(short.log.rootAt(256)), StaticLog.hashAt(all, 256)]
    const early = { ...place, size: 256, chainHash, edge: ["", root] }
    const from = (change: object) => JSON.stringify({ ...early, ...change })
    assert.deepStrictEqual(yield* walk(short, newFile(), from({})), [600, null, 257, 2])
    const again = newFile()
    for (const continues of [null, 600]) assert.deepStrictEqual(yield* walk(short, again), [600, continues, 1, 3])
    for (const text of ["nonsense", from({ vkey: "another" }), from({ old: "a checkpoint" }), from({ edge: ["ab"] })])
      assert.deepStrictEqual(yield* walk(short, newFile(), text), [600, null, 1, 3], text)
    // One that was changed leads to another root: it is forgotten, and the log is walked from its first entry.
    const stale = from({ edge: ["", root.replace(/^../u, "00")] })
    assert.deepStrictEqual(yield* walk(short, newFile(), stale), [600, null, 1, 2 + 3])
    // And a log that is broken is, from whichever place it was walked.
    short.entries = forgedAt(500)
    assert.match((yield* Effect.flip(walk(short, newFile(), stale))).message, /^THE LOG IS BROKEN: entry 501: /u)
  })

  it("warns while only the server has named the key, and rejects a log that the policy omits", function* () {
    const file = newFile()
    const log = yield* StaticLog.serve(all.slice(0, 300))
    const isItsOwnWord = (vkey: Option.Option<string>, policy?: typeof others) =>
      Effect.map(check(log, file, vkey, policy), (one) => one.keyIsItsOwnWord)
    const others = policyOf(`log ${renamed(signer.vkey, "another.example/log")}`)
    assert.isTrue(yield* isItsOwnWord(Option.none()))
    assert.isTrue(yield* isItsOwnWord(Option.none()), "that it was heard before makes it nobody else's")
    for (const vkey of [Option.none<string>(), Option.some(signer.vkey)]) {
      const refused = yield* Effect.flip(check(log, file, vkey, others))
      assert.match(`${refused._tag}: ${refused.message}`, /^CommandFailure: The policy names other logs/u)
    }
    const mine = policyOf(`log ${signer.vkey}`, `log ${renamed(signer.vkey, "another.example/log")}`)
    assert.isFalse(yield* isItsOwnWord(Option.none(), mine))
    assert.isFalse(yield* isItsOwnWord(Option.none()), "and once it was named it stays so")
    const moved = yield* Effect.flip(check(log, file, Option.some(renamed(signer.vkey, "new.example/log"))))
    assert.match(moved.message, /announced a new log with a new key, name another file with --seen, or remove /u)
  })

  it("finds a changed entry, tile and history, and a log that shrank", function* () {
    const file = newFile()
    const log = yield* StaticLog.serve(all.slice(0, 5_000))
    log.size = 3_000
    yield* check(log, file)
    const broken = Effect.map(Effect.flip(check(log, file)), (error) => `${error._tag}: ${error.message}`)
    log.size = 2_999
    const beside = () => readdirSync(dirname(file)).filter((name) => name !== "seen.json")
    assert.match(yield* broken, /^CheckFailed: .*it had 3000 entries at the last check and has 2999 now/u)
    assert.deepStrictEqual(beside(), [], "an older checkpoint of the same log is no proof of anything")

    log.size = 4_000
    const tile = log.log.tiles.get("0/3") ?? new Uint8Array()
    log.log.tiles.set("0/3", Uint8Array.from(tile).fill(1, 5, 6))
    assert.match(yield* broken, /^CheckFailed: .*tile\/0\/003 is not the hash of its entries/u)
    log.log.tiles.set("0/3", tile)

    log.entries = forgedAt(700)
    assert.match(yield* broken, /^CheckFailed: .*entry 701: /u)

    StaticLog.become(log, StaticLog.entriesOf(5_000, 2_991))
    const provedBy = Effect.fnUntraced(function* (size: number) {
      log.size = size
      const known = beside()
      const message = yield* broken
      const added = beside().find((name) => !known.includes(name)) ?? ""
      assert.include(message, `Keep both signed checkpoints: ${file} and ${join(dirname(file), added)}.`)
      const { text } = yield* ask(`${log.base}/log/checkpoint`)
      assert.strictEqual(readFileSync(join(dirname(file), added), "utf8"), text)
      return message
    })
    const before = readFileSync(file, "utf8")
    assert.match(yield* provedBy(4_500), /^CheckFailed: .*its first 3000 entries are not those/u)
    // Without the tiles of the tree seen before, nothing leads from one root to the other.
    assert.match(yield* provedBy(2_995), /^CommandFailure: NOT COMPARABLE: it had 3000 .* and has 2995 now/u)
    const kept = beside()
    yield* broken
    assert.deepStrictEqual(beside(), kept, "who is shown the same again keeps it once")
    assert.strictEqual(readFileSync(file, "utf8"), before)

    StaticLog.become(log, all.slice(0, 5_000))
    log.size = 4_500
    assert.strictEqual((yield* check(log, file)).continues, 3_000)
  })

  it("that ends after a newer one keeps the newer position, and one that it cannot compare", function* () {
    const file = newFile()
    const seen = () => JSON.parse(readFileSync(file, "utf8"))
    const log = yield* StaticLog.serve(all.slice(0, 7_000))
    const opened = (size: number, vkey?: Option.Option<string>) =>
      Effect.map(openIt(Object.assign(log, { size }), file, vkey), (one) => ({ opened: one, chain: chainOf(log) }))
    const slow = yield* opened(3_000, Option.none())
    log.size = 4_000
    yield* check(log, file)
    const newer = seen()
    assert.match(newer.checkpoint, /\n4000\n/u)
    yield* verifyLog(slow.opened, slow.chain)
    assert.deepStrictEqual(seen(), newer, "neither its size nor that its key was named goes back")

    const fork = yield* opened(6_000)
    StaticLog.become(log, StaticLog.entriesOf(7_000, 5_501))
    log.size = 7_000
    yield* check(log, file)
    const forked = readFileSync(file, "utf8")
    StaticLog.become(log, all.slice(0, 7_000))
    const { _tag, message } = yield* Effect.flip(verifyLog(fork.opened, fork.chain))
    assert.match(`${_tag}: ${message}`, /^CommandFailure: NOT COMPARABLE: another check has seen a checkpoint of 7000/u)
    assert.strictEqual(readFileSync(file, "utf8"), forked)
    const kept = readdirSync(dirname(file)).find((name) => name.endsWith(".checkpoint")) ?? ""
    assert.include(message, join(dirname(file), kept))
    assert.match(readFileSync(join(dirname(file), kept), "utf8"), /\n6000\n/u)
  })
})
