/** The buyer's commands against a real altar: their output, storage, refusals and restarts. */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { generatePrivateKey } from "viem/accounts"
import { holding, terminal, type Terminal } from "../lab/Terminal.ts"
import { today } from "../lab/Clock.ts"
import { newKey, realClock, world } from "../lab/Fixture.ts"
import { assertEach } from "../lab/Assertions.ts"

const words = "The heron will return by May."

const json = Effect.fnUntraced(function* (at: Terminal, name: string, ...args: ReadonlyArray<string>) {
  const { code, stderr, stdout } = yield* at.command([name, "--json", ...args])
  assert.strictEqual(code, 0, stderr)
  assert.strictEqual(stdout.trim().split("\n").length, 1, stdout)
  return JSON.parse(stdout)
})

/** The states of all purchases of its journal. */
const states = (at: Terminal) =>
  Effect.map(json(at, "acts"), (acts) => acts.map(({ state }: { readonly state: string }) => state))

/** The answer of a purchase without `--json`: stdout holds nothing else. */
const alone = Effect.fnUntraced(function* (at: Terminal, ...args: ReadonlyArray<string>) {
  const { code, stderr, stdout } = yield* at.command(args)
  assert.strictEqual(code, 0, stderr)
  assert.match(stderr, /^paid {8}\$\d\.\d\d, once$/mu)
  return JSON.parse(stdout)
})

