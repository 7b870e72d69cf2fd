/** The log of a real server at its most talkative: its lines about requests and attempts, and the secrets that it omits. */
import { assert, describe, layer } from "../lab/It.ts"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { generate } from "../../src/log/Signer.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as CardProcessor from "../lab/proxy/CardProcessor.ts"
import { prepareByCard, processor, Processor } from "../lab/buyer/Cards.ts"
import { patientSeconds } from "../lab/Patience.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { from, newRoom, poll, sendSignal } from "../lab/server/Rooms.ts"
import { ask, Proxies, realClock } from "../lab/Fixture.ts"
import { listening } from "../lab/server/ServerProcess.ts"
import { staged } from "../lab/server/Live.ts"

type LogLine = Readonly<Record<string, unknown>> & { readonly message: string; readonly level: string }

/** Every line of stdout is one JSON object; any other line is named. */
const linesOf = (output: string): ReadonlyArray<LogLine> =>
  output
    .split("\n")
    .filter((line) => line !== "")
    .map((line): LogLine => {
      if (!line.startsWith("{")) throw new Error(`no JSON line: ${line}`)
      return JSON.parse(line)
    })

const requestsIn = (output: string) => linesOf(output).filter(({ message }) => message === "request")
const attemptsIn = (output: string) => linesOf(output).filter(({ message }) => message === "attempt")

const clientAddress = "203.0.113.77"
const collectorKey = "collector-key-4711"

const started = (env: Readonly<Record<string, string>>) =>
  listening({ TEST_SETTLE_SECONDS: patientSeconds(3), TEST_SWEEP_SECONDS: "1", ...env })

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/u

/** A day of a server, with what happened and all that it wrote. */
const story = Effect.gen(function* () {
  const { database, rpc } = yield* Proxies
  const sql = yield* SqlClient.SqlClient
  const bank = yield* Processor
  const logKey = Result.getOrThrow(generate("altar.example/log"))
  const server = yield* started({
    LOG_LEVEL: "Trace",
    TRUSTED_PROXIES: "127.0.0.1",
    LOG_KEY: Redacted.value(logKey),
    LOG_ORIGIN: "altar.example/log",
    CARD_PROFILE_ID: CardProcessor.profile,
    CARD_SECRET_KEY: CardProcessor.secretKey,
    CARD_API_URL: bank.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
    OTEL_EXPORTER_OTLP_HEADERS: `api-key=${collectorKey}`,
  })
  const { url } = server
  // Paid, replayed, told again, and refused for another body.
  const paid = yield* Purchase.prepareAt(url)
  assert.strictEqual((yield* Purchase.send(paid)).status, 201)
  assert.strictEqual((yield* Purchase.send(paid)).status, 200)
  assert.strictEqual((yield* Purchase.reconcile(paid)).status, 200)
  const other = { ...paid, body: { commitment: "f".repeat(64) } }
  assert.strictEqual((yield* Purchase.send(other)).status, 409)
  // Spoiled: a signature that fits nothing, and a header that is no payment.
  const forged = yield* Purchase.prepareAt(url)
  const spoiled = { ...forged.headers, "payment-signature": `${forged.headers["payment-signature"]}AAAA` }
  assert.isAtLeast((yield* Purchase.send({ ...forged, headers: spoiled })).status, 400)
  // The node hears it and its answer is lost: pending, and settled by the sweep.
  const pending = yield* Purchase.prepareAt(url)
  rpc.arm("eth_sendRawTransaction", "dropAfter")
  rpc.arm("eth_getTransactionReceipt", "status500")
  rpc.arm("eth_getLogs", "status500")
  yield* Purchase.send(pending)
  yield* rpc.calm
  yield* Purchase.ended(pending)
  const card = yield* prepareByCard(url)
  assert.strictEqual((yield* Purchase.send(card)).status, 201)
  // A room, its messages, and a stranger with a token of his own.
  const guest = yield* newRoom(url)
  assert.strictEqual((yield* sendSignal(guest, { text: "the-words-of-a-message" }, clientAddress)).status, 201)
  assert.strictEqual((yield* poll(guest, "", clientAddress)).status, 200)
  const stranger = { ...guest, token: `${guest.token.slice(0, -4)}AAAA` }
  assert.strictEqual((yield* poll(stranger, "", clientAddress)).status, 401)
  yield* ask(`${url}/api/rooms`, { method: "POST", headers: { ...from("2001:db8::77"), "x-request-id": "mine" } })
  // A fault of ours, in the middle of a purchase and of a poll, and a database that hangs up.
  const faulty = yield* Purchase.prepareAt(url)
  yield* sql`ALTER TABLE payment_claims RENAME TO elsewhere`
  assert.strictEqual((yield* Purchase.send(faulty)).status, 500)
  yield* sql`ALTER TABLE elsewhere RENAME TO payment_claims`
  yield* sql`ALTER TABLE rooms RENAME TO elsewhere`
  const fault = yield* poll(guest, "", clientAddress)
  assert.strictEqual(fault.status, 500)
  yield* sql`ALTER TABLE elsewhere RENAME TO rooms`
  const cut = yield* Purchase.prepareAt(url)
  database.arm(/INSERT INTO payment_attempts/u, "cutBefore")
  const away = yield* Purchase.send(cut)
  assert.deepStrictEqual([away.status, away.headers.get("retry-after")], [503, "2"], away.text)
  assert.strictEqual(away.json["code"], "unavailable")
  yield* database.calm
  yield* ask(`${url}/api/spirits`)
  yield* server.signal("SIGTERM")
  assert.strictEqual(yield* server.ended, 0, server.output())
  return {
    output: server.output(),
    purchases: [paid, forged, pending, faulty, cut],
    card,
    guest,
    stranger,
    fault,
    logKey,
  }
})

