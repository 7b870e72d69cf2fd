/** An agent's own till: the local MCP server as hosts start it, with the official client over stdio. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { today } from "../lab/Clock.ts"
import { realClock, world } from "../lab/Fixture.ts"
import { main } from "../lab/Process.ts"
import { type StdioMcp, stdioMcp } from "../lab/StdioMcp.ts"
import { holding, terminal } from "../lab/Terminal.ts"

const guide = readFileSync(new URL("../../docs/integrating.md", import.meta.url), "utf8")
const words = "The heron will return by May."

layer(world(), realClock)("spirit-altar mcp", (it) => {
  it.effect("sells each act once, and lists, reveals and verifies what it sealed", function* () {
    yield* today
    const at = yield* terminal
    const owners = JSON.parse((yield* at.command(["witness", "--text", "Her owner's alone.", "--json"])).stdout)
    const { call, client, stderr } = yield* stdioMcp(at)
    const tools = yield* Effect.promise(() => client.listTools())
    assert.sameMembers(
      tools.tools.map(({ name }) => name),
      ["seal", "pray", "keep", "collect", "light", "reveal", "outcome", "my_words", "verify"],
    )
    const revealing = tools.tools.find(({ name }) => name === "reveal")
    assert.match(revealing?.description ?? "", /for ever/u)
    assert.isTrue(revealing?.annotations?.destructiveHint)
    yield* Effect.promise(async () => {
      const sealed = await call("seal", { words, kind: "prediction", agentName: "" })
      assert.isFalse(sealed.isError, JSON.stringify(sealed.answer))
      const { key, record, repeated } = sealed.answer
      assert.deepStrictEqual([repeated, record.kind], [false, "prediction"])
      assert.notInclude(JSON.stringify(sealed.answer), words)
      const again = await call("seal", { kind: "prediction", words: ` ${words}\n` })
      assert.deepStrictEqual(again.answer, { ...sealed.answer, repeated: true })
      const other = await call("seal", { words, kind: "prediction", another: true })
      assert.notStrictEqual(other.answer.key, key)
      const twice = await Promise.all([1, 2].map(() => call("pray", { spirit: "rain-crow", agentName: "Wren", words })))
      assert.strictEqual(twice[0]?.answer.key, twice[1]?.answer.key)
      const candle = await call("light", {
        spirit: "kelp-seal",
        days: 7,
        dedication: "For the bees",
        words: "Later.",
      })
      assert.strictEqual(candle.answer.record.days, 7)
      assert.strictEqual((await call("keep", { spirit: "rain-crow" })).answer.record.spirit, "rain-crow")
      assert.strictEqual((await call("collect", { element: "beeswax" })).answer.record.edition, 1)
      const mine: ReadonlyArray<{ readonly act: string; readonly state: string }> = (await call("my_words")).answer
        .words
      assert.deepStrictEqual(
        mine.map(({ act, state }) => [act, state]),
        ["setWitnessStone", "setWitnessStone", "offerPrayer", "lightWeek"].map((act) => [act, "settled"]),
      )
      const refused = await call("reveal", { id: owners.record.id })
      assert.deepStrictEqual([refused.isError, refused.answer.code], [true, "words_unknown"])
      const { answer: opened } = await call("reveal", { id: record.id })
      assert.strictEqual(opened.stone.reveal.text, words)
      const { answer: unsealed } = await call("reveal", { id: candle.answer.record.id })
      assert.strictEqual(unsealed.candle.unsealed.words, "Later.")
      assert.isTrue((await call("verify", { thing: record.id })).answer.ok)
      assert.strictEqual((await call("verify", { thing: "http://127.0.0.1:9/latest" })).answer.code, "bad_url")
      assert.strictEqual((await call("outcome", { key })).answer.record.id, record.id)
    })
    assert.strictEqual(yield* at.spent, 7)
    assert.notInclude(stderr(), at.secret.slice(2))
  })

  it.effect("resumes a purchase that a kill cut off after its signature, also one that was another", function* () {
    const at = yield* terminal
    for (const [another, payments] of [
      [false, 1],
      [true, 2],
    ] as const) {
      const order = { words, another }
      const doomed = yield* stdioMcp(at, [], holding(at))
      const lost = doomed.call("seal", order).catch(() => "lost")
      yield* Effect.promise(() => doomed.held)
      doomed.kill()
      assert.strictEqual(yield* Effect.promise(() => lost), "lost")
      const restarted = yield* stdioMcp(at)
      const open = yield* Effect.promise(() => restarted.call("my_words"))
      assert.include(JSON.stringify(open.answer), '"state":"open"')
      const resumed = yield* Effect.promise(() => restarted.call("seal", order))
      assert.isFalse(resumed.isError, JSON.stringify(resumed.answer))
      assert.include(JSON.stringify(open.answer), String(resumed.answer.key))
      assert.notInclude(restarted.stderr(), "signed      ")
      assert.strictEqual(yield* at.spent, payments)
    }
  })

  it.effect("refuses a price above its limits with the number, and bad arguments, and charges nothing", function* () {
    const at = yield* terminal
    const refusals: ReadonlyArray<
      readonly [args: ReadonlyArray<string>, name: string, given: Record<string, unknown>, code: string, says: RegExp]
    > = [
      [["--max", "0.005"], "seal", { words }, "above_limit", /above your limit of 5000 atomic USDC a payment/u],
      [["--max-per-day", "0"], "seal", { words }, "above_day_limit", /above your limit of \$0\.00 a day/u],
      [[], "seal", { kind: "promise" }, "bad_request", /commitment/u],
      [[], "seal", { words, colour: "red" }, "bad_request", /colour/u],
      [[], "seal", { words: "x".repeat(281) }, "not_sealed", /1 to 280 characters/u],
      [[], "light", { spirit: "kelp-seal", days: 2, dedication: "Bees" }, "bad_request", /days is one of 1, 7, 30/u],
      [[], "reveal", { id: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1" }, "words_unknown", /does not hold the words/u],
      [[], "outcome", {}, "bad_request", /key is missing/u],
      [["--url", "http://127.0.0.1:9"], "seal", { words }, "trouble", /does not answer: .* charged nothing\./u],
      [["--wallet", "nowhere"], "seal", { words }, "trouble", /nowhere cannot be read/u],
    ]
    const servers = new Map<string, StdioMcp>()
    for (const [args, name, given, code, says] of refusals) {
      const server = servers.get(args.join()) ?? (yield* stdioMcp(at, args))
      const { call } = server
      servers.set(args.join(), server)
      const { answer, isError } = yield* Effect.promise(() => call(name, given))
      assert.deepStrictEqual([isError, answer.ok, answer.code], [true, false, code], JSON.stringify(answer))
      assert.match(answer.message, says)
    }
    assert.strictEqual(yield* at.spent, 0)
  })

  it.effect("sells by the configuration of its document in the revision of 2026, and ends with its host", function* () {
    const at = yield* terminal
    const key = join(at.folder, "key.txt")
    writeFileSync(key, at.secret, { mode: 0o600 })
    const [, configured = ""] = /```json\n("altar": [^`]+)```/u.exec(guide) ?? []
    const { args }: { readonly args: ReadonlyArray<string> } = JSON.parse(`{${configured}}`).altar
    const own: Readonly<Record<string, string>> = {
      "https://altar.example": at.own.SPIRIT_ALTAR_URL,
      "/home/me/key.txt": key,
    }
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [main, ...args.map((argument) => own[argument] ?? argument)],
      env: { PATH: process.env["PATH"] ?? "", HOME: at.folder },
      stderr: "ignore",
    })
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } })
    yield* Effect.promise(async () => {
      await client.connect(transport)
      const { structuredContent } = await client.callTool({ name: "seal", arguments: { words } })
      assert.deepInclude(structuredContent, { ok: true, repeated: false })
      await client.close()
    })
    assert.strictEqual(yield* at.spent, 1)
    const ended = yield* at.run(["mcp"])
    assert.deepStrictEqual([ended.code, ended.stdout], [0, ""], ended.stderr)
  })
})
