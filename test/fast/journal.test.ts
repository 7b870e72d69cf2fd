/** The journal: turns are kept whole or not at all, through a power failure, and its words go to the altar they were sealed for. */
import { statSync } from "node:fs"
import { extname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "../lab/It.ts"
import { Effect, FileSystem } from "effect"
import { vi } from "vitest"
import { refuse } from "../../src/buyer/PurchaseError.ts"
import { purchasesIn, turnsOf } from "../../src/buyer/Purchases.ts"
import { buyer, type Journal, memoryJournal } from "../../src/buyer/index.ts"
import { open } from "../../src/cli/buyer/JournalFile.ts"
import * as DurableFile from "../../src/platform/DurableFile.ts"
import { altar as altarUrl, asking } from "../lab/buyer/Offers.ts"
import { newFolder } from "../lab/Folders.ts"
import { rejected, valuesOf } from "../lab/Assertions.ts"

describe("the journal", () => {
  const folder = newFolder()

  it("remembers each turn for later readers, and is readable by its owner alone", async () => {
    const file = join(folder, "deep", "down", "journal.db")
    const statements = vi.spyOn(DatabaseSync.prototype, "exec")
    await open(file).alone(async (pages) => {
      await pages.set("a/1", "one")
      await pages.set("a/2", "two")
      await pages.set("b/1", "three")
      await pages.set("a/1", "anew")
    })
    await open(file).alone(async (pages) => {
      assert.deepStrictEqual(await pages.all("a/"), ["anew", "two"])
      assert.strictEqual(await pages.get("b/1"), "three")
      assert.isUndefined(await pages.get("c"))
    })
    assert.strictEqual(statSync(file).mode & 0o777, 0o600)
    // Full: a commit returns once its file is synced.
    for (const connection of statements.mock.contexts)
      assert.deepStrictEqual(Object.values(Object(connection).prepare("PRAGMA synchronous").get()), [2])
    assert.isNotEmpty(statements.mock.contexts)
    statements.mockRestore()
  })

  it("stores nothing of a turn that failed or was refused on its way, and continues", async () => {
    const journal = open(join(folder, "failed.db"))
    const failed = journal.alone(async (pages) => {
      await pages.set("half", "written")
      throw new Error("the power went")
    })
    assert.strictEqual((await rejected(failed)).message, "the power went")
    const refused = turnsOf(journal)(async (pages) => {
      await pages.set("half", "written")
      throw refuse("not_signed", "The wallet gave no signature.")
    })
    assert.strictEqual((await rejected(refused)).code, "not_signed")
    assert.isUndefined(await journal.alone((pages) => pages.get("half")))
  })

  it("stores nothing of a turn whose transaction a full disk ended", async () => {
    const statements = vi.spyOn(DatabaseSync.prototype, "exec")
    const journal = open(join(folder, "full.db"))
    const [old, another] = ["the-key-of-an-old-purchase", "the-key-of-another-one"]
    const begin = (key: string, note: string) =>
      purchasesIn(journal).begin(key, async () => ({
        act: "offerPrayer",
        url: altarUrl,
        altar: altarUrl,
        request: { payload: { note } },
      }))
    await begin(old, "x".repeat(8_000))
    const [connection] = statements.mock.contexts
    statements.mockRestore()
    Object(connection).exec("PRAGMA max_page_count = 6")
    assert.strictEqual((await rejected(begin(another, "x".repeat(9_000)))).code, "journal_unavailable")
    assert.deepStrictEqual(valuesOf(await purchasesIn(journal).all(), "key"), [old])
  })

  it("admits one turn at a time, on one connection or several", async () => {
    const file = join(folder, "shared.db")
    const journals = [open(file), open(file), open(file)]
    let [inside, most] = [0, 0]
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        journals[index % 3]?.alone(async (pages) => {
          most = Math.max(most, ++inside)
          const count = Number((await pages.get("count")) ?? "0")
          await new Promise((resolve) => setTimeout(resolve, 1))
          await pages.set("count", String(count + 1))
          inside -= 1
        }),
      ),
    )
    assert.strictEqual(most, 1)
    assert.strictEqual(await open(file).alone((pages) => pages.get("count")), "30")
  })
})

