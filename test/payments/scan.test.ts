/** The scan of transfers on a chain that a test writes, by nodes that lag, forget, limit, contradict or refuse. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import * as Transfers from "../../src/payments/x402/chain/Transfers.ts"
import type * as ScriptedChain from "../lab/ScriptedChain.ts"
import { longestLife, move, nonceOf, payment, scene, us, use, wallet } from "../lab/ScriptedChain.ts"
import { database, sql } from "../lab/Database.ts"
import { realClock } from "../lab/TestServices.ts"

type Scripted = ReturnType<typeof ScriptedChain.make>

const earlier = wallet(0xbb)

layer(Layer.provideMerge(sql, database), realClock)("the scan of transfers", (it) => {
  it.effect("starts the longest life of an authorization below the final block, and reads to the head", function* () {
    const { chain, cursor, transfers, scan } = yield* scene(2)
    chain.block(payment(1, 1, 1n))
    chain.empty(20)
    chain.block(payment(2, 2, 2n))
    chain.empty(5)
    chain.block(payment(3, 3, 3n))
    chain.block(payment(4, 4, 4n))
    yield* scan
    assert.deepStrictEqual(yield* cursor, [27, 30], "the newest block may still be filled")
    assert.deepStrictEqual(yield* transfers, ["final 2 in 24", "above 3 in 30"], "block 3 is older than any life")
    chain.empty(4)
    yield* scan
    assert.deepStrictEqual(yield* transfers, ["final 2 in 24", "final 3 in 30", "final 4 in 31"])
  })

  it.effect("reads each block twice, and asks for uses only of wallets that paid us", function* () {
    const { chain, scan } = yield* scene()
    yield* scan
    chain.questions()
    chain.empty(1)
    yield* scan
    assert.deepStrictEqual(chain.questions(), ["heads", "block", "transfers 1", "transfers 1"])
    chain.block(payment(1, 1))
    chain.empty(1)
    yield* scan
    assert.include(chain.questions(), "uses 1")
  })

  it.effect("ignores transfers of nothing, plain ones and other recipients; the receipt decides a gap", function* () {
    const { chain, transfers, scan } = yield* scene()
    const spent = use(wallet(5), nonceOf(5))
    chain.block(
      [use(wallet(1), nonceOf(1)), move(wallet(1), us, 0n)],
      [move(wallet(2), us, 2n)],
      payment(3, 3, 3n, earlier),
    )
    chain.block([spent, move(wallet(5), earlier, 5n), move(wallet(5), us, 5n)], payment(6, 6, 6n))
    chain.empty(1)
    yield* scan
    assert.deepStrictEqual(yield* transfers, ["above 6 in 32"])
  })

  it.effect("asks for the uses of at most 500 wallets at once", function* () {
    const { chain, transfers, scan } = yield* scene()
    chain.block(...Array.from({ length: 501 }, (_, index) => payment(1_000 + index, 1_000 + index)))
    chain.empty(1)
    yield* scan
    assert.includeMembers(chain.questions(), ["uses 500", "uses 1"])
    assert.strictEqual((yield* transfers).length, 501)
  })

  it.effect("keeps what a node without logs lacks in either of its two readings", function* () {
    const { chain, transfers, scan } = yield* scene()
    for (const [isFirst, then] of [
      [true, ["final 1 in 31"]],
      [false, ["final 1 in 31", "above 2 in 37"]],
    ] as const) {
      const one = then.length
      chain.block(payment(one, one, BigInt(one)))
      chain.empty(1)
      chain.lie({ forgets: isFirst })
      yield* scan
      chain.empty(4)
      chain.lie({ forgets: !isFirst })
      yield* scan
      assert.deepStrictEqual(yield* transfers, [...then])
    }
    chain.lie({})
    yield* scan
    assert.deepStrictEqual(yield* transfers, ["final 1 in 31", "final 2 in 37"])
  })

  it.effect.each<readonly [what: string, lie: (chain: Scripted) => ScriptedChain.Lies]>([
    [
      "whose blocks were replaced while it was read",
      (chain) => ({ afterLogs: () => (chain.replace(2), chain.lie({ final: 26 })) }),
    ],
    ["whose head went back while it was read", (chain) => ({ afterLogs: () => chain.lie({ final: 26, head: 30 }) })],
    ["whose logs came from a node that is behind", () => ({ logsHead: 30 })],
    ["that was refused for its rate, and asks no narrower question", () => ({ isBusy: true })],
  ])("does not count a range %s", function* ([, lie]) {
    const { chain, cursor, transfers, scan } = yield* scene()
    yield* scan
    const before = yield* cursor
    chain.block(payment(1, 1, 1n))
    chain.empty(1)
    chain.lie({ final: 26, ...lie(chain) })
    chain.questions()
    yield* Effect.ignore(scan)
    assert.isAtMost(chain.questions().filter((one) => one === "transfers 1").length, 1)
    assert.deepStrictEqual([yield* cursor, yield* transfers], [before, []])
    chain.lie({})
    chain.block(payment(2, 2, 2n))
    chain.empty(1)
    yield* scan
    assert.include((yield* transfers).join(), "above 2 in 33")
  })

  it.effect("drops what was read in blocks that were replaced, and reads the new ones", function* () {
    const { chain, transfers, scan } = yield* scene()
    chain.block(payment(1, 1, 1n))
    chain.block(payment(2, 2, 2n))
    chain.empty(1)
    yield* scan
    assert.deepStrictEqual(yield* transfers, ["above 1 in 31", "above 2 in 32"])
    chain.replace(3)
    chain.block(payment(2, 2, 2n))
    chain.empty(1)
    yield* scan
    assert.deepStrictEqual(yield* transfers, ["above 2 in 34"])
  })

  it.effect("keeps a transfer that another server sees while a final reading without it is committed", function* () {
    const { chain, client, transfers, rows, scan, token } = yield* scene()
    yield* scan
    chain.block(payment(1, 1, 1n))
    chain.empty(5)
    chain.lie({ forgets: true })
    const seen = client`
        INSERT INTO chain_transfers (name, network, asset, payer, nonce, pay_to, amount_atomic, transaction, block,
          block_hash, log_index, is_final)
        VALUES (${`seen:${token.network}`}, ${token.network}, ${token.asset}, '', '', '', 1, '', 31, ${nonceOf(0)}, 0, false)`
    const missing: typeof rows.missing = (range) => Effect.tap(rows.missing(range), Effect.orDie(seen))
    const racing = Transfers.make(chain.node, { ...rows, missing }, { payTo: us, longestLife, everyMillis: 0 })
    yield* racing.scan
    assert.deepStrictEqual(yield* transfers, ["above 1 in 31"])
  })

  it.effect("leaves everything as it is with a node that is behind or whose final head goes back", function* () {
    const { chain, cursor, transfers, scan } = yield* scene()
    chain.block(payment(1, 1, 1n))
    chain.empty(6)
    chain.block(payment(2, 2, 2n))
    chain.empty(1)
    yield* scan
    const before = [yield* cursor, yield* transfers]
    const behind = [{ head: 20 }, { head: 35, final: 33 }, { final: 25 }, { isBusy: true, final: 25 }]
    for (const lies of [...behind, { lacks: 38, forgets: true }]) {
      chain.lie(lies)
      yield* Effect.ignore(scan)
      assert.deepStrictEqual([yield* cursor, yield* transfers], before, JSON.stringify(lies))
    }
  })

  it.effect("reads final blocks again that were replaced, once a later scan agrees", function* () {
    const { chain, client, transfers, rows, scan, scannerOf } = yield* scene()
    chain.block(payment(1, 1, 1n))
    chain.empty(8)
    yield* scan
    assert.deepStrictEqual(yield* transfers, ["final 1 in 31"])
    chain.replace(10)
    chain.block(payment(1, 1, 7n))
    chain.empty(8)
    const hourly = Transfers.make(
      chain.node,
      { ...rows, cursor: () => rows.cursor(3_600_000) },
      { payTo: us, longestLife, everyMillis: 0 },
    )
    yield* hourly.scan
    yield* hourly.scan
    assert.deepStrictEqual(yield* transfers, ["final 1 in 31"], "one node may be on another branch")
    yield* client`UPDATE chain_scans SET doubted_at = doubted_at - interval '2 hours'`
    yield* scannerOf().scan
    assert.deepStrictEqual(yield* transfers, ["final 7 in 40"])
  })

  it.effect("narrows its ranges for a node with a limit, and ends at its bound on questions", function* () {
    const { chain, cursor, transfers, scan } = yield* scene(10)
    yield* scan
    chain.empty(2_000)
    chain.block(payment(1, 1, 1n))
    chain.empty(10)
    chain.lie({ logRange: 10 })
    chain.questions()
    yield* scan
    const asked = chain.questions()
    assert.isBelow(asked.length, 2 * Transfers.questionsAtMost + 20)
    const [final = 0, head = 0] = yield* cursor
    assert.isAbove(final, 250)
    assert.strictEqual(head, 2_020, "new payments do not wait for old blocks")
    for (let scans = 0; scans < 12; scans += 1) yield* scan
    assert.deepStrictEqual(yield* transfers, ["final 1 in 2011"])
  })

  it.effect("leaves out a single block whose logs are too large for the node", function* () {
    const { chain, transfers, scan } = yield* scene()
    chain.block(payment(1, 1, 1n))
    chain.empty(8)
    chain.lie({ logRange: 0, isLarge: true })
    for (let scans = 0; scans < 3; scans += 1) yield* scan
    chain.lie({})
    chain.block(payment(2, 2, 2n))
    chain.empty(1)
    yield* scan
    assert.include(yield* transfers, "above 2 in 40")
  })

  it.effect("leaves out no block for another reason, nor one with a transfer that was seen", function* () {
    const { chain, cursor, transfers, scan } = yield* scene()
    chain.block(payment(1, 1, 1n))
    chain.empty(1)
    yield* scan
    chain.empty(4)
    const before = yield* cursor
    chain.lie({ logRange: 0 })
    yield* Effect.flip(scan)
    assert.deepStrictEqual(yield* cursor, before)
    chain.lie({ logRange: 0, isLarge: true })
    for (let scans = 0; scans < 3; scans += 1) yield* Effect.ignore(scan)
    assert.deepStrictEqual(yield* transfers, ["above 1 in 31"])
    chain.lie({})
    yield* scan
    assert.deepStrictEqual(yield* transfers, ["final 1 in 31"])
  })

  it.effect("reads an authorization's last life again for another paid wallet, and both from then on", function* () {
    const { chain, transfers, scan, scannerOf } = yield* scene()
    chain.block(payment(1, 1, 1n), payment(2, 2, 2n, earlier))
    chain.empty(8)
    yield* scan
    assert.deepStrictEqual(yield* transfers, ["final 1 in 31"])
    const { scan: next } = scannerOf(earlier)
    yield* next
    assert.deepStrictEqual(yield* transfers, ["final 1 in 31", "final 2 in 31"])
    chain.block(payment(3, 3, 3n), payment(4, 4, 4n, earlier))
    chain.empty(1)
    yield* next
    assert.sameMembers((yield* transfers).slice(2), ["above 3 in 40", "above 4 in 40"])
  })

  it.effect("may be made by several servers at once", function* () {
    const { chain, cursor, transfers, scan, scannerOf } = yield* scene()
    yield* scan
    for (let one = 1; one <= 40; one += 1) chain.block(payment(one, one, BigInt(one)))
    chain.lie({ logRange: 7 })
    const servers = Array.from({ length: 4 }, () => scannerOf().scan)
    for (let times = 0; times < 4; times += 1) yield* Effect.all(servers, { concurrency: "unbounded" })
    assert.deepStrictEqual(yield* cursor, [66, 69])
    assert.strictEqual(new Set(yield* transfers).size, 39)
  })

  it.effect("is made once in its interval by all servers together", function* () {
    const { chain, client, rows, scan, token } = yield* scene()
    yield* scan
    const server = () => Transfers.make(chain.node, rows, { payTo: us, longestLife, everyMillis: 20_000 }).scan
    for (const [seconds, made] of [
      [0, 1],
      [0, 0],
      [10, 0],
      [10, 1],
    ] as const) {
      yield* client`
        UPDATE chain_scans SET due_at = due_at - ${seconds}::int * interval '1 second' WHERE network = ${token.network}`
      const turns = yield* Effect.all([server(), server(), server()], { concurrency: "unbounded" })
      assert.strictEqual(turns.filter(Boolean).length, made)
    }
  })
})
