/** Wallets that empty themselves while their payments are on their way: few are in flight, and they hold and cost little. */
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import type { PrivateKeyAccount } from "viem/accounts"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as QueuedPayments from "../lab/buyer/QueuedPayments.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { Proxies } from "../lab/TestServices.ts"
import { empty } from "../lab/buyer/ThirdParty.ts"
import { type Answer, ask, newKey, newPayer, post, signedFor } from "../lab/Fixture.ts"
import { apart, assert } from "../lab/Suites.ts"

const patient = proxiedServer("relayer", "20 seconds")

/** A keeper to be bought by this wallet, within ten minutes of the chain's own time. */
const prepare = Effect.fnUntraced(function* (url: string, spirit: string, payer: PrivateKeyAccount) {
  const path = `/api/acquire/${spirit}`
  const validBefore = String(Math.floor(Date.now() / 1000) + 580)
  const { headers, key, payment } = yield* signedFor(payer, `${url}${path}`, undefined, newKey(), { validBefore })
  const { authorization, signature } = payment.payload
  return { key, payer, path, headers, nonce: authorization.nonce, signature, validBefore }
})

type Keeping = Effect.Success<ReturnType<typeof prepare>>

const buy = (url: string, { headers, path }: Keeping) => ask(`${url}${path}`, post({}, headers))

const codeOf = ({ json, status }: Answer) => `${status} ${String(json["reason"] ?? json["code"] ?? "")}`

const counted = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ pending: number; keepers: number; lost: number; refused: number }>`
    SELECT (SELECT count(*)::int FROM payment_attempts WHERE state = 'pending') AS pending,
      (SELECT count(*)::int FROM payment_claims WHERE name LIKE 'keeper:%') AS keepers,
      (SELECT COALESCE(sum(lost_gas), 0)::int FROM payment_payers) AS lost,
      (SELECT count(*)::int FROM payment_payers WHERE refused_until > now()) AS refused`,
).pipe(
  Effect.orDie,
  Effect.map(([row]) => row ?? { pending: 0, keepers: 0, lost: 0, refused: 0 }),
)

/** Buys all of these at once while the relayer is busy, and moves the wallet's money while their group is on its way. */
const attack = Effect.fnUntraced(function* (url: string, spirits: ReadonlyArray<string>) {
  const { rpc } = yield* Proxies
  const payer = yield* newPayer(BigInt(spirits.length) * Purchase.price)
  const wanted = yield* Effect.forEach(spirits, (spirit) => prepare(url, spirit, payer), { concurrency: 5 })
  const before = yield* counted
  const busy = yield* Purchase.prepare(url)
  const first = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) => params.includes(busy.nonce.slice(2)))
  const other = yield* Purchase.sendInto(first, url, busy)
  const group = rpc.arm("eth_sendRawTransaction", "holdBefore", (params) =>
    wanted.some(({ nonce }) => params.includes(nonce.slice(2))),
  )
  let refusals = 0
  const buying = yield* Effect.forkScoped(
    Effect.forEach(
      wanted,
      (one) =>
        Effect.tap(buy(url, one), ({ status }) =>
          Effect.sync(() => {
            if (status !== 202) refusals += 1
          }),
        ),
      { concurrency: "unbounded" },
    ),
  )
  yield* QueuedPayments.eventually(
    "answered or in flight",
    counted,
    ({ pending }) => pending - before.pending - 1 + refusals === wanted.length,
  )
  const inFlight = (yield* counted).pending - before.pending - 1
  yield* ask(`${url}/api/health`)
  yield* first.release
  yield* group.arrived
  yield* empty(payer)
  yield* group.release
  yield* Fiber.join(other)
  const answers = yield* Fiber.join(buying)
  return { payer, wanted, answers, inFlight }
})

const finalNow = Purchase.mine(3)

