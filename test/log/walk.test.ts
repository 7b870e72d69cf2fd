/** The check of a log remembers what it verified, and finds what was changed. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Option } from "effect"
import { policyFrom } from "../lab/log/Cosigners.ts"
import { type LogCheck, openLog, verifyLog } from "../../src/cli/verify/Log.ts"
import { verifyChain } from "../../src/cli/verify/Chain.ts"
import { renamed } from "../lab/log/Vectors.ts"
import { signer } from "../lab/log/LogFixture.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { ask, realClock } from "../lab/Fixture.ts"
import { newFolder } from "../lab/Folders.ts"

const all = StaticLog.entriesOf(5_000)

const openIt = (
  { base }: StaticLog.Log,
  seen: string,
  vkey = Option.some(signer.vkey),
  policy: LogCheck["policy"] = Option.none(),
) => openLog({ altar: base, vkey, policy, seen: Option.some(seen) })

/** The log over the chain that is served, as the command walks it. */
const check = (log: StaticLog.Log, ...how: [seen: string, vkey?: Option.Option<string>, policy?: LogCheck["policy"]]) =>
  Effect.gen(function* () {
    const opened = yield* openIt(log, ...how)
    return yield* verifyLog(opened, yield* verifyChain(log.base, { sizes: opened.sizes }))
  })

const policyOf = (...lines: ReadonlyArray<string>) => Option.some(policyFrom(...lines, "quorum none"))

const newFile = () => join(newFolder(), "seen.json")

layer(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici), realClock)("the check of a log", (it) => {
  it.effect("warns while only the server has named the key, and rejects a log that the policy omits", function* () {
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

  it.effect("finds another history, and a log that shrank", function* () {
    const file = newFile()
    const log = yield* StaticLog.serve(all)
    log.size = 3_000
    yield* check(log, file)
    const broken = Effect.map(Effect.flip(check(log, file)), (error) => `${error._tag}: ${error.message}`)
    const beside = () => readdirSync(dirname(file)).filter((name) => name !== "seen.json")

    log.size = 4_000
    log.entries = all.toSpliced(3_500, 1)
    assert.match(yield* broken, /^CheckFailed: .*its root is not that of the first 4000 stones of the chain/u)

    log.entries = log.chain = StaticLog.entriesOf(5_000, 2_991)
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
    assert.match(yield* provedBy(4_500), /^CheckFailed: .*its first 3000 entries are not those of the last check/u)
    assert.match(yield* provedBy(2_995), /^CheckFailed: .*it had 3000 entries .* and has 2995 now/u)
    const kept = beside()
    yield* broken
    assert.deepStrictEqual(beside(), kept, "the same note is kept once")
    assert.strictEqual(readFileSync(file, "utf8"), before)

    log.entries = log.chain = all
    log.size = 4_500
    assert.strictEqual((yield* check(log, file)).continues, 3_000)
  })
})
