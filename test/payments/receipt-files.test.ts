/** The receipt file of an act: one address beside its permalink, and the command that checks it offline. */
import { buy } from "../lab/buyer/Purchase.ts"
import { randomUUID } from "node:crypto"
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ReceiptFile } from "../../schema/altar/ReceiptFile.ts"
import { refundExample } from "../../schema/payments/Refund.ts"
import { Moderation } from "../../src/altar/Moderation.ts"
import { seal } from "../../src/altar/Hashes.ts"
import { verifyReceipt } from "../../src/buyer/receipt/VerifyReceipt.ts"
import { jwsOf } from "../../src/payments/Receipt.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { stranger } from "../lab/Chain.ts"
import { until } from "../lab/Eventually.ts"
import { ask, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import { signer, signing } from "../lab/log/LogFixture.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { checked, key, receipts } from "../lab/buyer/ReceiptFiles.ts"
import { reveal, salt, unseal } from "../lab/buyer/Sealed.ts"

const log = { ...signing, publishSeconds: 1 }

const words = { salt, text: "The tide table was wrong." }

const filed = (path: string, body: object) =>
  Effect.map(buy(path, body), ({ answer, permalink, record }) => ({
    id: String(record.id),
    settlement: JSON.parse(Buffer.from(answer.headers.get("payment-response") ?? "", "base64").toString()),
    record,
    permalink: String(permalink),
    file: `${permalink}.receipt.json`,
  }))

const states = (text: string, trust: Parameters<typeof verifyReceipt>[1] = { key }) =>
  Effect.map(
    Effect.promise(() => verifyReceipt(text, trust)),
    ({ checks, ok }): Record<string, string> => ({
      ok: String(ok),
      ...Object.fromEntries(checks.map(({ name, state }) => [name, state])),
    }),
  )

const isFile = Schema.is(ReceiptFile)

layer(Layer.provideMerge(Moderation.layer, world({}, { receipts, log })), realClock)("a receipt file", (it) => {
  it.effect("of a stone holds its receipt, its record, its revealed words and its log proof", function* () {
    const { url } = yield* TestServer
    const stone = yield* filed("/api/witness", { commitment: seal(words.salt, words.text), kind: "promise" })
    yield* reveal(stone.id, words.text)
    const answer = yield* ask(stone.file).pipe(until("no checkpoint", ({ json }) => "log" in json))
    assert.isTrue(isFile(answer.json), answer.text)
    assert.deepStrictEqual(answer.json["record"], stone.record)
    assert.deepStrictEqual(yield* states(answer.text, { key, log: { vkey: signer.vkey } }), {
      ok: "true",
      signature: "holds",
      claims: "holds",
      record: "holds",
      binding: "open",
      stone: "holds",
      log: "holds",
      words: "holds",
      key: "open",
      payment: "open",
      date: "open",
    })
    const { commitment } = stone.record
    for (const [sha256, line] of [
      [commitment, /^HOLDS {8}file: Stone \d+, .* records the hash of draft\.pdf\.$/mu],
      ["0".repeat(64), /^BROKEN {7}file: draft\.pdf has the hash 0{64}, and stone/mu],
    ] as const) {
      const fingerprint = { path: "draft.pdf", sha256: String(sha256), checks: [] }
      const { lines } = yield* checked(answer.text, { key: Option.some(key), fingerprint })
      assert.match(lines.join("\n"), line)
    }
    const elsewhere = yield* ask(`${url}/acts/${stone.id}.receipt.json`)
    assert.strictEqual(elsewhere.text, answer.text)
    const tag = answer.headers.get("etag") ?? ""
    assert.strictEqual((yield* ask(stone.file, { headers: { "if-none-match": tag } })).status, 304)
    const page = yield* ask(stone.permalink, { headers: { accept: "text/html" } })
    assert.include(page.text, `${stone.id}.receipt.json`)
  })

  it.effect("of a refunded act names the refund", function* () {
    const { file, id } = yield* filed("/api/witness", { commitment: seal(words.salt, words.text) })
    const sql = yield* SqlClient.SqlClient
    const shown = { ...refundExample, attempt: id }
    yield* sql`INSERT INTO payment_refunds (payment, transaction, attempt, shown)
        VALUES (${id}, ${shown.transaction}, ${id}::uuid, ${JSON.stringify(shown)})`
    const { json, text } = yield* ask(file)
    assert.isTrue(isFile(json), text)
    assert.deepStrictEqual(json["refund"], shown)
    assert.deepInclude(yield* states(text), { signature: "holds", record: "holds" })
  })

  it.effect("of a candle holds its unsealed words with the salt, and the command shows what of it holds", function* () {
    const intentionCommitment = seal(words.salt, words.text)
    const candle = yield* filed("/api/candles/day/moss-hare", { dedication: "For the tide", intentionCommitment })
    const closed = yield* checked((yield* ask(candle.file)).text, { key: Option.some(key) })
    assert.include(closed.lines, "NOT CHECKED  words: No words are revealed.")
    yield* unseal(candle.id, words.text)
    const { json, text } = yield* ask(candle.file)
    assert.isTrue(isFile(json), text)
    assert.deepInclude(json["reveal"], words)
    const open = yield* checked(text, { key: Option.some(key) })
    assert.strictEqual(open.ended._tag, "Success")
    assert.include(open.lines, "HOLDS        words: The revealed words and their salt are those that were sealed.")
    const other = text.replace(words.text, "The tide table was right.")
    const forged = yield* checked(other, { key: Option.some(key) })
    assert.strictEqual(forged.ended._tag, "Failure")
    assert.isTrue(forged.lines.some((line) => line.startsWith("BROKEN       words: ")))
    const asJson = yield* checked(other, { key: Option.some(key), json: true })
    assert.deepInclude(JSON.parse(asJson.lines[0] ?? ""), { ok: false })
    assert.match(String((yield* checked(text, {})).ended), /--key/u)
  })

  it.effect("is a 404 without an act, or where it would confirm guesses of hidden text, and on no page", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const kept = yield* filed("/api/acquire/glass-tortoise", { agentName: "Wren", reason: "It is slow." })
    const stone = yield* filed("/api/witness", { commitment: seal(words.salt, words.text), agentName: "Wren" })
    for (const [{ file, id, permalink }, text] of [
      [kept, "reason"],
      [stone, "name"],
    ] as const) {
      const page = Effect.map(ask(permalink, { headers: { accept: "text/html" } }), (shown) => shown.text)
      assert.include(yield* page, "receipt.json")
      yield* sql.withTransaction((yield* Moderation).hide(id, text))
      const answer = yield* ask(file)
      assertAnswer(answer, 404, "receipt_hidden")
      assert.notInclude(answer.text, "eyJ")
      assert.notInclude(yield* page, "receipt.json")
    }
    for (const id of [randomUUID(), "nonsense"])
      assertAnswer(yield* ask(`${url}/acts/${id}.receipt.json`), 404, "act_not_found")
  })

  it.effect("stays while only the reveal's name is hidden; a repeated reveal confirms no guess of it", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const { file, id } = yield* filed("/api/witness", { commitment: seal(words.salt, words.text) })
    const say = (more: object) => ask(`${url}/api/witness/${id}/reveal`, post({ ...words, ...more }))
    const latin = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify({ ...words, agentName: "Jos\u00e9" }), "latin1"),
    }
    assertAnswer(yield* ask(`${url}/api/witness/${id}/reveal`, latin), 400, "bad_request")
    assert.strictEqual((yield* say({ agentName: "Wren" })).status, 201)
    assertAnswer(yield* say({ agentName: "Crow" }), 409, "already_revealed")
    yield* sql.withTransaction((yield* Moderation).hide(id, "name"))
    for (const agentName of ["Wren", "Crow"]) assert.strictEqual((yield* say({ agentName })).status, 200)
    assert.strictEqual((yield* ask(file)).status, 200)
  })

  it.effect("is compared with the transfer on the chain, and every other claim fails", function* () {
    const { url } = yield* TestServer
    const { rpcUrl } = yield* LocalChain
    const rpc = Option.some(rpcUrl)
    const { json, text } = yield* ask((yield* filed("/api/acquire/quartz-elephant", {})).file)
    const { json: second } = yield* ask((yield* filed("/api/acquire/kelp-seal", {})).file)
    const claimsIn = (jws: unknown) => JSON.parse(Buffer.from(String(jws).split(".")[1] ?? "", "base64url").toString())
    const claims = claimsIn(json["receipt"])
    const { delivered } = claims
    const line = Effect.fnUntraced(function* (change: object) {
      const receipt = jwsOf(url, receipts.current, "x402-receipt+jws", { ...claims, ...change })
      const { ended, lines } = yield* checked(JSON.stringify({ ...json, receipt }), { key: Option.some(key), rpc })
      return `${ended._tag} ${lines.find((told) => / payment: /u.test(told)) ?? ""}`
    })
    const good = yield* checked(text, { key: Option.some(key), rpc })
    assert.strictEqual(good.ended._tag, "Success")
    assert.match(
      good.lines.join("\n"),
      /^HOLDS {8}payment: Transaction 0x[0-9a-f]{64} in block \d+ transfers 0\.01 USDC from 0x/mu,
    )
    const unknown = `0x${"ab".repeat(32)}`
    const unused = { ...delivered, nonce: unknown }
    const others = claimsIn(second["receipt"]).transaction
    const cases: ReadonlyArray<readonly [what: string, change: object, expected: RegExp]> = [
      ["another amount", { delivered: { ...delivered, amount: "10001" } }, /^Failure BROKEN .* does not hold/u],
      ["another nonce", { delivered: unused }, /^Failure BROKEN .* does not hold/u],
      ["another payee", { delivered: { ...delivered, payTo: stranger } }, /^Failure BROKEN .* does not hold/u],
      ["another payer", { payer: stranger }, /^Failure BROKEN .* does not hold/u],
      ["another token", { delivered: { ...delivered, asset: stranger } }, /^Failure BROKEN .* USDC is 0x/u],
      ["another act's transaction", { transaction: others }, /^Failure BROKEN .* does not hold/u],
      ["a moved transaction", { transaction: unknown }, /NOT CHECKED .* its authorization is used/u],
      ["no transaction", { transaction: unknown, delivered: unused }, /^Failure BROKEN .* nothing was paid/u],
      ["another network", { network: "eip155:8453" }, /^Failure $/u],
    ]
    for (const [what, change, expected] of cases) assert.match(yield* line(change), expected, what)
    const nowhere = yield* checked(text, { key: Option.some(key), rpc: Option.some(url) })
    assert.match(String(nowhere.ended), /could not be asked: .*\. Name another with --rpc, or try again later\./u)
  })
})

layer(world(), realClock)("a server without a receipt key", (it) => {
  it.effect("signs nothing, publishes no keys, and says so of a receipt file", function* () {
    const { url } = yield* TestServer
    const act = yield* filed("/api/acquire/dew-spider", {})
    assert.hasAllKeys(act.settlement, ["success", "transaction", "network", "payer"])
    assert.strictEqual((yield* ask(`${url}/.well-known/did.json`)).status, 404)
    const answer = yield* ask(act.file)
    assertAnswer(answer, 404, "receipt_unsigned")
  })
})
