/** What an operator does by hand: commands against the database, seen through the server that runs beside them. */
import { createHash } from "node:crypto"
import { userInfo } from "node:os"
import { setTimeout } from "node:timers/promises"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { terminal } from "../lab/Terminal.ts"
import { patience } from "../lab/Patience.ts"
import { call, connect } from "../lab/McpClient.ts"
import { ask, layer as world, newCommitment, newPayer, pay, post, TestServer } from "../lab/Fixture.ts"

const by = "hidden by the operator"
const why = ["--why", "asked by a neighbour", "--by", "Ada"]

const admin = Effect.gen(function* () {
  const { run } = yield* terminal
  const { url } = yield* LocalDatabase
  return (...args: ReadonlyArray<string>) => run(["admin", ...args], { DATABASE_URL: Redacted.value(url) })
})

const json = (text: string) => JSON.parse(text)

const act = Effect.fnUntraced(function* (id: string) {
  const { url } = yield* TestServer
  return json((yield* ask(`${url}/api/acts/${id}`)).text).act
})

const buy = Effect.fnUntraced(function* (path: string, body: object) {
  const { url } = yield* TestServer
  const bought = yield* pay(yield* newPayer(), `${url}${path}`, body)
  assert.strictEqual(bought.answer.status, 201, bought.answer.text)
  return { ...bought, id: String(json(bought.answer.text).record.id), url: `${url}${path}`, body }
})

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

