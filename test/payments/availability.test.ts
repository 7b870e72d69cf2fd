/** While no payment is possible, no caller gets an offer or a fault. A facilitator that goes away afterwards loses nothing. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, Fiber, Layer, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { parseEther } from "viem"
import type { SqlError } from "effect/sql/SqlError"
import { facilitated, onServer, relayed, relayedInFiveSeconds } from "../lab/server/Live.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { proxiedServer, type SettledBy, type Stage } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { type Answer, ask, becomes, newCommitment, newKey, post, Proxies, TestServer } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { assertAnswer } from "../lab/Assertions.ts"
import { usdcOwner } from "../lab/buyer/ThirdParty.ts"
import { paymentFixture, signedFixture } from "../lab/buyer/PaymentFixture.ts"

const facilitatedAndSwept = onServer(proxiedServer("facilitator", "1 second", "200 millis"))

const assertRefused = (answer: Answer, code: string, wait: string, message: RegExp) => {
  assertAnswer(answer, 503, code)
  assert.strictEqual(answer.headers.get("retry-after"), wait)
  assert.match(String(answer.json["message"]), message)
}

const notConfirmed =
  /^The facilitator does not confirm .* Send the same request again later\. This request charged nothing\.$/u

interface Trouble {
  readonly what: string
  /** The relayer by default. */
  readonly settledBy?: SettledBy
  readonly begin: Effect.Effect<unknown, SqlError, Stage>
  readonly end: Effect.Effect<unknown, SqlError, Stage>
  /** The message of a refusal. `paid` is that of a request with a payment, if it differs. */
  readonly message: RegExp
  readonly paid?: RegExp
  /** Code and wait of a refusal, and the state in the probes. By default a settlement that fails. */
  readonly refusal?: readonly [code: string, wait: string, payments: "paused"]
  /** The payments in `/api/health`; absent where the obstacle has the message of a refusal. */
  readonly told?: object
}

const pause = (reason: string | null) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`UPDATE payment_pause SET reason = ${reason}, since = CASE WHEN ${reason}::text IS NOT NULL THEN now() END`,
  )
const gas = (value: bigint) =>
  Effect.flatMap(Purchase.relayer, (address) => Purchase.onChain((client) => client.setBalance({ address, value })))
const receiver = (name: "blacklist" | "unBlacklist") =>
  Effect.flatMap(LocalChain, ({ payTo }) => usdcOwner([name, payTo]))

const troubles: ReadonlyArray<Trouble> = [
  {
    what: "the node fails, with a relayer",
    begin: Effect.map(Proxies, ({ rpc }) => void rpc.arm("*", "status500")),
    end: Effect.flatMap(Proxies, ({ rpc }) => rpc.calm),
    message: /^The node .* does not answer/u,
    paid: /^The payment network is unreachable now\. .* This request charged nothing\.$/u,
  },
  {
    what: "the operator has paused sales",
    begin: pause("stock-taking"),
    end: pause(null),
    message: /^The operator has paused sales/u,
    refusal: ["selling_paused", "60", "paused"],
    told: { settlement: "ok", obstacle: null },
  },
  {
    what: "the token is paused",
    begin: usdcOwner(["pause"]),
    end: usdcOwner(["unpause"]),
    message: /paused all transfers/u,
  },
  {
    what: "the receiving wallet is blocked",
    begin: receiver("blacklist"),
    end: receiver("unBlacklist"),
    message: /blocked the wallet that receives/u,
  },
  {
    what: "the relayer has no gas",
    begin: gas(1n),
    end: gas(parseEther("1")),
    message: /This request charged nothing\.$/u,
    told: { settlement: "failing" },
  },
  {
    what: "the facilitator does not answer",
    settledBy: "facilitator",
    begin: Effect.map(Proxies, ({ facilitator }) => void facilitator.arm("supportedHold")),
    end: Effect.flatMap(Proxies, ({ facilitator }) => facilitator.calm),
    message: notConfirmed,
    told: { settlement: "failing" },
  },
]