class Story extends Context.Service<Story, Effect.Success<typeof story>>()("test/Story") {}

layer(Layer.effect(Story, story).pipe(Layer.provideMerge(Layer.merge(processor, stage)), Layer.orDie), realClock)(
  "the log of a server at its most talkative",
  (it) => {
    it.effect("has none of the secrets of its requests and settings", function* () {
      const { card, guest, logKey, output, purchases, stranger } = yield* Story
      const { relayerKey } = yield* LocalChain
      const secrets: ReadonlyArray<readonly [what: string, secret: string]> = [
        ["relayer key", Redacted.value(relayerKey).slice(2)],
        ["password of the database", new URL(Redacted.value((yield* LocalDatabase).url)).password],
        ["log key", Redacted.value(logKey).slice(-40)],
        ["card key", CardProcessor.secretKey],
        ["collector's key", collectorKey],
        ["token of a room", guest.token],
        ["token of a stranger", stranger.token],
        ["id of a room", guest.id],
        ["words of a message", "the-words-of-a-message"],
        ["address of a client", clientAddress],
        ["IPv6 address of a client", "2001:db8::77"],
        ["card credential", card.headers.authorization.slice(8)],
        ["key of a card purchase", card.key],
        ["client's own request id", '"mine"'],
        ...purchases.flatMap(({ headers, key, nonce, payer, signature }) =>
          [
            ["payment", headers["payment-signature"] ?? ""],
            ["signature", signature.slice(2)],
            ["idempotency key", key],
            ["wallet", payer.address.slice(2).toLowerCase()],
            ["nonce", nonce.slice(2)],
          ].map(([what = "", secret = ""]) => [what, secret] as const),
        ),
      ]
      for (const [what, secret] of secrets) {
        assert.isAbove(secret.length, 4, what)
        const spilt = output.split("\n").filter((line) => line.toLowerCase().includes(secret.toLowerCase()))
        assert.deepStrictEqual(spilt, [], what)
      }
    })

    it.effect("records every request, and a fault with the request that met it", function* () {
      const { fault, output } = yield* Story
      const requests = requestsIn(output)
      const of = (method: string, route: string, status: number) =>
        requests.filter((line) => line["method"] === method && line["route"] === route && line["status"] === status)
      assert.isAtLeast(of("POST", "/api/witness", 201).length, 1)
      assert.isAtLeast(of("POST", "/api/witness", 402).length, 5, "prices are told at Trace, too")
      assert.lengthOf(of("POST", "/api/witness", 409), 1)
      assert.lengthOf(of("POST", "/api/witness", 500), 1)
      assert.lengthOf(of("POST", "/api/witness", 503), 1)
      assert.isAtLeast(of("POST", "/api/reconcile/:idempotencyKey", 200).length, 1)
      assert.lengthOf(of("GET", "/api/rooms/:roomId", 401), 1)
      assert.lengthOf(of("GET", "/api/rooms/:roomId", 500), 1)
      assert.strictEqual(of("GET", "/api/rooms/:roomId", 500)[0]?.level, "error")
      assert.strictEqual(of("POST", "/api/witness", 503)[0]?.level, "warn")
      for (const line of requests) {
        assert.hasAllKeys(line, ["time", "level", "message", "request", "method", "route", "status", "ms"])
        assert.match(String(line["request"]), uuid)
      }
      const failed = linesOf(output).filter(({ message }) => message === "request failed")
      assert.lengthOf(failed, 2)
      assert.include(
        failed.map((line) => line["request"]),
        of("GET", "/api/rooms/:roomId", 500)[0]?.["request"],
        "a fault's line names its request",
      )
      assert.strictEqual(fault.headers.get("x-request-id"), of("GET", "/api/rooms/:roomId", 500)[0]?.["request"])
    })

    it.effect("records every change of an attempt", function* () {
      const { output } = yield* Story
      const changes = attemptsIn(output)
      const ways = changes.map((line) => `${line["act"]}: ${line["from"]} → ${line["to"]}, ${line["evidence"]}`)
      assert.strictEqual(
        ways.filter((way) => way.endsWith("none → pending, intent on disk")).length,
        3,
        ways.join("\n"),
      )
      assert.strictEqual(ways.filter((way) => way.endsWith("pending → settled, transfer found")).length, 2)
      assert.strictEqual(ways.filter((way) => way.endsWith("pending → settled, card charged")).length, 1)
      const settled = changes.find((line) => line["to"] === "settled" && line["evidence"] === "transfer found")
      assert.match(String(settled?.["transaction"]), /^0x[0-9a-f]{64}$/u)
      assert.isNumber(settled?.["ageMs"])
      const intent = changes.find((line) => line["attempt"] === settled?.["attempt"] && line["to"] === "pending")
      assert.match(String(intent?.["request"]), uuid, "whose request it was")
    })
  },
)

