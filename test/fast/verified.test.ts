/** `verify` against an altar that lies: node, token, payee, words and log are not its own to choose. */
import { createHash } from "node:crypto"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Console, Effect, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { genesisHash } from "../../schema/altar/ChainLink.ts"
import { base, usdc } from "../../schema/payments/Usdc.ts"
import { verifyChain } from "../../src/cli/verify/Chain.ts"
import { verifying } from "../../src/cli/verify/Verify.ts"
import { signer } from "../lab/log/LogFixture.ts"
import * as StaticLog from "../lab/log/StaticLog.ts"
import { json, serve } from "../lab/proxy/HttpServer.ts"

const address = (digit: string) => `0x${digit.repeat(40)}`
const topic = (of: string) => `0x${of.slice(2).padStart(64, "0")}`
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const payer = address("1")
const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

const transactionOf = (sequence: number) => `0x${sha256(`transaction ${sequence}`)}`

interface Receipt {
  readonly asset: string
  readonly payTo: string
  readonly amountAtomic?: string
  readonly finality?: string
  readonly currentTransaction?: string
}

/** One stone for each of these receipts. */
const altar = (receipts: ReadonlyArray<Receipt>, sandbox?: string) =>
  Effect.gen(function* () {
    const entries: Array<Readonly<Record<string, string | number>>> = []
    for (const at of receipts.keys()) {
      const sequence = at + 1
      const previousHash = entries.at(-1)?.["chainHash"] ?? genesisHash
      const [commitment, witnessedAt] = [sha256(`stone ${sequence}`), "2026-11-21T00:00:00.000Z"]
      const transaction = transactionOf(sequence)
      const chainHash = sha256([previousHash, sequence, commitment, witnessedAt, transaction].join("\0"))
      const link = { sequence, id: `stone-${sequence}`, commitment, witnessedAt, transaction, payer }
      entries.push({ ...link, previousHash, chainHash })
    }
    const head = { sequence: entries.length, chainHash: entries.at(-1)?.["chainHash"] }
    return yield* serve(async (path) => {
      if (path.startsWith("/api/acts")) return json({ acts: [], next: null })
      if (path.startsWith("/api/witness/chain")) return json({ entries, head, next: null })
      if (path === "/sandbox") return sandbox === undefined ? json({}, 404) : json({ rpcUrl: sandbox })
      const receipt = receipts[Number(path.split("-").at(-1)) - 1]
      return json({ receipt: { amountAtomic: "10000", ...receipt } })
    })
  })

const word = (amount: bigint) => `0x${amount.toString(16).padStart(64, "0")}`

/** A node of a chain on which each transaction but those that are gone moved so much of every token to everybody. */
const node = Effect.fnUntraced(function* (
  chainId: string,
  asked = { times: 0 },
  data = word(10_000n),
  gone: ReadonlyArray<string> = [],
) {
  const logs = [usdc[base].asset, address("9")].flatMap((token) =>
    ["a", "b"].map((to) => ({
      address: token.toLowerCase(),
      topics: [transfer, topic(payer), topic(address(to))],
      data,
    })),
  )
  return yield* serve(async (_, body) => {
    asked.times += 1
    const { method, params } = JSON.parse(body)
    if (method === "eth_chainId") return json({ result: chainId })
    return json({ result: gone.includes(params[0]) ? null : { status: "0x1", logs } })
  })
})

const paid = (to: string, asset: string = usdc[base].asset) => ({ asset, payTo: address(to) })

const flags = (url: string) => ({
  url,
  rpc: Option.none<string>(),
  payTo: [],
  log: false,
  vkey: Option.none<string>(),
  policy: Option.none<string>(),
  seen: Option.none<string>(),
  json: true,
})