describe.concurrent("while every payment would be refused", () => {
  for (const { begin, end, message, paid = message, refusal, settledBy = "relayer", told, what } of troubles) {
    it.live(`because ${what}, the server claims nothing, tells probes why, and settles the same payment later`, () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const earlier = yield* Purchase.prepare()
        assert.strictEqual((yield* Purchase.send(earlier)).status, 201)
        const purchase = yield* Purchase.prepare()
        // The answer to a bare request is cached, and must change all the same.
        assert.strictEqual((yield* ask(`${url}/api/witness`, { method: "POST" })).status, 402)
        yield* begin
        const [code, wait, state] = refusal ?? ["facilitator_unavailable", "5", "failing"]
        const ready = yield* becomes(`${url}/readyz`, 503)
        assert.deepInclude(ready.json, { ready: false, database: "ok", payments: state })
        const body = { commitment: newCommitment() }
        for (const init of [{ method: "POST" }, post(body), post(body, { "idempotency-key": newKey() })])
          assertRefused(yield* ask(`${url}/api/witness`, init), code, wait, message)
        // A pause is the operator's own act and no fault.
        const isPause = state === "paused"
        const health = yield* becomes(`${url}/api/health`, isPause ? 200 : 503)
        assert.strictEqual(health.json["ok"], isPause)
        const payments = Object(health.json["payments"])
        assert.strictEqual(isPause, typeof payments.pausedSince === "string")
        assert.deepInclude(payments, { state, ...told })
        if (told === undefined) assert.match(String(payments.obstacle), message)
        // The free routes work.
        yield* becomes(`${url}/readyz?for=reads`, 200)
        assert.strictEqual((yield* ask(`${url}/readyz?for=sales`)).status, 400)
        assert.strictEqual((yield* ask(`${url}/api/witness`)).status, 200)
        const refused = yield* Purchase.send(purchase)
        assertRefused(refused, code, wait, paid)
        assert.match(refused.text, /This request charged nothing\./u)
        assert.strictEqual((yield* Purchase.send(earlier)).status, 200, "what is settled replays")
        assert.strictEqual((yield* Purchase.written).attempts, 1, "nothing is claimed")
        yield* end
        yield* becomes(`${url}/readyz`, 200)
        assert.deepInclude((yield* becomes(`${url}/api/health`, 200)).json["payments"], {
          state: "ready",
          obstacle: null,
        })
        assert.strictEqual((yield* Purchase.send(purchase)).status, 201)
        yield* Purchase.assertSettled(purchase)
      }).pipe(Effect.provide(proxiedServer(settledBy, "5 seconds"))),
    )
  }

  relayedInFiveSeconds("because the database is away, the server says so by its code, and sells again", function* () {
    const { url } = yield* TestServer
    const { database } = yield* Proxies
    database.refuse(true)
    database.cutAll()
    const answers = Effect.forEach(
      [
        { method: "POST" },
        post({ commitment: newCommitment() }),
        post({ commitment: newCommitment() }, { "idempotency-key": newKey() }),
      ],
      (init) => ask(`${url}/api/witness`, init),
    )
    const refused = yield* answers.pipe(
      until("an offer is still made", (all) => all.every(({ status }) => status === 503)),
    )
    for (const answer of refused) {
      assertAnswer(answer, 503, "unavailable")
      assert.notMatch(answer.text, /facilitator|payment network/u)
    }
    const { json } = yield* becomes(`${url}/api/health`, 503)
    assert.deepInclude(json, { database: "failing" })
    assert.notMatch(String(Object(json["payments"]).obstacle), /facilitator|node/u)
    database.refuse(false)
    yield* becomes(`${url}/readyz`, 200)
    yield* Purchase.buy()
  })

  relayed("the server refuses a blocked payer alone and sells to every other", function* () {
    const { purchase } = yield* signedFixture
    yield* usdcOwner(["blacklist", purchase.payer.address])
    const refused = yield* Purchase.send(purchase)
    assertAnswer(refused, 402, "payment_invalid")
    yield* Purchase.buy()
  })
})