it.effect("a checkpoint's file is synced before it replaces the old one, and its folder afterwards", function* () {
  const steps: Array<string> = []
  const step = (name: string) => Effect.sync(() => void steps.push(name))
  const opened = (path: string) =>
    ({ writeAll: () => step("write"), sync: step(`sync ${extname(path)}`) }) as unknown as FileSystem.File
  const files = FileSystem.layerNoop({
    open: (path) => Effect.sync(() => opened(path)),
    rename: (from, to) => step(`rename ${extname(from)} to ${to}`),
  })
  yield* Effect.provide(DurableFile.write("/log/checkpoint", "a note"), files)
  assert.deepStrictEqual(steps, ["write", "sync .new", "rename .new to /log/checkpoint", "sync "])
})

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const [mine, hostile] = ["https://altar.example", "https://hostile.example"]

const drafted = (altar: string, words: string) => ({
  act: "setWitnessStone",
  url: `${altar}/api/witness`,
  altar,
  request: {},
  sealed: { salt: "0123456789abcdef", words },
})

const bought = async (journal: Journal, altar: string, key: string, words: string) => {
  const purchases = purchasesIn(journal)
  const purchase = await purchases.begin(key, async () => drafted(altar, words))
  await purchases.amend(purchase, { settled: { id, permalink: `${altar}/witness/${id}`, answer: {} } })
}

const opened = async (
  method: "reveal" | "unseal",
  journal: Journal,
  url: string,
  ...of: Parameters<ReturnType<typeof buyer>["reveal"]>
) => {
  const told: Array<string> = []
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    const { text, words } = JSON.parse(await request.text())
    told.push(`${new URL(request.url).origin} ${text ?? words}`)
    return Response.json({ ok: false, code: "stone_not_found", message: "There is no such stone." }, { status: 404 })
  }
  const error = await rejected(buyer({ url, journal, fetch: send })[method](...of))
  return { ...error, message: error.message, told }
}

const revealed = (...of: Parameters<typeof opened> extends [unknown, ...infer Rest] ? Rest : never) =>
  opened("reveal", ...of)

