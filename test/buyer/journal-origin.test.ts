/** A journal's content goes only to the altar of its purchases, over an encrypted connection. */
import { Effect } from "effect"
import { buyer, type Journal, memoryJournal, type Progress } from "../../src/buyer/index.ts"
import { authorizationsUsed, buyerOf, diesSigned, type Network, stage } from "../lab/buyer/LibraryBuyer.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { layer as world, newKey } from "../lab/Fixture.ts"
import { assert, describe, it, rejected, suite } from "../lab/Suites.ts"

const words = "The heron will return by May."

const failing = () => {
  const kept = memoryJournal()
  const disk = { isFull: false }
  const journal: Journal = {
    alone: (run) => (disk.isFull ? Promise.reject(new Error("database or disk is full")) : kept.alone(run)),
  }
  return { disk, journal }
}

suite("a journal used with another altar's URL", world(), (it) => {
  it("completes a purchase at the altar where it began", function* () {
    const at = yield* stage()
    const heard: Array<string> = []
    const other = yield* serve(async (path) => (heard.push(path), "drop"))
    const key = newKey()
    yield* diesSigned(at, (altar, call) => altar.witness({ words, key }, call))
    const ended = yield* Effect.promise(() => buyerOf({ ...at, url: other }).reconcile(key))
    assert.property(ended, "record")
    assert.deepStrictEqual(heard, [])
    assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [1, 1])
    assert.deepStrictEqual([at.handedIn.length, new Set(at.handedIn).size], [2, 1], "the same payment is sent again")
  })

  it("that fails after a payment does not make the purchase look refused, and is updated later", function* () {
    const { disk, journal } = failing()
    const at = { ...(yield* stage()), journal }
    const key = newKey()
    const told: Array<Progress> = []
    const filling: Network = async (request, forward) => {
      const response = await forward(request)
      disk.isFull = request.headers.has("payment-signature")
      return response
    }
    const altar = buyerOf(at, filling, { onProgress: (progress) => void told.push(progress) })
    const stone = yield* Effect.promise(() => altar.witness({ words, key }))
    assert.strictEqual(stone.receipt.priceUsd, "$0.01")
    const unkept = told.find(({ step }) => step === "unkept")
    const because = "The journal cannot be used: database or disk is full."
    assert.deepStrictEqual(unkept, { step: "unkept", key, because })
    disk.isFull = false
    const again = yield* Effect.promise(() => buyerOf(at).witness({ words, key }))
    assert.deepStrictEqual([again.replayed, again.record], [true, stone.record])
    const revealed = yield* Effect.promise(() => buyerOf(at).reveal(stone.record.id))
    assert.strictEqual(revealed.stone.reveal?.text, words)
    assert.deepStrictEqual([at.counted.signatures, yield* authorizationsUsed(at)], [1, 1])
  })
})

describe("plain http", () => {
  const asked = async (url: string, insecure: boolean) => {
    const heard: Array<string> = []
    const send: typeof fetch = (input, init) => {
      heard.push(new Request(input, init).url)
      return Promise.reject(new TypeError("nobody is here"))
    }
    const altar = buyer({ url, fetch: send, insecure })
    const error = await rejected(altar.spirits())
    return { error, heard }
  }

  it.each<readonly [url: string, code: string, allowed: string]>([
    ["http://altar.example", "insecure_url", "unreachable"],
    ["http://10.0.0.1:3000", "insecure_url", "unreachable"],
    ["http://127.0.0.1.altar.example", "insecure_url", "unreachable"],
    ["http://localhost.example", "insecure_url", "unreachable"],
    ["http://127.0.0.1:3000", "unreachable", "unreachable"],
    ["http://localhost:3000", "unreachable", "unreachable"],
    ["http://[::1]:3000", "unreachable", "unreachable"],
    ["https://altar.example", "unreachable", "unreachable"],
    ["altar.example", "bad_url", "bad_url"],
    ["file:///etc", "bad_url", "bad_url"],
    ["", "bad_url", "bad_url"],
  ])("to '%s' ends as %s, and allowed by name as %s", async (url, ...codes) => {
    for (const [at, code] of codes.entries()) {
      const { error, heard } = await asked(url, at === 1)
      assert.deepStrictEqual([error.code, heard.length], [code, code === "unreachable" ? 1 : 0])
      if (code === "insecure_url") assert.match(error.message, /This request charged nothing\.$/u)
    }
  })
})
