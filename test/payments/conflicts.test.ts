/** The 409s of a paid request, and what a key, a body and a clock decide before money does. */
import { assert } from "@effect/vitest"
import { today } from "../lab/Clock.ts"
import { ask, layer as world, newCommitment, newKey, newPayer, pay, post } from "../lab/Fixture.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { suite } from "../lab/Suites.ts"

suite("before any money moves", world(), (it) => {
  it("a key is bound to one URL and one body", function* ({ url }) {
    const payer = yield* newPayer()
    const body = { commitment: newCommitment(), kind: "promise" }
    const { answer, headers } = yield* pay(payer, `${url}/api/witness`, body)
    assert.strictEqual(answer.status, 201)
    const other = yield* ask(`${url}/api/witness`, post({ ...body, kind: "hash" }, headers))
    assertAnswer(other, 409, "idempotency_conflict")
    const respelled = yield* ask(
      `${url}/api/witness`,
      post(`{ "kind":"promise", "commitment":"${body.commitment}" }`, headers),
    )
    assert.strictEqual(respelled.status, 200, "the same JSON in another spelling is the same request")
    const unsigned = yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": headers["idempotency-key"] }))
    assert.strictEqual(unsigned.status, 200, "a settled key replays without a payment header")
  })

  it("a known key is answered before its act can refuse anything", function* ({ url }) {
    const payer = yield* newPayer()
    const path = `${url}/api/candles/day/rain-crow`
    const { answer, headers } = yield* pay(payer, path, { dedication: "For the bees" })
    assert.strictEqual(answer.status, 201, answer.text)
    const held = { dedication: "see my-site.example.com" }
    const known = yield* ask(path, post(held, headers))
    assertAnswer(known, 409, "idempotency_conflict")
    const fresh = yield* ask(path, post(held, { "idempotency-key": newKey() }))
    assertAnswer(fresh, 422, "dedication_held")
  })

  it("an unpaid request without a key is priced like a keyed one, and reserves nothing", function* ({ sql, url }) {
    const rows = sql<{ n: number }>`SELECT (SELECT count(*) FROM payment_attempts)::int
        + (SELECT count(*) FROM payment_claims)::int + (SELECT count(*) FROM payment_pools)::int AS n`
    const payer = yield* newPayer()
    const kept = "acquire/brass-cicada"
    assert.strictEqual((yield* pay(payer, `${url}/api/${kept}`, { agentName: "Wren" })).answer.status, 201)
    const cases: ReadonlyArray<readonly [path: string, body: unknown, status: number, code: string]> = [
      ["witness", { commitment: newCommitment() }, 402, "payment_required"],
      ["witness", { commitment: "0".repeat(64) }, 422, "commitment_refused"],
      ["witness", { colour: "red" }, 400, "bad_request"],
      ["candles/day/rain-crow", { dedication: "see my-site.example.com" }, 422, "dedication_held"],
      [kept, { agentName: "Robin" }, 409, "already_kept"],
    ]
    const before = yield* rows
    for (const [path, body, status, code] of cases) {
      const keyed = yield* ask(`${url}/api/${path}`, post(body, { "idempotency-key": newKey() }))
      const unkeyed = yield* ask(`${url}/api/${path}`, post(body))
      assertAnswer(unkeyed, status, code, undefined, `${path}: ${unkeyed.text}`)
      assert.strictEqual(unkeyed.text, keyed.text)
      assert.strictEqual(unkeyed.headers.get("payment-required"), keyed.headers.get("payment-required"))
    }
    assert.deepStrictEqual(yield* rows, before)
  })

  it("a key must have the documented form", function* ({ url }) {
    for (const key of ["short", "has space in it", "x".repeat(129), "späte-schlüssel"]) {
      const answer = yield* ask(
        `${url}/api/witness`,
        post({ commitment: newCommitment() }, { "idempotency-key": Buffer.from(key).toString("latin1") }),
      )
      assertAnswer(answer, 400, "idempotency_key_invalid", undefined, key)
    }
  })

  it("the ceiling of a day counts settled and held stones, and frees what fails", function* ({ sql, url }) {
    const payer = yield* newPayer()
    const day = yield* today
    yield* sql`INSERT INTO payment_pools (name, drawn, highest) VALUES (${`witness:${day}`}, 4999, 4999)
        ON CONFLICT (name) DO UPDATE SET drawn = 4999, highest = 4999`
    const last = yield* pay(payer, `${url}/api/witness`, { commitment: newCommitment() })
    assert.strictEqual(last.answer.status, 201)
    const over = yield* ask(
      `${url}/api/witness`,
      post({ commitment: newCommitment() }, { "idempotency-key": newKey() }),
    )
    assertAnswer(over, 409, "witness_ceiling_today")
    assert.match(String(over.json["message"]), /This request charged nothing\.$/u)
    const replay = yield* ask(`${url}/api/witness`, post({ commitment: newCommitment() }, { ...last.headers }))
    assert.strictEqual(replay.json["code"], "idempotency_conflict")
    yield* sql`UPDATE payment_pools SET released = ARRAY[17] WHERE name = ${`witness:${day}`}`
    const freed = yield* pay(payer, `${url}/api/witness`, { commitment: newCommitment() })
    assert.strictEqual(freed.answer.status, 201)
    const [pool] = yield* sql<{ released: ReadonlyArray<number>; drawn: number }>`
        SELECT released, drawn FROM payment_pools WHERE name = ${`witness:${day}`}`
    assert.deepStrictEqual([pool?.released, pool?.drawn], [[], 17])
    yield* sql`UPDATE payment_pools SET highest = 10 WHERE name = ${`witness:${day}`}`
  })

  it("a malformed body is refused, and a name of 64 code points is not", function* ({ url }) {
    const commitment = newCommitment()
    const bad: ReadonlyArray<readonly [string, RequestInit, number]> = [
      ["not JSON", post("{"), 400],
      ["an array", post([]), 400],
      ["null", post("null"), 400],
      ["a number", post("7"), 400],
      ["no commitment", post({}), 400],
      ["an uppercase commitment", post({ commitment: commitment.toUpperCase().replace(/^./u, "A") }), 400],
      ["an extra property", post({ commitment, colour: "red" }), 400],
      ["an unknown kind", post({ commitment, kind: "wish" }), 400],
      ["an unknown spirit", post({ commitment, spirit: "moss-hair" }), 400],
      ["a name of 65 code points", post({ commitment, agentName: "😀".repeat(65) }), 400],
      ["an empty name", post({ commitment, agentName: "" }), 400],
      ["a NUL in a name", post({ commitment, agentName: "a\u0000b" }), 400],
      ["a lone surrogate", post(`{"commitment":"${commitment}","agentName":"\\ud800"}`), 400],
      ["a null name", post({ commitment, agentName: null }), 400],
      ["invalid UTF-8", { ...post(""), body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]) }, 400],
      ["another content type", { ...post({ commitment }), headers: { "content-type": "text/plain" } }, 415],
      ["a body of 1 MiB", post({ commitment, agentName: "x".repeat(1024 * 1024) }), 413],
    ]
    for (const [name, init, status] of bad) {
      const answer = yield* ask(`${url}/api/witness`, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init.headers)), "idempotency-key": newKey() },
      })
      assert.strictEqual(answer.status, status, `${name}: ${answer.text}`)
      assert.strictEqual(answer.json["ok"], false, name)
      assert.isString(answer.json["message"], name)
    }
    const good = yield* ask(
      `${url}/api/witness`,
      post({ commitment, agentName: "😀".repeat(64) }, { "idempotency-key": newKey() }),
    )
    assert.strictEqual(good.status, 402)
    const query = yield* ask(`${url}/api/witness?day=today`, post({ commitment }, { "idempotency-key": newKey() }))
    assertAnswer(query, 400, "bad_request")
  })
})