layer(NodeServices.layer, { excludeTestServices: true })("the payments of a chain that is verified", (it) => {
  const verify = (url: string, rpc: string, payTo: ReadonlyArray<string> = []) =>
    Effect.provide(verifyChain(url, Option.some(rpc), payTo), FetchHttpClient.layer)

  it.effect("are made in USDC of the network whose node was named, to one address or those that were", () =>
    Effect.gen(function* () {
      const rpc = yield* node("0x2105")
      const whole = yield* altar([paid("a"), paid("a")])
      assert.deepStrictEqual(yield* verify(whole, rpc), {
        ...(yield* verify(whole, rpc, [address("a").toUpperCase().replace("X", "x")])),
        stones: 2,
        payTo: [address("a")],
      })
      const elsewhere = yield* Effect.flip(verify(whole, rpc, [address("b")]))
      assert.match(elsewhere.message, /^BROKEN at stone 1: it was paid to 0xa+, not to 0xb+\. /u)
      const moved = yield* altar([paid("a"), paid("b")])
      assert.match((yield* Effect.flip(verify(moved, rpc))).message, /^BROKEN at stone 2: it was paid to 0xb+/u)
      assert.strictEqual((yield* verify(moved, rpc, [address("a"), address("b")])).stones, 2)
      const worthless = yield* altar([paid("a"), paid("a", address("9"))])
      assert.match((yield* Effect.flip(verify(worthless, rpc))).message, /^BROKEN at stone 2: .*names the token 0x9+/u)
      const strange = yield* Effect.flip(verify(whole, yield* node("0x7a69")))
      assert.match(strange.message, /is a node of eip155:31337, where no altar is paid/u)
    }),
  )

  it.effect("are not looked up where the altar says, unless it is a sandbox on this machine", () =>
    Effect.gen(function* () {
      const asked = { times: 0 }
      const rpc = yield* node("0x2105", asked)
      const here = yield* altar([paid("a")], rpc)
      yield* verifying(flags(here))
      assert.strictEqual(asked.times, 2)
      // The same server by an address that is not known to be this machine.
      yield* verifying(flags(here.replace("127.0.0.1", "[::ffff:127.0.0.1]")))
      yield* verifying(flags(yield* altar([paid("a")], rpc.replace("127.0.0.1", "[::ffff:127.0.0.1]"))))
      assert.strictEqual(asked.times, 2)
      const pinned = yield* Effect.flip(
        verifying({ ...flags(yield* altar([paid("a")])), payTo: [address("a")], json: false }),
      )
      assert.match(pinned.message, /name the network's RPC with --rpc/u)
    }),
  )

  it.effect("are of the listed price, whatever a receipt and a log call one", () =>
    Effect.gen(function* () {
      const failure = Effect.fnUntraced(function* (amountAtomic: string, data: string) {
        const { _tag, message } = yield* Effect.flip(
          verify(yield* altar([{ ...paid("a"), amountAtomic }]), yield* node("0x2105", undefined, data)),
        )
        return `${_tag}: ${message}`
      })
      // A transfer of nothing needs no leave of the wallet that it names.
      for (const [amount, moved] of [
        ["0", 0n],
        ["1", 1n],
        ["20000", 20_000n],
      ] as const) {
        assert.strictEqual(
          yield* failure(amount, word(moved)),
          `Broken: BROKEN at stone 1: its receipt names ${amount} atomic USDC, and a stone costs 10000`,
        )
        assert.match(yield* failure("10000", word(moved)), /^Broken: BROKEN at stone 1: .* does not hold the payment$/u)
      }
      assert.match(yield* failure("x", word(10_000n)), /^Broken: BROKEN at stone 1: its receipt names x atomic USDC/u)
      assert.match(yield* failure("10000", "0x"), /^Broken: BROKEN at stone 1: .* does not hold the payment$/u)
    }),
  )

  it.effect("are looked for where a reorganisation put them, and not judged while one may still move them", () =>
    Effect.gen(function* () {
      const rpc = yield* node("0x2105", undefined, undefined, [transactionOf(2)])
      const moved = { ...paid("a"), finality: "final", currentTransaction: transactionOf(22) }
      assert.strictEqual((yield* verify(yield* altar([paid("a"), moved, paid("a")]), rpc)).stones, 3)
      const final = yield* Effect.flip(verify(yield* altar([paid("a"), { ...paid("a"), finality: "final" }]), rpc))
      assert.match(`${final._tag}: ${final.message}`, /^Broken: BROKEN at stone 2: .* is not on the chain$/u)
      const pending = yield* Effect.flip(verify(yield* altar([paid("a"), { ...paid("a"), finality: "pending" }]), rpc))
      assert.match(`${pending._tag}: ${pending.message}`, /^Trouble: Stone 2 cannot be judged yet: .*Check again in/u)
      // Where the altar says that a payment is now, it is once.
      const twice = { ...paid("a"), finality: "final", currentTransaction: transactionOf(1) }
      const spent = yield* Effect.flip(verify(yield* altar([paid("a"), twice]), rpc))
      assert.match(spent.message, /^BROKEN at stone 2: its transaction 0x[0-9a-f]{64} does not hold the payment$/u)
    }),
  )

  it.effect("that an altar declares lost are named, and what is lost is not whole", () =>
    Effect.gen(function* () {
      const gone = [transactionOf(1), transactionOf(3)]
      const rpc = yield* node("0x2105", undefined, undefined, gone)
      const lost = { ...paid("a"), finality: "lost" }
      const url = yield* altar([lost, paid("b"), lost, paid("b")])
      const printed: Array<string> = []
      const log = (line: string) => void printed.push(line)
      const told = Effect.fnUntraced(function* (json: boolean) {
        const { _tag, message } = yield* Effect.flip(
          Effect.provideService(verifying({ ...flags(url), rpc: Option.some(rpc), json }), Console.Console, {
            ...globalThis.console,
            log,
          }),
        )
        return `${_tag}: ${message}`
      })
      const sentence =
        "NOT PAID: the altar itself declares the payments of 2 stones lost in a reorganisation of the chain: 1, 3. Everything else holds."
      assert.strictEqual(yield* told(true), `Lost: ${sentence}`)
      const { chainHash, ...document } = JSON.parse(printed.pop() ?? "")
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
      yield* told(false)
      assert.strictEqual(printed[0], "4 stones: every link hashes, 2 payments are on the chain.")
      const worthless = yield* altar([{ ...lost, asset: address("9") }])
      assert.match((yield* Effect.flip(verify(worthless, rpc))).message, /^BROKEN at stone 1: .*names the token/u)
    }),
  )
})

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const [salt, text] = ["5c1fd1e6a0bb4e7f9c2d", "The heron will return by May."]
const commitment = sha256(`${salt}\0${text}`)
const other = sha256(`${salt}\0Something that came true.`)

const link = { previousHash: genesisHash, sequence: 1, commitment, witnessedAt: "2026-11-21T00:00:00.000Z" }
const transaction = `0x${"1".repeat(64)}`
const chainHash = sha256([link.previousHash, 1, commitment, link.witnessedAt, transaction].join("\0"))
const entry = { ...link, transaction, chainHash, id: "stone", payer: `0x${"2".repeat(40)}` }

const reveal = { text, salt, hidden: false }
const stone = { id: "stone", act: "setWitnessStone", record: { sequence: 1, commitment }, reveal }
const light = { id: "light", act: "lightDay", record: { intentionCommitment: commitment }, reveal }

/** A chain of one stone, and a list of acts that says whatever it likes. */
const altar = (acts: ReadonlyArray<object>, next: string | null = null) =>
  serve(async (path) =>
    path.startsWith("/api/acts")
      ? json({ acts, next })
      : path.startsWith("/api/witness/chain")
        ? json({ entries: [entry], head: { sequence: 1, chainHash }, next: null })
        : json({}, 404),
  )

const flags = { rpc: Option.none(), payTo: [], log: false, vkey: Option.none(), policy: Option.none() }

const verify = Effect.fnUntraced(function* (url: string, asJson = false) {
  const lines: Array<string> = []
  const log = (line: string) => void lines.push(line)
  yield* Effect.provideService(verifying({ ...flags, url, seen: Option.none(), json: asJson }), Console.Console, {
    ...globalThis.console,
    log,
  })
  return lines.join("\n")
})

const hidden = { ...reveal, text: null, salt: null, hidden: true }
const changed = { ...reveal, text: "Something that came true." }

const lies: ReadonlyArray<readonly [what: string, act: object, says: RegExp]> = [
  ["other words of a stone", { ...stone, reveal: changed }, /^Broken: BROKEN at stone 1: it shows other words than/u],
  [
    "another salt",
    { ...stone, reveal: { ...reveal, salt: "0".repeat(20) } },
    /^Broken: BROKEN at stone 1: it shows oth/u,
  ],
  ["words without their salt", { ...stone, reveal: { ...reveal, salt: null } }, /stone 1: .* without their salt/u],
  ["words without any salt", { ...stone, reveal: { text, hidden: false } }, /stone 1: .* without their salt/u],
  [
    "other words of a light",
    { ...light, reveal: changed },
    /^Broken: BROKEN at http.*\/acts\/light: it shows other words/u,
  ],
  [
    "words of an act that sealed none",
    { ...light, record: {} },
    /^Broken: BROKEN at http.*\/acts\/light: it shows other/u,
  ],
  [
    "a commitment that the chain does not hold",
    { ...stone, record: { sequence: 1, commitment: other }, reveal: changed },
    /^Broken: BROKEN at stone 1: its revealed words are shown with the commitment .* which is not its own\.$/u,
  ],
  [
    "a stone that the chain does not hold",
    { ...stone, id: "another", record: { sequence: 7, commitment } },
    /^Broken: BROKEN at stone 7: its words are revealed, but it is not in the chain\.$/u,
  ],
  [
    "acts without reveals",
    { ...stone, reveal: undefined },
    /^Trouble: .* cannot be checked: it runs a version before 0\.16/u,
  ],
]

layer(NodeServices.layer, { excludeTestServices: true })("the revealed words of an altar that is verified", (it) => {
  it.effect("hold when they hash to what was sealed, and are counted", () =>
    Effect.gen(function* () {
      const url = yield* altar([stone, light, { ...light, id: "hidden", reveal: hidden }, { ...light, reveal: null }])
      const said = yield* verify(url)
      assert.include(said, "2 reveals: all words that are shown hash to what was sealed. 1 more are hidden")
      const { ok, reveals } = JSON.parse(yield* verify(url, true))
      assert.deepStrictEqual([ok, reveals], [true, { checked: 2, hidden: 1 }])
    }),
  )

  for (const [what, act, says] of lies) {
    it.effect(`are refused, and named, with ${what}`, () =>
      Effect.gen(function* () {
        const url = yield* altar([act])
        const refused = yield* Effect.flip(verify(url))
        assert.match(`${refused._tag}: ${refused.message}`, says)
      }),
    )
  }

  it.effect("are not looked for without an end", () =>
    Effect.gen(function* () {
      const url = yield* altar([stone], "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1")
      assert.match((yield* Effect.flip(verify(url))).message, /leads back to where it was, so it would never end/u)
    }),
  )

  it.effect("that the altar itself refuses to show are told in its own words", () =>
    Effect.gen(function* () {
      const message = "The words revealed under stone do not hash to the commitment that was sealed."
      const url = yield* serve(async () => json({ ok: false, code: "reveal_broken", message }, 500))
      const refused = yield* Effect.flip(verify(url))
      assert.strictEqual(refused._tag, "Broken")
      assert.include(refused.message, message)
    }),
  )
})

const newFile = () => join(mkdtempSync(join(tmpdir(), "verified-log-")), "seen.json")

/** The lines a command prints. */
const printed = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const log = (line: string) => void lines.push(line)
    return Effect.as(Effect.provideService(command, Console.Console, { ...globalThis.console, log }), lines)
  })

