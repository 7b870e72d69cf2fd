/** `verify` against an altar that lies: node, token, payee, words and log are not its own to choose. */
import { join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Result } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Payments from "../../src/cli/verify/Payments.ts"
import { signer } from "../lab/log/LogFixture.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { json, serve } from "../lab/proxy/HttpServer.ts"
import { altar, node, paid, type Receipt, verify, word } from "../lab/VerifiedAltar.ts"
import { address } from "../lab/TransferLogs.ts"
import { realClock } from "../lab/TestServices.ts"
import { newFolder } from "../lab/Folders.ts"

layer(NodeServices.layer, realClock)("verification of payments", (it) => {
  const fault = Effect.fnUntraced(function* (receipts: ReadonlyArray<Receipt>, rpc: string, ...payTo: Array<string>) {
    return (yield* verify(yield* altar({ receipts }), { rpc, payTo })).fault
  })
  const unheld = /^CheckFailed: BROKEN at stone 1: .* does not hold the payment$/u

  it.effect("accepts USDC of the network whose node was named, to one address or the named ones", function* () {
    const { url: rpc } = yield* node()
    const whole = [paid("a"), paid("a")]
    for (const payTo of [[], [address("a").toUpperCase().replace("X", "x")]]) {
      const { output } = yield* verify(yield* altar({ receipts: whole }), { rpc, payTo, json: true })
      assert.deepInclude(JSON.parse(output), { ok: true, stones: 2, payTo: [address("a")], payments: "checked" })
    }
    assert.match(
      yield* fault(whole, rpc, address("b")),
      /^CheckFailed: BROKEN at stone 1: it was paid to 0xa+, not to 0xb+\. /u,
    )
    const moved = [paid("a"), paid("b")]
    assert.match(yield* fault(moved, rpc), /^CheckFailed: BROKEN at stone 2: it was paid to 0xb+/u)
    assert.strictEqual(yield* fault(moved, rpc, address("a"), address("b")), "none")
    const worthless = [paid("a"), paid("a", address("9"))]
    assert.match(yield* fault(worthless, rpc), /^CheckFailed: BROKEN at stone 2: .*names the token 0x9+/u)
    const strange = yield* node({ chainId: "0x7a69" })
    assert.match(yield* fault(whole, strange.url), /is a node of eip155:31337, which altars do not use/u)
  })

  it.effect("ignores the altar's own node, unless it is a sandbox on this machine", function* () {
    const { requests, url } = yield* node()
    /** The same server by an address that is not known to be this machine. */
    const elsewhere = (here: string) => here.replace("127.0.0.1", "[::ffff:127.0.0.1]")
    const here = yield* altar({ sandbox: url })
    assert.strictEqual((yield* verify(here)).fault, "none")
    assert.strictEqual(requests.times, 2)
    assert.strictEqual((yield* verify(elsewhere(here))).fault, "none")
    assert.strictEqual((yield* verify(yield* altar({ sandbox: elsewhere(url) }))).fault, "none")
    assert.strictEqual(requests.times, 2)
    const pinned = yield* verify(yield* altar({}), { payTo: [address("a")] })
    assert.match(pinned.fault, /name the network's RPC with --rpc/u)
  })

  it.effect("requires the listed price, whatever a receipt and a log say", function* () {
    const priced = Effect.fnUntraced(function* (amountAtomic: string, data: string) {
      return yield* fault([{ ...paid("a"), amountAtomic }], (yield* node({ data })).url)
    })
    // A transfer of nothing needs no leave of the wallet that it names.
    for (const amount of [0n, 1n, 20_000n]) {
      assert.strictEqual(
        yield* priced(String(amount), word(amount)),
        `CheckFailed: BROKEN at stone 1: its receipt names ${amount} atomic USDC, and a stone costs 10000`,
      )
      assert.match(yield* priced("10000", word(amount)), unheld)
    }
    assert.match(yield* priced("x", word(10_000n)), /^CheckFailed: BROKEN at stone 1: its receipt names x atomic USDC/u)
    assert.match(yield* priced("10000", "0x"), unheld)
  })

  it.effect("accepts a stone at each price that the contract ever listed, and at no other", function* () {
    const prices = Payments.pricesOf({ priceAtomic: 20_000n, formerPrices: [10_000n] })
    const stone = { sequence: 1, id: "stone-1", transaction: StaticLog.transactionOf(1), payer: address("1") }
    const checked = Effect.fnUntraced(
      function* (amountAtomic: string, transferred: bigint) {
        const url = yield* altar({ receipts: [{ ...paid("a"), amountAtomic }] })
        const payments = yield* Payments.make(url, (yield* node({ data: word(transferred) })).url, [], prices)
        return yield* Effect.result(payments.check([stone]))
      },
      Effect.provide(FetchHttpClient.layer),
      Effect.scoped,
    )
    for (const [amount, holds] of [
      [20_000n, true],
      [10_000n, true],
      [15_000n, false],
    ] as const) {
      const said = yield* checked(String(amount), amount)
      assert.strictEqual(Result.isSuccess(said), holds, String(amount))
    }
    const cheaper = yield* checked("20000", 10_000n)
    assert.match(String(Result.isFailure(cheaper) && cheaper.failure), /does not hold the payment/u)
  })

  it.effect("looks for the nonce of a stone's request, where its receipt names one", function* () {
    const request = { method: "POST", url: "https://altar.example/api/witness", bodySha256: "a".repeat(64) }
    const binding = { version: 1, salt: "A".repeat(22), ...request }
    const { url: rpc } = yield* node()
    assert.match(
      yield* fault([{ ...paid("a"), binding }], rpc),
      /^CheckFailed: BROKEN at stone 1: its transaction 0x[0-9a-f]{64} holds no payment by the nonce of its request$/u,
    )
  })

  it.effect("finds payments where a reorganisation put them, and does not judge one that may still move", function* () {
    const { url: rpc } = yield* node({ gone: [StaticLog.transactionOf(2)] })
    const ending = (finality: string, sequence?: number) => ({
      ...paid("a"),
      finality,
      ...(sequence === undefined ? {} : { currentTransaction: StaticLog.transactionOf(sequence) }),
    })
    assert.strictEqual(yield* fault([paid("a"), ending("final", 22), paid("a")], rpc), "none")
    for (const [moved, says] of [
      [ending("final"), /^CheckFailed: BROKEN at stone 2: .* is not on the chain$/u],
      [ending("pending"), /^CommandFailure: Stone 2 cannot be judged yet: .*Check again in/u],
      // Where the altar says that a payment is now, it is once.
      [
        ending("final", 1),
        /^CheckFailed: BROKEN at stone 2: its transaction 0x[0-9a-f]{64} does not hold the payment$/u,
      ],
    ] as const)
      assert.match(yield* fault([paid("a"), moved], rpc), says)
  })

  it.effect("names the payments that an altar declares lost, and is then incomplete", function* () {
    const { url: rpc } = yield* node({ gone: [StaticLog.transactionOf(1), StaticLog.transactionOf(3)] })
    const lost = { ...paid("a"), finality: "lost" }
    const url = yield* altar({ receipts: [lost, paid("b"), lost, paid("b")] })
    const sentence =
      "NOT PAID: the altar itself declares the payments of 2 stones lost in a reorganisation of the chain: 1, 3. Everything else holds."
    const told = yield* verify(url, { rpc, json: true })
    assert.strictEqual(told.fault, `CheckFailed: ${sentence}`)
    const { chainHash, ...document } = JSON.parse(told.output)
    assert.match(chainHash, /^[0-9a-f]{64}$/u)
    assert.deepStrictEqual(document, {
      ok: false,
      code: "lost",
      message: sentence,
      stones: 4,
      payTo: [address("b")],
      lost: [1, 3],
      reveals: { checked: 0, hidden: 0 },
      payments: "checked",
      log: null,
    })
    assert.strictEqual(
      (yield* verify(url, { rpc })).lines[0],
      "4 stones: every link hashes, 2 payments are on the chain.",
    )
    assert.match(
      yield* fault([{ ...lost, asset: address("9") }], rpc),
      /^CheckFailed: BROKEN at stone 1: .*names the token/u,
    )
  })
})

const [salt, text] = ["5c1fd1e6a0bb4e7f9c2d", "The heron will return by May."]
const commitment = StaticLog.sha256(`${salt}\0${text}`)
const reveal = { text, salt, hidden: false }
const stone = { id: "stone-1", act: "setWitnessStone", record: { sequence: 1, commitment }, reveal }
const light = { id: "light", act: "lightDay", record: { intentionCommitment: commitment }, reveal }
const changed = { ...reveal, text: "Something that came true." }
const other = StaticLog.sha256(`${salt}\0${changed.text}`)

const unsalted = { text, hidden: false }
const lies: ReadonlyArray<readonly [what: string, act: object, broken: RegExp]> = [
  ["other words of a stone", { ...stone, reveal: changed }, /stone 1: it shows other words than/u],
  ["another salt", { ...stone, reveal: { ...reveal, salt: "0".repeat(20) } }, /stone 1: it shows oth/u],
  ["words without their salt", { ...stone, reveal: { ...reveal, salt: null } }, /stone 1: .* without their salt/u],
  ["words without any salt", { ...stone, reveal: unsalted }, /stone 1: .* without their salt/u],
  ["other words of a light", { ...light, reveal: changed }, /http.*\/acts\/light: it shows other words/u],
  ["words of an act that sealed none", { ...light, record: {} }, /http.*\/acts\/light: it shows other/u],
  [
    "a commitment that the chain does not hold",
    { ...stone, record: { sequence: 1, commitment: other }, reveal: changed },
    /stone 1: its revealed words are shown with another stone's commitment, .*\.$/u,
  ],
  [
    "a stone that the chain does not hold",
    { ...stone, id: "another", record: { sequence: 7, commitment } },
    /stone 7: its words are revealed, but it is not in the chain\.$/u,
  ],
]

layer(NodeServices.layer, realClock)("verification of revealed words", (it) => {
  it.effect("counts words that hash to the commitment", function* () {
    const hidden = { ...reveal, text: null, salt: null, hidden: true }
    const acts = [stone, light, { ...light, id: "hidden", reveal: hidden }, { ...light, reveal: null }]
    const url = yield* altar({ commitment, acts })
    const sentence = "2 reveals: all words that are shown hash to what was sealed. 1 more are hidden"
    assert.include((yield* verify(url)).output, sentence)
    const { ok, reveals } = JSON.parse((yield* verify(url, { json: true })).output)
    assert.deepStrictEqual([ok, reveals], [true, { checked: 2, hidden: 1 }])
  })

  it.effect.each(lies)("rejects and names %s", function* ([, act, { source }]) {
    const { fault } = yield* verify(yield* altar({ commitment, acts: [act] }))
    assert.match(fault, new RegExp(`^CheckFailed: BROKEN at ${source}`, "u"))
  })

  it.effect("cannot check acts without reveals", function* () {
    const { fault } = yield* verify(yield* altar({ commitment, acts: [{ ...stone, reveal: undefined }] }))
    assert.match(fault, /^CommandFailure: .*\/api\/acts\S* is not what an altar answers\. Is that an altar\?/u)
  })

  it.effect("ends its search at a limit", function* () {
    const url = yield* altar({ commitment, acts: [stone], next: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1" })
    assert.match((yield* verify(url)).fault, /leads back to where it was, so it would never end/u)
  })

  it.effect("repeats the altar's own words for a refused reveal", function* () {
    const message = "The words revealed under stone do not hash to the commitment that was sealed."
    const url = yield* serve(async () => json({ ok: false, code: "reveal_broken", message }, 500))
    const { fault } = yield* verify(url)
    assert.match(fault, /^CheckFailed: /u)
    assert.include(fault, message)
    assert.strictEqual(JSON.parse((yield* verify(url, { json: true })).output).code, "broken")
  })
})

layer(NodeServices.layer, realClock)("verification of a log", (it) => {
  it.effect("compares it with the chain, and names what of the chain the log does not cover", function* () {
    const entries = StaticLog.entriesOf(320)
    const log = yield* StaticLog.serve(entries)
    log.size = 300
    const checked = Effect.suspend(() => {
      const seen = join(newFolder(), "seen.json")
      return verify(log.base, { vkey: signer.vkey, seen })
    })
    const { output } = yield* checked
    assert.include(output, "its signed root is that of the first 300 stones of the chain.")
    assert.match(output, /^The log does not cover the last 20 stones of the chain: /mu)

    log.chain = StaticLog.entriesOf(320, 251)
    const liar = "CheckFailed: THE LOG IS BROKEN: its root is not that of the first 300 stones of the chain."
    assert.strictEqual((yield* checked).fault, liar)
    log.chain = entries.slice(0, 299)
    assert.match((yield* checked).fault, /^CheckFailed: BROKEN at stone 300: the chain ends before it, .* 300/u)
    log.chain = entries
    log.size = 0
    assert.match((yield* checked).output, /^The log does not cover the last 320 stones of the chain: /mu)
  })
})
