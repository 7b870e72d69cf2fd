/** `verify` against an altar that would like to choose whom it is believed by: node, token and payee are not its own. */
import { createHash } from "node:crypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { genesisHash } from "../../schema/altar/ChainLink.ts"
import { base, usdc } from "../../schema/payments/Usdc.ts"
import { verifyChain, verifying } from "../../src/cli/Verifying.ts"
import { json, serve } from "../support/LocalHttpServer.ts"

const address = (digit: string) => `0x${digit.repeat(40)}`
const topic = (of: string) => `0x${of.slice(2).padStart(64, "0")}`
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const payer = address("1")
const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

/** One stone for each of these receipts. */
const altar = (receipts: ReadonlyArray<{ readonly asset: string; readonly payTo: string }>, sandbox?: string) =>
  Effect.gen(function* () {
    const entries: Array<Readonly<Record<string, string | number>>> = []
    for (const at of receipts.keys()) {
      const sequence = at + 1
      const previousHash = entries.at(-1)?.["chainHash"] ?? genesisHash
      const [commitment, witnessedAt] = [sha256(`stone ${sequence}`), "2026-11-21T00:00:00.000Z"]
      const transaction = `0x${sha256(`transaction ${sequence}`)}`
      const chainHash = sha256([previousHash, sequence, commitment, witnessedAt, transaction].join("\0"))
      const link = { sequence, id: `stone-${sequence}`, commitment, witnessedAt, transaction, payer }
      entries.push({ ...link, previousHash, chainHash })
    }
    const head = { sequence: entries.length, chainHash: entries.at(-1)?.["chainHash"] }
    return yield* serve(async (path) => {
      if (path.startsWith("/api/witness/chain")) return json({ entries, head, next: null })
      if (path === "/sandbox") return sandbox === undefined ? json({}, 404) : json({ rpcUrl: sandbox })
      const receipt = receipts[Number(path.split("-").at(-1)) - 1]
      return json({ receipt: { ...receipt, amountAtomic: "10000" } })
    })
  })

/** A node of a chain on which each transaction moved a cent of every token to everybody. */
const node = Effect.fnUntraced(function* (chainId: string, asked = { times: 0 }) {
  const data = `0x${10_000n.toString(16)}`
  const logs = [usdc[base].asset, address("9")].flatMap((token) =>
    ["a", "b"].map((to) => ({
      address: token.toLowerCase(),
      topics: [transfer, topic(payer), topic(address(to))],
      data,
    })),
  )
  return yield* serve(async (_, body) => {
    asked.times += 1
    return json({ result: JSON.parse(body).method === "eth_chainId" ? chainId : { status: "0x1", logs } })
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
})