layer(world(), realClock)("spirit-altar", (it) => {
  it.effect("sets a stone, repeats it without paying, and reveals it by its id alone", function* () {
    const at = yield* terminal
    const key = newKey()
    const order = ["witness", "--text", words, "--kind", "prediction", "--spirit", "moss-hare", "--key", key]
    const bought = yield* at.run(order)
    assert.strictEqual(bought.code, 0, bought.stderr)
    assert.include(bought.stderr, "paid        $0.01, once")
    assert.match(bought.stderr, /signed {6}\$0\.01 to 0x[0-9a-fA-F]{40}, stored before it is sent/u)
    assert.notInclude(bought.stdout + bought.stderr, at.secret.slice(2))
    assert.notInclude(bought.stdout + bought.stderr, words)
    const repeated = yield* at.run(["--json", ...order])
    const again = JSON.parse(repeated.stdout)
    assert.deepStrictEqual([again.replayed, again.key], [true, key])
    assert.include(repeated.stderr, "replayed    nothing was charged again")
    assert.deepStrictEqual(again, { ...JSON.parse(bought.stdout), replayed: true })
    const { id } = again.record
    assert.include(bought.stderr, `spirit-altar reveal ${id}`)
    const others = yield* at.run(["reveal", id, "--text", "Other words."])
    assert.strictEqual(others.code, 1)
    assert.include(others.stderr, "These words are not those that this journal sealed")
    const revealed = yield* json(at, "reveal", id, "--text", words)
    assert.strictEqual(revealed.stone.reveal.text, words)
    assert.strictEqual(yield* at.spent, 1)

    const kept = join(at.folder, ".local", "state", "spirit-altar")
    assert.strictEqual(statSync(kept).mode & 0o777, 0o700)
    assert.strictEqual(statSync(join(kept, "..")).mode & 0o777, 0o777 & ~process.umask(), "it alone is closed")
    assert.deepStrictEqual(readdirSync(kept), ["journal.db"])
    assert.strictEqual(statSync(join(kept, "journal.db")).mode & 0o777, 0o600)
  })

  it.effect("prays, keeps, collects, lights, unseals, and lists its acts", function* () {
    yield* today
    const at = yield* terminal
    assert.strictEqual(
      (yield* at.command(["acts"])).stdout,
      "This journal holds no purchases. Name another with --data.\n",
    )
    const prayer = yield* alone(at, "pray", "rain-crow", "--words", words, "--name", "Wren")
    assert.strictEqual(prayer.record.spirit, "rain-crow")
    assert.isString(prayer.line)
    const keeper = yield* alone(at, "keep", "rain-crow", "--reason", "It sat still.")
    assert.strictEqual(keeper.record.reason, "It sat still.")
    const collected = yield* alone(at, "collect", "beeswax", "--spirit", "kelp-seal")
    assert.deepStrictEqual([collected.record.edition, collected.record.spirit], [1, "kelp-seal"])
    const candle = yield* alone(at, "light", "kelp-seal", "--days", "7", "--dedication", "For them", "--words", words)
    assert.strictEqual(candle.record.days, 7)
    const added = yield* alone(at, "light", "kelp-seal", "--parent", candle.record.id)
    assert.strictEqual(added.record.parentId, candle.record.id)
    const unsealed = yield* json(at, "unseal", candle.record.id)
    assert.strictEqual(unsealed.candle.unsealed.words, words)
    const paying = yield* json(at, "wallet")
    assert.match(paying.address, /^0x[0-9a-fA-F]{40}$/u)
    assert.strictEqual(paying.money, "real")
    const purchases = yield* json(at, "acts")
    assertEach(
      purchases,
      ({ act, state }: { readonly act: string; readonly state: string }) => [act, state],
      ["offerPrayer", "takeIn", "collectMaterial", "lightWeek", "lightDay"].map((act) => [act, "settled"]),
    )
    assert.strictEqual(yield* at.spent, 5)
  })

  it.effect("continues with the very same payment after it was killed between signature and answer", function* () {
    const at = yield* terminal
    const key = newKey()
    const order = ["witness", "--text", words, "--key", key]
    const doomed = at.start(order, holding(at))
    yield* Effect.promise(() => doomed.says("HELD"))
    doomed.child.kill("SIGKILL")
    yield* Effect.promise(() => doomed.ended)
    assert.strictEqual(yield* at.spent, 0)
    assert.deepStrictEqual(yield* states(at), ["open"])
    const repeated = yield* at.run(order)
    assert.strictEqual(repeated.code, 0, repeated.stderr)
    assert.include(repeated.stderr, "repeated    resending the payment signed for this key")
    assert.notInclude(repeated.stderr, "signed      ")
    assert.strictEqual(yield* at.spent, 1)
  })

  it.effect("names after Ctrl-C the command that ends the purchase, also for a key with a dash first", function* () {
    const at = yield* terminal
    // The dash and the letters of help and version.
    const key = `-hv${newKey()}`
    const stopped = at.start(["witness", "--text", `-hv${words}`, "--key", key], holding(at))
    yield* Effect.promise(() => stopped.says("HELD"))
    stopped.child.kill("SIGINT")
    const { stderr } = yield* Effect.promise(() => stopped.ended)
    assert.include(stderr, "Stopped; nothing is lost.")
    const [, call = ""] = /^ {2}spirit-altar (acts .*)$/mu.exec(stderr) ?? []
    assert.include(call, key)
    const ended = yield* at.run(call.split(" "))
    assert.strictEqual(ended.code, 0, ended.stderr)
    const again = yield* json(at, "acts", "--", key)
    assert.strictEqual(again.record.sequence > 0, true)
    assert.strictEqual(yield* at.spent, 1)
  })

  it.effect("fails in one sentence with exit code 1, and with --json in one document as well", function* () {
    const at = yield* terminal
    const order = ["witness", "--text", words]
    const empty = newKey()
    const misunderstood = /^The altar would not understand this: .+ This request charged nothing\.$/u
    const refusals: ReadonlyArray<readonly [ReadonlyArray<string>, string, RegExp, Record<string, string>?]> = [
      [[...order, "--max", "0.005"], "above_limit", /above your limit of 5000 atomic USDC a payment\./u],
      [[...order, "--max-per-day", "0"], "above_day_limit", /above your limit of \$0\.00 a day\./u],
      [[...order, "--pay-to", `0x${"1".repeat(40)}`], "other_payee", /expected is 0x1{40}\./u],
      [[...order, "--key", "short"], "idempotency_key_invalid", /12 to 128 characters/u],
      [["keep", "moss-hare", "--name", "x".repeat(65)], "bad_request", misunderstood],
      [["light", "kelp-seal", "--dedication", "Bees", "--salt", words], "not_sealed", /^Give words, with or without/u],
      [["light", "kelp-seal"], "bad_request", /^A candle needs its public words, --dedication; .+ Nothing was sent/u],
      [
        [...order, "--key", empty],
        "payment_invalid",
        /This request charged nothing\./u,
        { SPIRIT_ALTAR_PRIVATE_KEY: generatePrivateKey() },
      ],
      [order, "trouble", /^No wallet: set SPIRIT_ALTAR_PRIVATE_KEY/u, { SPIRIT_ALTAR_PRIVATE_KEY: "" }],
      [order, "trouble", /holds no private key/u, { SPIRIT_ALTAR_PRIVATE_KEY: "0x1234" }],
      [[...order, "--wallet", "nowhere"], "trouble", /nowhere cannot be read/u],
      [["reveal", "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"], "words_unknown", /does not hold the words/u],
      [["acts", newKey()], "attempt_not_found", /Nothing was charged under this key/u],
      [["acts", newKey(), "--url", "http://127.0.0.1:9"], "unreachable", /no answer/u],
    ]
    for (const [args, code, says, env] of refusals) {
      const ended = yield* at.command([...args, "--json"], env)
      assert.strictEqual(ended.code, 1, ended.stdout)
      const refused = JSON.parse(ended.stdout)
      assert.deepStrictEqual([refused.ok, refused.code], [false, code], ended.stderr)
      assert.match(refused.message, says)
      assert.include(ended.stderr, refused.message)
      assert.notInclude(ended.stderr, at.secret.slice(2))
    }
    assert.strictEqual(yield* at.spent, 0)
    assertEach(
      (yield* json(at, "acts")).filter(({ key }: { readonly key: string }) => key === empty),
      ({ state }: { readonly state: string }) => state,
      ["failed"],
    )
  })
})