describe("the words of an id", () => {
  it("go nowhere under what is no id, and with a salt or words that no commitment has", async () => {
    const salt = "5c1fd1e6a0bb4e7f9c2d"
    for (const [of, given] of [
      ["..", { salt, words: "Mine." }],
      [`${mine}/acts/${id}`, { salt, words: "Mine." }],
      [id, { salt: "short", words: "Mine." }],
      [id, { salt, words: "x".repeat(281) }],
    ] as const) {
      const { code, message, told } = await revealed(memoryJournal(), mine, of, given)
      assert.deepStrictEqual([code, told], ["bad_request", []], message)
      assert.match(message, /Nothing was sent\.$/u)
    }
  })

  it.each(["reveal", "unseal"] as const)("go nowhere to %s what has another name, or is no text", async (method) => {
    const journal = memoryJournal()
    await bought(journal, mine, "key-of-my-altar", "Mine.")
    for (const given of [{ text: "Others." }, { words: null }, { words: 7 }, { salt: null }, { Words: "Others." }]) {
      const { code, message, told } = await opened(method, journal, mine, id, Object(given))
      assert.deepStrictEqual([code, told], ["bad_request", []], message)
      assert.match(message, /Nothing was sent\.$/u)
    }
    assert.deepStrictEqual((await opened(method, journal, mine, id, Object({ words: undefined }))).told, [
      `${mine} Mine.`,
    ])
  })

  it.each(["reveal", "unseal"] as const)("are those of the journal to %s words or a salt alone", async (method) => {
    const { salt } = drafted(mine, "").sealed
    const journal = memoryJournal()
    await bought(journal, mine, "key-of-my-altar", "Mine.")
    for (const given of [{ words: "Others." }, { words: "" }, { salt: "0123456789abcdeF" }]) {
      const { code, message, told } = await opened(method, journal, mine, id, given)
      assert.deepStrictEqual([code, told], ["words_differ", []], message)
      assert.match(message, /give both salt and words, or neither\. Nothing was sent\.$/u)
      const strange = await opened(method, memoryJournal(), mine, id, given)
      assert.deepStrictEqual([strange.code, strange.told], ["words_unknown", []], strange.message)
    }
    for (const given of [{ words: " Mine.\r\n" }, { salt }, { salt, words: "Mine." }])
      assert.deepStrictEqual((await opened(method, journal, mine, id, given)).told, [`${mine} Mine.`])
    const other = { salt: "another-salt-of-16", words: "Others." }
    assert.deepStrictEqual((await opened(method, journal, mine, id, other)).told, [`${mine} Others.`])
    await bought(journal, mine, "another-key-there", "Others.")
    assert.deepStrictEqual((await opened(method, journal, mine, id, { words: "Mine." })).told, [`${mine} Mine.`])
  })

  it("go to the altar that they were sealed for, even when another altar answers the same id later", async () => {
    const journal = memoryJournal()
    await bought(journal, mine, "key-of-my-altar", "Mine.")
    assert.deepStrictEqual((await revealed(journal, "https://third.example", id)).told, [`${mine} Mine.`])
    await bought(journal, hostile, "key-of-hostile", "Of another candle.")
    assert.deepStrictEqual((await revealed(journal, mine, id)).told, [`${mine} Mine.`])
    const asked = await revealed(journal, "https://third.example", id)
    assert.deepStrictEqual([asked.code, asked.told], ["words_ambiguous", []])
    assert.include(asked.message, `for ${mine} and for ${hostile}: name the altar you mean with --url`)
  })

  it("are sent to no altar after one altar answered two purchases with it", async () => {
    const journal = memoryJournal()
    await bought(journal, hostile, "first-key-there", "One.")
    await bought(journal, hostile, "second-key-there", "Other.")
    const { code, message, told } = await revealed(journal, hostile, id)
    assert.deepStrictEqual([code, told], ["words_ambiguous", []])
    assert.match(message, /more than one purchase with the id .*: give salt and words\. Nothing was sent\.$/u)
  })

  it("are found in a journal of an older version", async () => {
    const journal = memoryJournal()
    const settled = { id, permalink: `${mine}/witness/${id}`, answer: {} }
    const key = "key-of-my-altar"
    const page = { key, ...drafted(mine, "Mine."), begunAt: "2026-11-21T09:17:02.115Z", settled }
    await journal.alone(async (pages) => {
      await pages.set(`purchase/${page.key}`, JSON.stringify(page))
      await pages.set(`id/${id}`, JSON.stringify(page.key))
    })
    assert.deepStrictEqual((await revealed(journal, mine, id)).told, [`${mine} Mine.`])
  })
})

it("a journal that cannot be used states what is known before and after a payment", async () => {
  const purchases = purchasesIn({ alone: () => Promise.reject(new Error("database or disk is full")) })
  const key = "key-of-my-altar"
  const purchase = { key, ...drafted(mine, "Mine."), begunAt: "2026-11-21T09:17:02.115Z" }
  const said = (asked: Promise<unknown>) => rejected(asked).then(({ message }) => message)
  const full = "The journal cannot be used: database or disk is full."
  assert.strictEqual(await said(purchases.begin(key, async () => purchase)), `${full} Nothing was sent.`)
  const [approve, sign, wait] = [() => undefined, async () => "header", async () => {}]
  const signing = purchases.signOnce({ purchase, challenge: asking(), payer: mine, approve, sign, wait })
  assert.strictEqual(await said(signing), `${full} This request sent no payment, so it charged nothing.`)
  const settled = { id, permalink: mine, answer: {} }
  assert.strictEqual(await said(purchases.amend(purchase, { settled })), full)
})
