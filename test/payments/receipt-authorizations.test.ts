/** The paid wallet authorizes a receipt key: the command, the stone, the server's file, and a reader who knows the wallet alone. */
import { writeFile } from "node:fs/promises"
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { Effect, Layer, Option, Result } from "effect"
import { Reveals } from "../../src/altar/Reveals.ts"
import { SignedActs } from "../../src/altar/SignedActs.ts"
import { authorizationHash } from "../../src/buyer/receipt/Authority.ts"
import { authorized } from "../../src/cli/operator/Authorize.ts"
import { generate, plainFrom } from "../../src/log/Signer.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import type { ServerConfig } from "../../src/server/config/Config.ts"
import { unprovenIn } from "../../src/server/ReceiptAuthorizations.ts"
import { network } from "../lab/Chain.ts"
import { checked } from "../lab/buyer/CheckedReceipt.ts"
import { printing } from "../lab/CommandRun.ts"
import { agreeing, burning, giveCode } from "../lab/buyer/ThirdParty.ts"
import { until } from "../lab/Eventually.ts"
import { ask, bought as buy, layer as world, newCommitment, paymentsOf, TestServer } from "../lab/Fixture.ts"
import { anotherServer } from "../lab/server/AnotherServer.ts"
import { key as vkey, signer as first } from "../lab/buyer/ReceiptFiles.ts"
import { payTo } from "../lab/buyer/Refunds.ts"
import { signer, signing } from "../lab/log/LogFixture.ts"
import { newFolder } from "../lab/Folders.ts"
import { assert, assertSome, suite } from "../lab/Suites.ts"

const second = Result.getOrThrow(Result.flatMap(generate("receipts-2"), plainFrom))
const log = { ...signing, checkpointFile: Option.none<string>(), publishSeconds: 1 }

/** The stdout of a command that succeeds. */
const printed = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.flatMap(printing(run), ({ ended, lines }) => Effect.as(Effect.fromResult(ended), lines))

const bought = (body: object) => Effect.map(buy("/api/witness", body), ({ record }) => String(record.id))

const started = (file: string, change: Partial<ServerConfig["receipts"] & object> = {}) =>
  anotherServer({}, { log, receipts: { current: first, retired: [], authorizationsFile: file, ...change } })

/** Receipts are dated in whole seconds: an act of the next one comes after the stone. */
const nextSecond = Effect.suspend(() => {
  const then = Math.floor(Date.now() / 1000) + 1
  return Effect.sync(() => Date.now() / 1000).pipe(until("time stands still", (now) => now >= then))
})

const none = Option.none<string>()

const flagsOf = Effect.gen(function* () {
  const { url } = yield* TestServer
  const { payTo: paid } = yield* LocalChain
  const unset = { vkey: none, replaces: none, signature: none, keyFile: none, rpc: none }
  return { ...unset, url, key: vkey, payTo: paid, network, notBefore: "2026-01-01T00:00:00.000Z" }
})

/** The stone of a signed statement, and the file that a server is given of both. */
const recorded = Effect.fnUntraced(function* (text: string) {
  const signed = JSON.parse(text)
  const commitment = yield* Effect.promise(() => authorizationHash(signed))
  const stone = yield* bought({ commitment, kind: "hash" })
  const file = join(newFolder(), "authorizations.json")
  yield* Effect.promise(() => writeFile(file, JSON.stringify([{ ...signed, stone }])))
  return { signed, stone, file }
})

/** The receipt file of an act, checked by the command with this node and key of the log. */
const checking = Effect.fnUntraced(function* (server: string, act: string) {
  const { payTo: paid } = yield* LocalChain
  const { text } = yield* ask(`${server}/witness/${act}.receipt.json`).pipe(
    until("no authorization", ({ json }) => "authorization" in json && "log" in json),
  )
  return (trust: Parameters<typeof checked>[1]) => checked(text, { payTo: [paid], ...trust })
})