/** Probes until four inquiries have met the obstacle, and counts its lines in the log. */
const countLines = Effect.fnUntraced(function* (
  message: string,
  settledBy: SettledBy,
  begin: Effect.Effect<{ readonly looks: () => number }, SqlError, Stage>,
) {
  const lines: Array<unknown> = []
  const logger = Logger.make<unknown, void>(
    ({ message }) => void lines.push(Array.isArray(message) ? message[0] : message),
  )
  const probing = Effect.gen(function* () {
    const { url } = yield* TestServer
    const { looks } = yield* begin
    yield* Effect.andThen(ask(`${url}/readyz`), Effect.sync(looks)).pipe(
      until("it is not asked", (count) => count >= 4),
    )
  })
  yield* Effect.provide(probing, Layer.provideMerge(proxiedServer(settledBy), Logger.layer([logger])))
  return lines.filter((line) => line === message).length
})

describe.concurrent("a settlement that stays impossible is logged once", () => {
  it.live("by a relayer without gas", function* () {
    const begin = Effect.gen(function* () {
      const { rpc } = yield* Proxies
      let count = 0
      yield* gas(1n)
      rpc.arm("eth_getBalance", "holdBefore", () => ((count += 1), false))
      return { looks: () => count }
    })
    assert.strictEqual(yield* countLines("relayer out of gas", "relayer", begin), 1)
  })

  it.live("by a facilitator that refuses us", function* () {
    const begin = Effect.gen(function* () {
      const { facilitator } = yield* Proxies
      let count = 0
      const again: Effect.Effect<void> = Effect.suspend(() => {
        const { arrived, end } = facilitator.arm("supportedUnauthorized")
        return Effect.andThen(
          arrived,
          Effect.suspend(() => ((count += 1), end(), again)),
        )
      })
      yield* Effect.forkDetach(Effect.ignoreCause(again))
      return { looks: () => count }
    })
    assert.strictEqual(yield* countLines("facilitator unavailable", "facilitator", begin), 1)
  })
})

/** It was claimed an hour ago, and is due. */
const anHourLater = Effect.fnUntraced(function* ({ key }: Purchase.Purchase) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE payment_attempts SET next_check_at = now(), accepted_at = accepted_at - interval '1 hour'
    WHERE idempotency_key = ${key}`.pipe(Effect.orDie)
})

describe.concurrent("after the claim, a facilitator that", () => {
  facilitated("accepts no connection received nothing, so the attempt ends at once", function* () {
    const { database, facilitator, purchase, url } = yield* signedFixture
    const another = yield* Purchase.prepare()
    // The facilitator leaves while its last answer is cached, so the server does not ask it again.
    yield* becomes(`${url}/readyz`, 200)
    const intent = database.arm(/INSERT INTO payment_attempts/u, "holdBefore")
    const request = yield* Purchase.sendInto(intent, purchase)
    yield* facilitator.leave
    yield* database.calm
    yield* intent.release
    const answer = yield* Fiber.join(request)
    assertAnswer(answer, 402, "payment_failed", "facilitator_unreachable")
    assert.match(
      String(answer.json["message"]),
      /^The facilitator .* not submitted\. It was not charged so far\. .* start again with a new Idempotency-Key\.$/u,
    )
    assert.strictEqual(facilitator.requests(), 0)
    assertRefused(yield* Purchase.send(another), "facilitator_unavailable", "5", notConfirmed)
    yield* facilitator.comeBack
    yield* becomes(`${url}/readyz`, 200)
    yield* Purchase.assertFailed(purchase, "facilitator_unreachable")
  })

  facilitatedAndSwept("refused a payment, named its transaction or made no sense does not get it again", function* () {
    const { facilitator } = yield* paymentFixture
    const faults = ["refuseBefore", "imagineBefore", "nonsenseBefore"] as const
    const purchases = yield* Effect.forEach(faults, () => Purchase.prepare())
    for (const [index, fault] of faults.entries()) {
      const purchase = purchases[index] ?? assert.fail()
      facilitator.arm(fault)
      Purchase.assertPending(purchase, yield* Purchase.send(purchase))
    }
    yield* facilitator.calm
    for (const purchase of purchases) {
      yield* Effect.andThen(anHourLater(purchase), Purchase.attemptOf(purchase)).pipe(
        until("no sweep inquires", (attempt) => (attempt?.checks ?? 0) >= 4, 60),
      )
    }
    assert.strictEqual(facilitator.requests(), 3)
  })
})
