/** The journal on disk: turns are taken, kept whole or not at all, across connections as across crashes. */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { refuse } from "../../src/buyer/PurchaseError.ts"
import { exclusively } from "../../src/buyer/JournalPages.ts"
import { open } from "../../src/cli/buyer/JournalFile.ts"

describe("the journal", () => {
  let folder = ""
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "spirit-altar-journal-"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("remembers what a turn wrote, for whoever opens it next, and is its owner's alone", async () => {
    const file = join(folder, "deep", "down", "journal.db")
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
  })

  it("takes back a turn that failed, and goes on", async () => {
    const journal = open(join(folder, "failed.db"))
    const failed = journal.alone(async (pages) => {
      await pages.set("half", "written")
      throw new Error("the power went")
    })
    assert.strictEqual(
      await failed.then(
        () => "kept",
        (error: Error) => error.message,
      ),
      "the power went",
    )
    assert.isUndefined(await journal.alone((pages) => pages.get("half")))
  })

  it("keeps nothing of a turn that was refused on its way", async () => {
    const journal = open(join(folder, "refused.db"))
    const turn = exclusively(journal)((pages) =>
      Effect.andThen(
        Effect.promise(() => pages.set("spent", "0.01")),
        refuse("not_signed", "The wallet gave no signature."),
      ),
    )
    assert.strictEqual((await Effect.runPromise(Effect.flip(turn))).code, "not_signed")
    assert.isUndefined(await journal.alone((pages) => pages.get("spent")))
  })

  it("lets nobody in while somebody has the turn, be it the same connection or another", async () => {
    const file = join(folder, "shared.db")
    const journals = [open(file), open(file), open(file)]
    let inside = 0
    let most = 0
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