suite("an authorized receipt key", world({}, undefined, { receipts: { current: first, retired: [] }, log }), (it) => {
  it("is accepted by a reader who knows only the paid wallet, also after a rotation", function* ({ url }) {
    const flags = { ...(yield* flagsOf), vkey: Option.some(signer.vkey) }
    const [data = ""] = yield* printed(authorized(flags))
    const signature = Option.some(yield* Effect.promise(() => payTo.signTypedData(JSON.parse(data))))
    const [text = ""] = yield* printed(authorized({ ...flags, signature }))
    const forged = yield* Effect.exit(
      printed(authorized({ ...flags, notBefore: "2026-01-02T00:00:00.000Z", signature })),
    )
    assert.strictEqual(forged._tag, "Failure")
    const { file, signed, stone } = yield* recorded(text)
    const authorizing = yield* started(file)
    const document = yield* ask(`${authorizing}/.well-known/did.json`)
    assert.deepInclude(document.json["service"], {
      id: `${signed.statement.kid}-authorization`,
      type: "ReceiptKeyAuthorization",
      serviceEndpoint: `${url}/witness/${stone}`,
    })
    yield* nextSecond
    const act = yield* bought({ commitment: newCommitment() })
    const rotated = yield* started(file, { current: second, retired: [first] })
    for (const server of [authorizing, rotated]) {
      const check = yield* checking(server, act)
      const { lines } = yield* check({ vkey: Option.some(signer.vkey) })
      for (const part of ["key", "key's stone"])
        assertSome(lines, (line) => line.startsWith(`SHOWN      ${part}: `), lines.join("\n"))
    }
    const own = yield* ask(`${authorizing}/witness/${stone}.receipt.json`)
    assert.notProperty(own.json, "authorization", "a receipt older than the stone is not covered")
  })

  it("signed by a contract is accepted by a reader who names a node, while that contract agrees", function* () {
    const { payTo: paid, rpcUrl } = yield* LocalChain
    yield* giveCode(paid, agreeing)
    yield* Effect.addFinalizer(() => giveCode(paid, "0x"))
    const flags = { ...(yield* flagsOf), signature: Option.some("0x1234") }
    const unasked = yield* Effect.flip(printed(authorized(flags)))
    assert.include(String(unasked), "or name --rpc if the wallet is a contract")
    const [text = ""] = yield* printed(authorized({ ...flags, rpc: Option.some(rpcUrl) }))
    const { file, signed, stone } = yield* recorded(text)
    assert.strictEqual(signed.type, "contract")
    const server = yield* started(file)
    yield* nextSecond
    const act = yield* bought({ commitment: newCommitment() })
    const check = yield* checking(server, act)
    const read = (rpc: Option.Option<string>) => Effect.map(check({ rpc }), ({ ended }) => ended)
    const { ended, lines } = yield* check({ rpc: Option.some(rpcUrl) })
    assert.isTrue(Result.isSuccess(ended))
    assertSome(lines, (line) => line.startsWith("SHOWN      key: "), lines.join("\n"))
    assert.isTrue(Result.isFailure(yield* read(none)), "without a node nothing shows that its key may sign")
    const away = yield* read(Option.some("http://127.0.0.1:1"))
    assert.include(String(away), "The node of --rpc could not be asked")

    const one = { ...signed, stone }
    const payments = paymentsOf(yield* LocalChain)
    const acts = SignedActs.layer.pipe(Layer.provide(Reveals.layer))
    const unproven = (change: object) => Effect.provide(unprovenIn({ ...one, ...change }, payments), acts)
    assert.isUndefined(yield* unproven({}))
    assert.include(yield* unproven({ stone: act }), "is not set here, or seals something else")
    assert.include(yield* unproven({ stone: randomUUID() }), "is not set here, or seals something else")
    yield* giveCode(paid, burning)
    assert.include(yield* unproven({}), "does not accept the signature")
    assert.isTrue(Result.isFailure(yield* read(Option.some(rpcUrl))))
  })
})
