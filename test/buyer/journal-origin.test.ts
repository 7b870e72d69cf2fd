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
  const asked = async (url: string, insecure?: boolean) => {
    const heard: Array<string> = []
    const send: typeof fetch = (input, init) => {
      heard.push(new Request(input, init).url)
      return Promise.reject(new TypeError("nobody is here"))
    }
    const altar = buyer({ url, fetch: send, ...(insecure === undefined ? {} : { insecure }) })
    const error = await rejected(altar.spirits())
    return { error, heard }
  }

  it.each([
    "http://altar.example",
    "http://10.0.0.1:3000",
    "http://127.0.0.1.altar.example",
    "http://localhost.example",
  ])("to %s is rejected before anything is sent, unless it is allowed by name", async (url) => {
    const refused = await asked(url)
    assert.deepStrictEqual([refused.error.code, refused.heard], ["insecure_url", []])
    assert.match(refused.error.message, /This request charged nothing\.$/u)
    const allowed = await asked(url, true)
    assert.deepStrictEqual([allowed.error.code, allowed.heard.length], ["unreachable", 1])
  })

  it.each(["http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000", "https://altar.example"])(
    "to %s is allowed without asking",
    async (url) => {
      assert.deepStrictEqual((await asked(url)).heard.length, 1)
    },
  )

  it("allowed by name does not allow another scheme or nonsense", async () => {
    for (const url of ["altar.example", "file:///etc", ""]) {
      const { error, heard } = await asked(url, true)
      assert.deepStrictEqual([error.code, heard], ["bad_url", []])
    }
  })
})
