/** Many at once: one charge and one row each, gapless, and as much money on the chain as there are rows; on two servers. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { parseAbiItem } from "viem"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { ask, layer as world, newCommitment, newKey, newPayer, post } from "../lab/Fixture.ts"
import { chainClient } from "../lab/Chain.ts"
import { challengeOf, encode, sign } from "../lab/buyer/Payment.ts"
import { loopback } from "../lab/server/Rooms.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { assert, assertNone, suite } from "../lab/Suites.ts"

const transfers = Effect.gen(function* () {
  const chain = yield* LocalChain
  const logs = yield* Effect.promise(() =>
    chainClient(chain.rpcUrl).getLogs({
      address: chain.asset,
      event: parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)"),
      args: { to: chain.payTo },
      fromBlock: 0n,
    }),
  )
  return { count: logs.length, sum: logs.reduce((sum, log) => sum + (log.args.value ?? 0n), 0n) }
})

const rows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{
    acts: bigint
    settled: bigint
    sum: string | null
    stones: bigint
    highest: bigint | null
  }>`
    SELECT (SELECT count(*) FROM acts) AS acts, (SELECT count(*) FROM witness_stones) AS stones,
      (SELECT max(sequence) FROM witness_stones) AS highest,
      (SELECT count(*) FROM payment_attempts WHERE state = 'settled') AS settled,
      (SELECT sum(amount_atomic)::text FROM payment_attempts WHERE state = 'settled') AS sum`
  if (row === undefined) return yield* Effect.die("no counts")
  return row
})

/** The law that holds at any quiet moment. */
const conserved = Effect.gen(function* () {
  const [chain, ledger] = yield* Effect.all([transfers, rows])
  assert.strictEqual(BigInt(chain.count), ledger.acts)
  assert.strictEqual(chain.sum, BigInt(ledger.sum ?? "0"))
  assert.strictEqual(ledger.acts, ledger.settled)
  assert.strictEqual(ledger.stones, ledger.acts)
  assert.strictEqual(ledger.highest ?? 0n, ledger.stones)
  return ledger
})

/** Asks until nothing is pending any more. */
const untilEnded = (url: string, key: string) =>
  Effect.repeat(ask(`${url}/api/reconcile/${key}`, { method: "POST" }), {
    until: (answer) => answer.status !== 202,
    times: 100,
  })

const prepare = Effect.fnUntraced(function* (url: string, key: string, body: object) {
  const payer = yield* newPayer()
  const challenge = challengeOf(yield* ask(`${url}/api/witness`, post(body, { "idempotency-key": key })))
  return encode(yield* sign(payer, challenge.accepts[0], challenge.resource))
})

suite("of concurrent requests for stones,", world({}, undefined, { trustedProxies: loopback }), (it) => {
  it("200 with one key make one charge and one row", function* ({ url }) {
    const second = yield* anotherServer({}, { trustedProxies: loopback })
    const before = yield* conserved
    const key = newKey()
    const body = { commitment: newCommitment() }
    const signature = yield* prepare(url, key, body)
    const answers = yield* Effect.forEach(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? url : second)),
      (server) => ask(`${server}/api/witness`, post(body, { "idempotency-key": key, "payment-signature": signature })),
      { concurrency: "unbounded" },
    )
    const statuses = Map.groupBy(answers, (answer) => answer.status)
    assert.strictEqual(statuses.get(201)?.length, 1)
    assertNone([...statuses.keys()], (status) => ![200, 201, 202].includes(status))
    const end = yield* untilEnded(url, key)
    assert.strictEqual(end.status, 200)
    for (const replayed of statuses.get(200) ?? []) assert.strictEqual(replayed.text, end.text)
    assert.strictEqual((yield* conserved).acts, before.acts + 1n)
  })

  it("200 with different keys and one authorization are charged once, and the others are refused", function* ({ url }) {
    const second = yield* anotherServer({}, { trustedProxies: loopback })
    const before = yield* conserved
    const body = { commitment: newCommitment() }
    const signature = yield* prepare(url, newKey(), body)
    const answers = yield* Effect.forEach(
      Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? url : second)),
      (server, index) =>
        ask(
          `${server}/api/witness`,
          post(body, {
            "idempotency-key": newKey(),
            "payment-signature": signature,
            // Each from an address of its own: refused payments are limited by address.
            "x-forwarded-for": `198.51.100.${index}`,
          }),
        ),
      { concurrency: "unbounded" },
    )
    const ended = Map.groupBy(answers, (answer) => `${answer.status} ${String(answer.json["code"] ?? "")}`)
    assert.strictEqual(ended.get("201 ")?.length, 1, JSON.stringify([...ended].map(([k, v]) => [k, v.length])))
    assert.strictEqual(ended.get("409 payment_authorization_already_bound")?.length, 199)
    const after = yield* conserved
    assert.strictEqual(after.acts, before.acts + 1n)
  })
})
