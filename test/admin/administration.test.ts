/** An operator's manual actions: commands against the database, seen through the server that runs beside them. */
import { buy } from "../lab/buyer/Purchase.ts"
import { userInfo } from "node:os"
import { assert, layer } from "../lab/It.ts"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { seal } from "../../src/altar/Hashes.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { newRoom } from "../lab/server/Rooms.ts"
import { call, connect } from "../lab/McpClient.ts"
import { ask, newCommitment, post, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"

const by = "hidden by the operator"
const why = ["--why", "asked by a neighbour", "--by", "Ada"]

const databaseOf = Effect.map(LocalDatabase, ({ url }) => ({ DATABASE_URL: Redacted.value(url) }))

/** `admin` with these words, in this process. */
const run = (...args: ReadonlyArray<string>) => Effect.flatMap(databaseOf, (env) => commandRun(["admin", ...args], env))

const done = (...args: ReadonlyArray<string>) =>
  Effect.map(run(...args), ({ code, stderr, stdout }) => {
    assert.deepStrictEqual([code, stderr], [0, ""], args.join(" "))
    return stdout
  })

const json = (text: string) => JSON.parse(text)

const act = (id: string) => Effect.map(read(`/api/acts/${id}`), (answer) => answer.act)

const buyAct = Effect.fnUntraced(function* (path: string, body: object) {
  const { url } = yield* TestServer
  const paid = yield* buy(path, body)
  return { ...paid, id: String(paid.record.id), url: `${url}${path}`, body }
})

layer(world(), realClock)("an operator", (it) => {
  it.effect("hides names, reasons and dedications, keeps what they were, and shows them again", function* () {
    const { url } = yield* TestServer
    assert.strictEqual(yield* done("audit"), "Nothing was changed by hand.\n")
    const kept = yield* buyAct("/api/acquire/moss-hare", { agentName: "Wren", reason: "It followed me" })
    const before = yield* act(kept.id)
    for (const field of ["name", "reason"]) yield* done("hide", kept.id, field, ...why)
    const hidden = yield* act(kept.id)
    assert.deepStrictEqual([hidden.agentName, hidden.record.agentName, hidden.record.reason], [by, by, by])
    assert.deepStrictEqual(Object.keys(hidden.record), Object.keys(before.record))
    assert.strictEqual(hidden.record.transaction, before.record.transaction)
    assert.notInclude((yield* ask(`${url}/api/spirits`)).text, "Wren")
    // The payer can read the first answer for ever with its key.
    const again = yield* ask(kept.url, post(kept.body, kept.headers))
    assert.strictEqual(again.text, kept.answer.text.replace(/false\}$/u, "true}"))

    const twice = yield* run("hide", kept.id, "name", ...why)
    assert.strictEqual(twice.code, 1)
    assert.match(twice.stderr, /^No name is shown of /u)
    for (const field of ["name", "reason"]) yield* done("show", kept.id, field, ...why)
    const shown = yield* act(kept.id)
    assert.deepStrictEqual([shown.agentName, shown.record], [before.agentName, before.record])

    const candle = yield* buyAct("/api/candles/day/moss-hare", { dedication: "For a named neighbour" })
    yield* done("hide", candle.id, "dedication", ...why)
    assert.strictEqual((yield* act(candle.id)).record.dedication, by)
    const wall = yield* ask(`${url}/api/candles`)
    assert.include(wall.text, by)
    assert.notInclude(wall.text, "named neighbour")
  })

  it.effect("hides revealed words, which stay stored and hash as before", function* () {
    const { url } = yield* TestServer
    const [salt, text] = ["a salt of sixteen or more", "The heron will return by May."]
    const stone = yield* buyAct("/api/witness", { commitment: seal(salt, text) })
    const reveal = () => ask(`${url}/api/witness/${stone.id}/reveal`, post({ salt, text }))
    assert.strictEqual((yield* reveal()).status, 201)
    const early = yield* run("hide", stone.id, "dedication", ...why)
    assert.match(early.stderr, /^No dedication is shown of /u)

    assert.include(yield* done("hide", stone.id, "words", ...why), `The words of ${stone.id} are hidden`)
    const revealOf = Effect.map(read(`/api/witness/${stone.id}`), (answer) => answer.stone.reveal)
    assert.deepInclude(yield* revealOf, { text: null, hidden: true, hiddenBy: "operator" })
    assert.include((yield* ask(`${url}/witness/${stone.id}`)).text, "They are hidden by the operator")
    assert.include((yield* ask(`${url}/v2/witness`)).text, "words hidden by the operator")
    assert.notInclude((yield* ask(`${url}/api/witness`)).text, "heron")
    assert.strictEqual((yield* reveal()).status, 200, "the same reveal is the same still")
    const segment = yield* read("/api/witness/chain?from=1&limit=100")
    assert.isTrue(segment.entries.some(({ id }: { readonly id: string }) => id === stone.id))

    yield* done("show", stone.id, "words", ...why)
    const shown = yield* revealOf
    assert.deepInclude(shown, { text, hidden: false })
    assert.notProperty(shown, "hiddenBy")
  })

  it.effect("keeps a hidden name hidden in a later reveal, until both are shown again", function* () {
    const { url } = yield* TestServer
    const [salt, text] = ["a salt of sixteen or more", "The swift will be late."]
    const stone = yield* buyAct("/api/witness", { commitment: seal(salt, text), agentName: "Wren" })
    yield* done("hide", stone.id, "name", ...why)
    const body = { salt, text, agentName: "Wren again" }
    const revealed = yield* ask(`${url}/api/witness/${stone.id}/reveal`, post(body))
    assert.strictEqual(revealed.status, 201, revealed.text)
    assert.strictEqual(json(revealed.text).stone.reveal.agentName, by)
    for (const path of [`/api/witness/${stone.id}`, "/api/witness", `/witness/${stone.id}`])
      assert.notInclude((yield* ask(`${url}${path}`)).text, "Wren again", path)

    yield* done("show", stone.id, "name", ...why)
    const shown = (yield* read(`/api/witness/${stone.id}`)).stone
    assert.deepStrictEqual([shown.agentName, shown.reveal.agentName], ["Wren", "Wren again"])
  })

  it.effect("leaves an audit line with action, time and reason for each change, and for nothing else", function* () {
    const stone = yield* buyAct("/api/witness", { commitment: newCommitment(), agentName: "Wren" })
    yield* done("hide", stone.id, "name", ...why)
    const refused = yield* run("hide", crypto.randomUUID(), "name", "--json", ...why)
    assert.deepStrictEqual([refused.code, json(refused.stdout).ok], [1, false])
    const { deeds } = json((yield* run("audit", "--json")).stdout)
    const [{ at, ...deed }] = deeds
    assert.deepStrictEqual(deed, {
      who: `Ada (account ${userInfo().username})`,
      what: "hide name",
      subject: stone.id,
      why: "asked by a neighbour",
    })
    assert.isBelow(Math.abs(Date.now() - Date.parse(at)), 60_000)
    const blank = yield* run("show", stone.id, "name", "--why", " ", "--by", "Ada")
    assert.strictEqual(blank.code, 1)
    assert.match(blank.stderr, /is blank/u)
  })

  it.effect("pauses sales, still answers earlier purchases, and resumes sales", function* () {
    const { url } = yield* TestServer
    const bought = yield* buyAct("/api/witness", { commitment: newCommitment() })
    const probe = () => ask(`${url}/api/witness`, { method: "POST" })
    const agent = yield* connect(`${url}/mcp`)
    const kit = call(agent, "buy_kit", { action: "setWitnessStone" })
    // The second request is answered from memory.
    for (const _ of [1, 2]) assert.strictEqual((yield* probe()).status, 402)
    assert.isFalse((yield* kit).isError)
    const paused = yield* run("pause", "--why", "the node is behind", "--json")
    assert.deepStrictEqual([paused.code, json(paused.stdout).ok], [0, true], paused.stderr)
    yield* Effect.map(probe(), ({ status }) => status).pipe(
      until("selling is never paused", (status) => status === 503),
    )
    const unsold = yield* kit.pipe(until("a kit is sold on", ({ isError }) => isError))
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
    yield* done("resume", ...why)
    yield* probe().pipe(until("selling is never resumed", ({ status }) => status === 402))
    yield* kit.pipe(until("no kit is sold again", ({ isError }) => !isError))
  })

  it.effect("finds attempts by key, id, transaction and wallet, and lists pending ones, each in order", function* () {
    const sql = yield* SqlClient.SqlClient
    const { answer, id, key, payer: wallet } = yield* buyAct("/api/witness", { commitment: newCommitment() })
    const { payer, transaction } = json(answer.text).record
    const idsOf = (text: string) => json(text).attempts.map((one: { readonly id: string }) => one.id)
    const inspected = (what: string) => Effect.map(run("attempt", what, "--json"), ({ stdout }) => idsOf(stdout))
    for (const what of [key, id, transaction, payer, payer.toLowerCase()])
      assert.deepStrictEqual(yield* inspected(what), [id], what)
    const { record } = yield* buy("/api/witness", { commitment: newCommitment() }, { payer: wallet })
    assert.deepStrictEqual(yield* inspected(payer), [record.id, id])
    assert.strictEqual((yield* run("attempt", "no-such-key-anywhere")).code, 1)
    assert.strictEqual((yield* run("attempts")).stdout, "Every attempt has ended.\n")
    const reopen = (which: string) => sql`
        UPDATE payment_attempts SET state = 'pending', next_check_at = now() + interval '1 hour' WHERE id = ${which}::uuid`
    yield* reopen(id)
    const { stdout } = yield* run("attempts")
    yield* reopen(record.id)
    assert.deepStrictEqual(idsOf((yield* run("attempts", "--json")).stdout), [id, record.id])
    // As between a broadcast and the report of its transaction.
    yield* sql`UPDATE payment_attempts SET payment = payment - 'transaction' WHERE id = ${record.id}::uuid`
    assert.deepStrictEqual(yield* inspected(record.transaction), [record.id])
    yield* sql`UPDATE payment_attempts SET state = 'settled' WHERE id = ${record.id}::uuid`
    yield* sql`UPDATE payment_attempts SET accepted_at = accepted_at - interval '25 hours' WHERE id = ${id}::uuid`
    const old = (yield* run("attempts")).stdout
    assert.match(old, /to do {5}It is open for more than a day and still holds .* Set it to an archive node /u)
    yield* sql`UPDATE payment_attempts SET state = 'settled' WHERE id = ${id}::uuid`
    assert.include(stdout, `key       ${key}`)
    assert.match(stdout, /evidence {2}transaction 0x/u)
    assert.match(stdout, /next inquiry \d{4}-/u)
    assert.match(stdout, /to do {5}It can still be paid until /u)
  })

  it.effect("gets a clear message about an id that is no UUID", function* () {
    for (const args of [
      ["hide", "not-an-id", "name"],
      ["delete-room", "not-an-id"],
    ]) {
      const ended = yield* run(...args, ...why)
      assert.strictEqual(ended.code, 1)
      assert.match(ended.stderr, /"not-an-id"\. Expected: the id of .*, a UUID like .*\. Nothing changed\./u)
    }
    const unknown = crypto.randomUUID()
    assert.match((yield* run("hide", unknown, "name", ...why)).stderr, /^No settled act has the id /u)
  })

  it.effect("deletes a room", function* () {
    const { url } = yield* TestServer
    const { id } = yield* newRoom(url)
    yield* done("delete-room", id, ...why)
    assert.deepStrictEqual((yield* run("delete-room", id, ...why)).stderr, `No room has the id ${id}.\n`)
  })
})
