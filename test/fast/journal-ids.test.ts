/** An id is an altar's own word: what another altar calls the same sends nobody's words to the wrong place. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { buyer, type Journal, memoryJournal } from "../../src/buyer/index.ts"
import * as Purchases from "../../src/buyer/Purchases.ts"

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const [mine, hostile] = ["https://altar.example", "https://hostile.example"]

const drafted = (altar: string, key: string, words: string) => ({
  key,
  act: "setWitnessStone",
  url: `${altar}/api/witness`,
  altar,
  request: {},
  sealed: { salt: "0123456789abcdef", words },
})

/** A purchase that this altar answered with the id. */
const bought = (journal: Journal, altar: string, key: string, words: string) => {
  const purchases = Purchases.make(journal)
  return Effect.runPromise(
    Effect.flatMap(purchases.begin(drafted(altar, key, words)), (purchase) =>
      purchases.settle(purchase, { id, permalink: `${altar}/witness/${id}`, answer: {} }),
    ),
  )
}

/** Whom a buyer at `url` tells the words of the id, and what it is refused with. */
const revealed = async (journal: Journal, url: string) => {
  const told: Array<string> = []
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    told.push(`${new URL(request.url).origin} ${JSON.parse(await request.text()).text}`)
    return Response.json({ ok: false, code: "stone_not_found", message: "There is no such stone." }, { status: 404 })
  }
  const error: { readonly code: string; readonly message: string } = await buyer({ url, journal, fetch: send })
    .reveal(id)
    .then(
      () => assert.fail("it should have been refused"),
      (reason) => reason,
    )
  return { ...error, message: error.message, told }
}

describe("the words of an id", () => {
  it("go to the altar they were sealed for, also when another altar answers the same id later", async () => {
    const journal = memoryJournal()
    await bought(journal, mine, "key-of-my-altar", "Mine.")
    assert.deepStrictEqual((await revealed(journal, "https://third.example")).told, [`${mine} Mine.`])
    await bought(journal, hostile, "key-of-hostile", "Of another candle.")
    assert.deepStrictEqual((await revealed(journal, mine)).told, [`${mine} Mine.`])
    const asked = await revealed(journal, "https://third.example")
    assert.deepStrictEqual([asked.code, asked.told], ["words_ambiguous", []])
    assert.include(asked.message, `for ${mine} and for ${hostile}: name the altar you mean with --url`)
  })

  it("are told to nobody when one altar answered two purchases with it", async () => {
    const journal = memoryJournal()
    await bought(journal, hostile, "first-key-there", "One.")
    await bought(journal, hostile, "second-key-there", "Other.")
    const { code, message, told } = await revealed(journal, hostile)
    assert.deepStrictEqual([code, told], ["words_ambiguous", []])
    assert.match(message, /more than one purchase with the id .*: give salt and words\. Nothing was sent\.$/u)
  })

  it("are found in a journal that an older version wrote", async () => {
    const journal = memoryJournal()
    const settled = { id, permalink: `${mine}/witness/${id}`, answer: {} }
    const page = { ...drafted(mine, "key-of-my-altar", "Mine."), begunAt: "2026-11-21T09:17:02.115Z", settled }
    await journal.alone(async (pages) => {
      await pages.set(`purchase/${page.key}`, JSON.stringify(page))
      await pages.set(`id/${id}`, JSON.stringify(page.key))
    })
    assert.deepStrictEqual((await revealed(journal, mine)).told, [`${mine} Mine.`])
  })
})

describe("a journal that cannot be used", () => {
  it("says of sending and paying what is known then, and nothing of it after a payment", async () => {
    const purchases = Purchases.make({ alone: () => Promise.reject(new Error("database or disk is full")) })
    const purchase = { ...drafted(mine, "key-of-my-altar", "Mine."), begunAt: "2026-11-21T09:17:02.115Z" }
    const terms = { network: "eip155:84532", asset: mine, payTo: mine }
    const said = (asked: Effect.Effect<unknown, { readonly message: string }>) =>
      Effect.runPromise(Effect.flip(asked)).then(({ message }) => message)
    const full = "The journal cannot be used: database or disk is full."
    assert.strictEqual(await said(purchases.begin(purchase)), `${full} Nothing was sent.`)
    const signing = { purchase, amountAtomic: "10000", payer: mine, terms, sign: () => Effect.succeed("header") }
    for (const asked of [purchases.termsOf(mine), purchases.signOnce(signing)])
      assert.strictEqual(await said(asked), `${full} This request sent no payment, so it charged nothing.`)
    assert.strictEqual(await said(purchases.settle(purchase, { id, permalink: mine, answer: {} })), full)
  })
})