layer(NodeServices.layer, { excludeTestServices: true })("a log that is verified", (it) => {
  it.effect("is the chain's: compared with the chain that was walked, and says what of it the log does not cover", () =>
    Effect.gen(function* () {
      const entries = StaticLog.entriesOf(320)
      const log = yield* StaticLog.serve(entries)
      log.size = 300
      const flags = { rpc: Option.none(), payTo: [], log: true, vkey: Option.some(signer.vkey), policy: Option.none() }
      const verify = Effect.suspend(() =>
        printed(verifying({ ...flags, url: log.base, seen: Option.some(newFile()), json: false })),
      )
      const whole = (yield* verify).join("\n")
      assert.include(
        whole,
        "every tile and the signed root derive from them, and the first 300 stones of the chain are the",
      )
      assert.match(whole, /^The log does not cover the last 20 stones of the chain: /mu)

      // Another chain for whoever walks it, and the log's own stone for whoever asks for one.
      const other = StaticLog.entriesOf(320, (sequence) => (sequence > 250 ? "another" : ""))
      log.chain = (limit) => (limit === 1 ? entries : other)
      const liar = yield* Effect.flip(verify)
      assert.strictEqual(
        `${liar._tag}: ${liar.message}`,
        "Broken: THE LOG IS BROKEN: stone 300 of the chain is not the one of the log.",
      )

      log.chain = () => entries.slice(0, 299)
      const short = yield* Effect.flip(verify)
      assert.match(`${short._tag}: ${short.message}`, /^Broken: BROKEN at stone 300: the chain ends before it, .* 300/u)

      log.chain = () => entries
      log.size = 0
      assert.match((yield* verify).join("\n"), /^The log does not cover the last 320 stones of the chain: /mu)
    }),
  )
})
