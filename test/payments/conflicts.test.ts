/** The 409s of a paid request, and what a key, a body and a clock decide before money does. */
import { ask, layer as world, newCommitment, newKey, newPayer, pay, post } from "../lab/Fixture.ts"
import { written } from "../lab/buyer/Purchase.ts"
import { assert, assertAnswer, suite } from "../lab/Suites.ts"

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

  it("an unpaid request without a key is priced like a keyed one, and reserves nothing", function* ({ url }) {
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
    const before = yield* written
    for (const [path, body, status, code] of cases) {
      const keyed = yield* ask(`${url}/api/${path}`, post(body, { "idempotency-key": newKey() }))
      const unkeyed = yield* ask(`${url}/api/${path}`, post(body))
      assertAnswer(unkeyed, status, code, undefined, `${path}: ${unkeyed.text}`)
      assert.strictEqual(unkeyed.text, keyed.text)
      assert.strictEqual(unkeyed.headers.get("payment-required"), keyed.headers.get("payment-required"))
    }
    assert.strictEqual((yield* ask(`${url}/api/witness`, { method: "POST" })).status, 402, "a bare probe")
    assert.deepStrictEqual(yield* written, before)
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

  it("a body must have the documented form, with a name of 1 to 64 code points", function* ({ url }) {
    const commitment = newCommitment()
    for (const [change, status] of [
      [{ agentName: "😀".repeat(64) }, 402],
      [{ agentName: "😀".repeat(65) }, 400],
      [{ agentName: "" }, 400],
      [{ agentName: null }, 400],
      [{ commitment: "A".repeat(64) }, 400],
      [{ kind: "wish" }, 400],
      [{ spirit: "moss-hair" }, 400],
    ] as const) {
      const asked = post({ commitment, ...change }, { "idempotency-key": newKey() })
      assert.strictEqual((yield* ask(`${url}/api/witness`, asked)).status, status, JSON.stringify(change))
    }
  })
})
