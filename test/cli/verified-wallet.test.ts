/** `verify --wallet` counts a wallet's stones and payments again, and finds what an altar leaves out. */
import { assert, layer } from "../lab/It.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { seal } from "../../src/altar/Hashes.ts"
import { buy } from "../lab/buyer/Purchase.ts"
import { reveal, salt } from "../lab/buyer/Sealed.ts"
import { newPayer, realClock, TestServer, world } from "../lab/Fixture.ts"
import { forward, json, serve } from "../lab/proxy/HttpServer.ts"
import { verify } from "../lab/VerifiedAltar.ts"

/** A wallet with a candle and two stones, of which the first is opened. */
const settled = Effect.gen(function* () {
  const { url } = yield* TestServer
  const { rpcUrl } = yield* LocalChain
  const payer = yield* newPayer()
  const stone = (text: string) =>
    Effect.map(buy("/api/witness", { commitment: seal(salt, text) }, { payer }), ({ record }) => record)
  const first = yield* stone("one")
  yield* buy("/api/candles/day/kelp-seal", { dedication: "Two" }, { payer })
  const second = yield* stone("two")
  yield* reveal(first.id, "one")
  return { url, rpcUrl, wallet: payer.address, first, second }
})

/** The altar at `url`, whose answers below a path are changed. */
const lying = (url: string, below: string, change: (text: string) => string) =>
  serve(async (path, body, request) => {
    const { bytes, headers, status } = await forward(url, path, body, request)
    return { status, headers, body: path.startsWith(below) ? change(bytes.toString()) : bytes.toString() }
  })

/** A node that answers about one block at a time, or about no logs at all. */
const narrow = (rpcUrl: string, message: string, isRefused: (blocks: number) => boolean) =>
  serve(async (path, body, request) => {
    const asked = JSON.parse(body)
    const calls = [asked].flat()
    const refused = calls.some(({ method, params: [filter] }) => {
      return method === "eth_getLogs" && isRefused(Number(filter.toBlock) - Number(filter.fromBlock) + 1)
    })
    if (!refused) {
      const { bytes, headers, status } = await forward(rpcUrl, path, body, request)
      return { status, headers, body: bytes.toString() }
    }
    const answers = calls.map(({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32_005, message } }))
    return json(Array.isArray(asked) ? answers : answers[0])
  })

layer(Layer.merge(NodeServices.layer, world()), realClock)("verify --wallet", (it) => {
  it.effect("counts as an honest altar does, by stones and by payments, also at a node of single blocks", function* () {
    const { rpcUrl, url, wallet } = yield* settled
    const rpc = yield* narrow(rpcUrl, "block range is too large", (blocks) => blocks > 1)
    const { fault, output } = yield* verify(url, { wallet, rpc })
    assert.strictEqual(fault, "none", output)
    assert.match(output, /HOLDS +record: .*2 sealed, 1 opened, 1 closed, 0 hidden/u)
    assert.match(output, /HOLDS +completeness: Each of its 3 payments to 0x[0-9a-fA-F]{40} since block \d+ bought/u)
  })

  it.effect("says that completeness was not checked without a node, or with one that shows no transfers", function* () {
    const { rpcUrl, url, wallet } = yield* settled
    const { output: alone } = yield* verify(url, { wallet })
    assert.match(alone, /NOT CHECKED +completeness: Completeness not checked: name the network's RPC/u)
    const rpc = yield* narrow(rpcUrl, "method not supported", () => true)
    const { fault, output } = yield* verify(url, { wallet, rpc })
    assert.strictEqual(fault, "none", output)
    assert.match(output, /NOT CHECKED +completeness/u)
  })

  it.effect("finds a stone that the record leaves out, and an opened one that it counts as closed", function* () {
    const { second, url, wallet } = yield* settled
    const lie = yield* lying(url, "/api/wallets/", (text) => {
      const record = JSON.parse(text)
      const stones = record.stones.filter(({ id }: { readonly id: string }) => id !== second.id)
      return JSON.stringify({ ...record, stones, sealed: 1 })
    })
    const omitted = yield* verify(lie, { wallet })
    assert.match(omitted.fault, /CheckFailed/u)
    assert.include(omitted.output, `it leaves out the stones ${second.sequence}`)
    const closing = yield* lying(url, "/api/wallets/", (text) =>
      JSON.stringify({ ...JSON.parse(text), opened: 0, closed: 2 }),
    )
    assert.match((yield* verify(closing, { wallet })).output, /BROKEN +record: .*it says 2 sealed, 0 opened/u)
    const fewer = yield* lying(url, "/api/wallets/", (text) => JSON.stringify({ ...JSON.parse(text), closed: 0 }))
    assert.match((yield* verify(fewer, { wallet })).output, /BROKEN +record: .*, 0 closed, 0 hidden, and the chain/u)
  })

  it.effect("says that completeness was not checked where no stone of the altar says who was paid", function* () {
    const { rpcUrl, url, wallet } = yield* settled
    const head = { sequence: 0, chainHash: "0".repeat(64) }
    const nothing: Readonly<Record<string, unknown>> = {
      sealed: 0,
      opened: 0,
      closed: 0,
      hidden: 0,
      asOf: { head, checkpoint: null },
      head,
      next: null,
      stones: [],
      entries: [],
      acts: [],
    }
    const hiding = yield* lying(url, "/api/", (text) =>
      JSON.stringify(JSON.parse(text, (name, value) => (name in nothing ? nothing[name] : value))),
    )
    const { output } = yield* verify(hiding, { wallet, rpc: rpcUrl })
    assert.match(output, /NOT CHECKED +completeness: Completeness not checked: no stone says where payments went\./u)
  })

  it.effect("finds a payment whose act the altar does not show", function* () {
    const { rpcUrl, second, url, wallet } = yield* settled
    const lie = yield* lying(url, "/api/acts", (text) => {
      const list = JSON.parse(text)
      return JSON.stringify({
        ...list,
        acts: list.acts.filter(({ id }: { readonly id: string }) => id !== second.id),
      })
    })
    const { fault, output } = yield* verify(lie, { wallet, rpc: rpcUrl })
    assert.match(fault, /CheckFailed/u)
    assert.match(output, new RegExp(`BROKEN +completeness: .*${second.transaction}`, "u"))
  })

  it.effect("refuses what is no address", function* () {
    const { url } = yield* TestServer
    assert.match((yield* verify(url, { wallet: "0x12" })).fault, /0x and 40 hexadecimal digits/u)
  })
})