describe.concurrent("the log", () => {
  staged("shows one of a hundred successful reads, and every write and failure", function* () {
    const server = yield* started({})
    const { url } = server
    for (let n = 0; n < 250; n += 1) assert.strictEqual((yield* ask(`${url}/api/spirits`)).status, 200)
    for (let n = 0; n < 5; n += 1) assert.strictEqual((yield* ask(`${url}/api/nowhere`)).status, 404)
    const paid = yield* Purchase.prepareAt(url)
    assert.strictEqual((yield* Purchase.send(paid)).status, 201)
    yield* server.signal("SIGTERM")
    yield* server.ended
    const requests = requestsIn(server.output())
    const count = (status: number) => requests.filter((line) => line["status"] === status).length
    assert.deepStrictEqual([count(200), count(404), count(201)], [2, 5, 1])
    assert.deepStrictEqual([...new Set(requests.map(({ level }) => level))], ["info"])
    const missing = requests.filter(({ status }) => status === 404)
    assert.deepStrictEqual([...new Set(missing.map(({ route }) => route))], ["other"])
  })

  staged("delays no purchase while its output is not read, and none after it was closed", function* () {
    const server = yield* started({ LOG_LEVEL: "Trace" })
    const paid = yield* Purchase.prepareAt(server.url)
    server.deafen()
    // More than a pipe holds.
    for (let n = 0; n < 400; n += 1) yield* ask(`${server.url}/api/nowhere/${"a".repeat(50)}`)
    assert.strictEqual((yield* Purchase.send(paid)).status, 201)
    yield* Purchase.assertSettled(paid)
    const later = yield* Purchase.prepareAt(server.url)
    server.hangUp()
    for (let n = 0; n < 20; n += 1) assert.strictEqual((yield* ask(`${server.url}/api/nowhere`)).status, 404)
    assert.strictEqual((yield* Purchase.send(later)).status, 201)
    yield* Purchase.assertSettled(later)
    yield* server.signal("SIGTERM")
    assert.strictEqual(yield* server.ended, 0, server.output())
  })
})