layer(world(), { excludeTestServices: true, timeout: patience(120) })("an operator", (it) => {
  it.effect("hides names, reasons and dedications, keeps what they were, and shows them again", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const run = yield* admin
      const kept = yield* buy("/api/acquire/moss-hare", { agentName: "Wren", reason: "It followed me" })
      const before = yield* act(kept.id)
      for (const field of ["name", "reason"]) {
        const ended = yield* run("hide", kept.id, field, ...why)
        assert.deepStrictEqual([ended.code, ended.stderr], [0, ""], ended.stderr)
      }
      const hidden = yield* act(kept.id)
      assert.deepStrictEqual([hidden.agentName, hidden.record.agentName, hidden.record.reason], [by, by, by])
      assert.deepStrictEqual(Object.keys(hidden.record), Object.keys(before.record))
      assert.strictEqual(hidden.record.transaction, before.record.transaction)
      assert.notInclude((yield* ask(`${url}/api/spirits`)).text, "Wren")
      // Who paid and has the key reads the first answer for ever.
      const again = yield* ask(kept.url, post(kept.body, kept.headers))
      assert.strictEqual(again.text, kept.answer.text.replace(/false\}$/u, "true}"))

      const twice = yield* run("hide", kept.id, "name", ...why)
      assert.strictEqual(twice.code, 1)
      assert.match(twice.stderr, /^No name is shown of /u)
      for (const field of ["name", "reason"]) assert.strictEqual((yield* run("show", kept.id, field, ...why)).code, 0)
      const shown = yield* act(kept.id)
      assert.deepStrictEqual([shown.agentName, shown.record], [before.agentName, before.record])

      const candle = yield* buy("/api/candles/day/moss-hare", { dedication: "For a named neighbour" })
      assert.strictEqual((yield* run("hide", candle.id, "dedication", ...why)).code, 0)
      assert.strictEqual((yield* act(candle.id)).record.dedication, by)
      const wall = yield* ask(`${url}/api/candles`)
      assert.include(wall.text, by)
      assert.notInclude(wall.text, "named neighbour")
    }),
  )

  it.effect("hides revealed words, which stay stored and hash as before", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const run = yield* admin
      const [salt, text] = ["a salt of sixteen or more", "The heron will return by May."]
      const stone = yield* buy("/api/witness", { commitment: sha256(`${salt}\0${text}`) })
      const reveal = () => ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text }))
      const revealed = yield* reveal()
      assert.strictEqual(revealed.status, 201, revealed.text)
      const early = yield* run("hide", stone.id, "dedication", ...why)
      assert.match(early.stderr, /^No dedication is shown of /u)

      assert.strictEqual((yield* run("hide", stone.id, "words", ...why)).code, 0)
      const read = () => Effect.map(ask(`${url}/api/witness/${stone.id}`), ({ text: body }) => json(body).stone)
      const hidden = (yield* read()).reveal
      assert.deepInclude(hidden, { text: null, hidden: true, hiddenBy: "operator" })
      assert.include((yield* ask(`${url}/witness/${stone.id}`)).text, "They are hidden by the operator")
      assert.include((yield* ask(`${url}/v2/witness`)).text, "words hidden by the operator")
      assert.notInclude((yield* ask(`${url}/api/witness`)).text, "heron")
      // The same reveal is the same still, and another one is refused.
      assert.strictEqual((yield* reveal()).status, 200)
      const segment = json((yield* ask(`${url}/api/witness/chain?from=1&limit=100`)).text)
      assert.isTrue(segment.entries.some(({ id }: { readonly id: string }) => id === stone.id))

      assert.strictEqual((yield* run("show", stone.id, "words", ...why)).code, 0)
      const shown = (yield* read()).reveal
      assert.deepInclude(shown, { text, hidden: false })
      assert.notProperty(shown, "hiddenBy")
    }),
  )

  it.effect("keeps a name hidden that a later reveal says again, and shows it again with the other", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const run = yield* admin
      const [salt, text] = ["a salt of sixteen or more", "The swift will be late."]
      const stone = yield* buy("/api/witness", { commitment: sha256(`${salt}\0${text}`), agentName: "Wren" })
      assert.strictEqual((yield* run("hide", stone.id, "name", ...why)).code, 0)
      const reveal = () => ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text, agentName: "Wren again" }))
      const revealed = yield* reveal()
      assert.strictEqual(revealed.status, 201, revealed.text)
      assert.strictEqual(json(revealed.text).stone.reveal.agentName, by)
      for (const path of [`/api/witness/${stone.id}`, "/api/witness", `/witness/${stone.id}`])
        assert.notInclude((yield* ask(`${url}${path}`)).text, "Wren again", path)
      assert.strictEqual((yield* reveal()).status, 200)

      assert.strictEqual((yield* run("show", stone.id, "name", ...why)).code, 0)
      const shown = json((yield* ask(`${url}/api/witness/${stone.id}`)).text).stone
      assert.deepStrictEqual([shown.agentName, shown.reveal.agentName], ["Wren", "Wren again"])
    }),
  )

  it.effect("is kept with what it did, when and why; what changes nothing leaves no line", () =>
    Effect.gen(function* () {
      const run = yield* admin
      const stone = yield* buy("/api/witness", { commitment: newCommitment(), agentName: "Wren" })
      assert.strictEqual((yield* run("hide", stone.id, "name", ...why)).code, 0)
      const refused = yield* run("hide", crypto.randomUUID(), "name", "--json", ...why)
      assert.deepStrictEqual([refused.code, json(refused.stdout).ok], [1, false])
      const { deeds } = json((yield* run("audit", "--json", "--limit", "1")).stdout)
      const [{ at, ...deed }] = deeds
      assert.deepStrictEqual(deed, {
        who: `Ada (account ${userInfo().username})`,
        what: "hide name",
        subject: stone.id,
        why: "asked by a neighbour",
      })
      assert.isBelow(Math.abs(Date.now() - Date.parse(at)), 60_000)
      for (const blank of [
        ["--why", " ", "--by", "Ada"],
        ["--why", "asked", "--by", ""],
      ]) {
        const ended = yield* run("show", stone.id, "name", ...blank)
        assert.strictEqual(ended.code, 1)
        assert.match(ended.stderr, /is blank/u)
      }
    }),
  )

  it.effect("pauses selling within two seconds, while what was bought is still answered, and resumes it", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const run = yield* admin
      const bought = yield* buy("/api/witness", { commitment: newCommitment() })
      const probe = () => ask(`${url}/api/witness`, { method: "POST" })
      const agent = yield* connect(`${url}/mcp`)
      const kit = call(agent, "buy_kit", { action: "setWitnessStone" })
      // Asked twice, so that the server knows the question and answers it from memory.
      for (const _ of [1, 2]) assert.strictEqual((yield* probe()).status, 402)
      assert.isFalse((yield* kit).isError)
      const paused = yield* run("pause", "--why", "the node is behind", "--json")
      assert.deepStrictEqual([paused.code, json(paused.stdout).ok], [0, true], paused.stderr)
      yield* Effect.promise(() => setTimeout(2_000))
      const unsold = yield* kit
      assert.isTrue(unsold.isError)
      assert.include(unsold.text, "selling_paused")
      for (const init of [
        { method: "POST" },
        { method: "POST" },
        post({ commitment: newCommitment() }, { "idempotency-key": "a-new-purchase-1" }),
      ]) {
        const refused = yield* ask(`${url}/api/witness`, init)
        assert.deepStrictEqual([refused.status, refused.json["code"]], [503, "selling_paused"], refused.text)
        assert.strictEqual(refused.headers.get("retry-after"), "60")
        assert.notInclude(refused.text, "behind", "the reason is the operator's")
      }
      assert.strictEqual((yield* ask(bought.url, post(bought.body, bought.headers))).status, 200)
      assert.strictEqual((yield* ask(`${url}/api/witness`)).status, 200)
      const twice = yield* run("pause", ...why)
      assert.deepStrictEqual([twice.code, twice.stderr], [1, "Selling is paused already.\n"])
      assert.strictEqual((yield* run("resume", ...why)).code, 0)
      yield* Effect.promise(() => setTimeout(2_000))
      assert.strictEqual((yield* probe()).status, 402)
      assert.isFalse((yield* kit).isError)
    }),
  )

  it.effect("finds an attempt by key, id, transaction and wallet, and lists those that are open", () =>
    Effect.gen(function* () {
      const run = yield* admin
      const sql = yield* SqlClient.SqlClient
      const { answer, id, key } = yield* buy("/api/witness", { commitment: newCommitment() })
      const { payer, transaction } = json(answer.text).record
      for (const what of [key, id, transaction, payer, payer.toLowerCase()]) {
        const { stdout } = yield* run("attempt", what, "--json")
        assert.deepStrictEqual(
          json(stdout).attempts.map((one: { readonly id: string }) => one.id),
          [id],
          what,
        )
      }
      assert.strictEqual((yield* run("attempt", "no-such-key-anywhere")).code, 1)
      assert.strictEqual((yield* run("attempts")).stdout, "Every attempt has ended.\n")
      yield* sql`UPDATE payment_attempts SET state = 'pending', next_check_at = now() + interval '1 hour' WHERE id = ${id}::uuid`
      const { stdout } = yield* run("attempts")
      yield* sql`UPDATE payment_attempts SET state = 'settled' WHERE id = ${id}::uuid`
      assert.include(stdout, `key       ${key}`)
      assert.match(stdout, /evidence {2}transaction 0x/u)
      assert.match(stdout, /next look \d{4}-/u)
      assert.match(stdout, /to do {5}It can still be paid until /u)
    }),
  )

  it.effect("exports all acts and the chain, as lines of JSON and as a table", () =>
    Effect.gen(function* () {
      const run = yield* admin
      const sql = yield* SqlClient.SqlClient
      yield* buy("/api/witness", { commitment: newCommitment(), agentName: '=1+1, "quoted"' })
      const [row] =
        yield* sql`SELECT (SELECT count(*) FROM acts) AS acts, (SELECT count(*) FROM witness_stones) AS stones`
      const counts = Object(row)
      const lines = ({ stdout }: { readonly stdout: string }) => stdout.split("\n").filter(Boolean)
      const acts = lines(yield* run("export", "acts")).map(json)
      assert.strictEqual(acts.length, Number(counts.acts))
      assert.deepStrictEqual(Object.keys(acts[0]), [
        "id",
        "act",
        "permalink",
        "agentName",
        "settledAt",
        "record",
        "receipt",
      ])
      const links = lines(yield* run("export", "chain")).map(json)
      assert.deepStrictEqual(
        links.map(({ sequence }) => sequence),
        Array.from({ length: Number(counts.stones) }, (_, index) => index + 1),
      )
      const table = (yield* run("export", "acts", "--format", "csv")).stdout.split("\r\n")
      assert.strictEqual(table[0], "id,act,permalink,agentName,settledAt,record,receipt")
      assert.strictEqual(table.length, acts.length + 2)
      assert.isTrue(table.some((line) => line.includes(`"'=1+1, ""quoted"""`)))
    }),
  )

  it.effect("is told what is wrong with an id that is no UUID, and with a limit that is no number of rows", () =>
    Effect.gen(function* () {
      const run = yield* admin
      for (const [args, what] of [
        [["hide", "not-an-id", "name", ...why], "an act"],
        [["show", "not-an-id", "name", ...why], "an act"],
        [["delete-room", "not-an-id", ...why], "a room"],
      ] as const) {
        const ended = yield* run(...args)
        assert.strictEqual(ended.code, 1)
        assert.match(
          ended.stderr,
          new RegExp(`^not-an-id is no id of ${what}: an id is a UUID, .* Nothing changed\\.\n$`, "u"),
        )
        const asJson = yield* run(...args, "--json")
        assert.deepInclude(json(asJson.stdout), { ok: false, code: "trouble", message: ended.stderr.trim() })
      }
      const unknown = "5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d"
      assert.match((yield* run("hide", unknown, "name", ...why)).stderr, /^No settled act has the id /u)
      for (const rows of ["-1", "0"]) {
        const ended = yield* run("audit", `--limit=${rows}`)
        assert.notStrictEqual(ended.code, 0)
        assert.include(ended.stderr, `${rows} is no limit; write a whole number from 1 to 10000`)
        assert.notInclude(ended.stderr, "database")
      }
    }),
  )

  it.effect("deletes a room", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const run = yield* admin
      const made = json((yield* ask(`${url}/api/rooms`, post({ name: "Night shift" }))).text)
      const id: string = made.room?.id ?? made.id
      assert.strictEqual((yield* run("delete-room", id, ...why)).code, 0)
      assert.deepStrictEqual((yield* run("delete-room", id, ...why)).stderr, `No room has the id ${id}.\n`)
    }),
  )
})