apart("a new wallet that buys 24 keepers with 24 cents and empties itself", patient, (it) => {
  it("has five in flight until their gas loss is final, and blocks no other wallet", function* ({ url }) {
    const { answers, inFlight, payer, wanted } = yield* attack(url, spiritIds)
    assert.strictEqual(inFlight, 5)
    const codes = Map.groupBy(answers, codeOf)
    assert.deepStrictEqual([...codes].map(([code, all]) => [code, all.length]).sort(), [
      ["202 settlement_pending", 5],
      ["409 reconcile_required", 19],
    ])
    assert.match(
      String(codes.get("409 reconcile_required")?.[0]?.json["message"]),
      /^A wallet may have 5 payments in flight here, as many again for each that it has paid, and 64 at most\. .*The limit of this wallet is 5 now\. .* This request charged nothing\.$/u,
    )
    const held = wanted.filter((_, index) => answers[index]?.status === 202)
    const [one] = held
    if (one === undefined) return assert.fail()
    assert.strictEqual((yield* counted).keepers, 5)

    // The first look at one of them counts the gas of all, to the last unit, and refuses the wallet.
    Purchase.assertPending(url, one, yield* Purchase.reconcile(url, one))
    const burnt = yield* QueuedPayments.gasOf(held)
    assert.isBelow(burnt, 300_000)
    assert.deepInclude(yield* counted, { lost: burnt, refused: 1 })
    yield* Effect.flatMap(LocalChain, ({ fund }) => fund(payer.address, Purchase.price))
    const again = yield* buy(url, yield* prepare(url, wanted[0]?.path.split("/").at(-1) ?? "", payer))
    assert.include(["402 wallet_did_not_pay", "409 keeper_slot_taken"], codeOf(again))
    yield* Effect.andThen(empty(payer), finalNow)

    // Other wallets buy at the same time: a stone, and a free keeper.
    const honest = yield* newPayer()
    const free = wanted.find((_, index) => answers[index]?.status === 409)
    assert.strictEqual((yield* Purchase.send(url, yield* Purchase.prepare(url, undefined, honest))).status, 201)
    const spiritOf = ({ path }: Keeping) => path.split("/").at(-1) ?? ""
    const kept = yield* buy(url, yield* prepare(url, free === undefined ? "" : spiritOf(free), honest))
    assert.strictEqual(kept.status, 201, kept.text)

    // Two looks, a sweep apart, end each of them, long before its authorization ends.
    for (const each of held) {
      assert.strictEqual((yield* Purchase.secondInquiry(url, each)).status, 402)
      const failed = yield* Purchase.reconcile(url, each)
      assert.strictEqual(codeOf(failed), "402 wallet_could_not_pay")
      assert.match(
        String(failed.json["message"]),
        /held less USDC than the price\..* recorded for the operator\. .* This request charged nothing; until its validBefore/u,
      )
    }
    const now = yield* Purchase.onChain((client) => client.getBlock())
    assert.isBelow(Number(now.timestamp), Number(one.validBefore) - 300)
    assert.deepInclude(yield* counted, { pending: 0, keepers: 1, lost: burnt })
    const next = yield* buy(url, yield* prepare(url, spiritOf(one), honest))
    assert.strictEqual(next.status, 201, next.text)
    assert.strictEqual(yield* QueuedPayments.gasOf(held), burnt, "nothing more was paid for")
  })

  it("leaves later new wallets one payment in flight while gas losses are high, or none", function* ({ sql, url }) {
    const lose = (gas: number) => sql`
        INSERT INTO payment_payers AS p (name, refused_until, refusal, lost_gas)
        VALUES ('0x0', now() + interval '1 hour', 'wallet_did_not_pay', ${gas}::bigint)
        ON CONFLICT (name) DO UPDATE SET lost_gas = excluded.lost_gas`
    yield* lose(5_000_000)
    const payer = yield* newPayer()
    const [one, other] = [
      yield* Purchase.prepare(url, undefined, payer),
      yield* Purchase.prepare(url, undefined, payer),
    ]
    yield* Purchase.automine(false)
    const open = yield* Effect.forkScoped(Purchase.send(url, one))
    yield* QueuedPayments.eventually("claimed", counted, ({ pending }) => pending === 1)
    assert.match(
      String((yield* Purchase.send(url, other)).json["message"]),
      /or, before its first payment, while such failures cost this server much gas\. The limit of this wallet is 1 now\./u,
    )
    yield* Purchase.mineAll
    assert.strictEqual((yield* Fiber.join(open)).status, 201)
    yield* lose(15_000_000)
    const stranger = yield* Purchase.prepare(url)
    const refused = yield* Purchase.send(url, stranger)
    assert.strictEqual(codeOf(refused), "402 wallet_never_paid", refused.text)
    assert.match(
      String(refused.json["message"]),
      /accepts only wallets that have paid here before .* This request charged/u,
    )
    assert.isUndefined(yield* Purchase.attemptOf(stranger), "nothing is claimed")
    assert.strictEqual((yield* Purchase.send(url, other)).status, 201, "a wallet that has paid is taken")
  })
})
