/** A file is the secret of a stone: it is hashed in the browser, set, checked and found again, and never sent. */
import { createHash, randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import { assert } from "@effect/vitest"
import type { Page, Request } from "playwright-core"
import { guide, settled } from "../lab/browser/Guide.ts"
import { take } from "../lab/browser/GuidePage.ts"
import { guidePaths } from "../lab/browser/GuidePaths.ts"
import { watch } from "../lab/browser/PrayerPage.ts"
import { held, keepsakeOf, sentBy } from "../lab/browser/WordsPage.ts"
import { ask } from "../lab/Fixture.ts"

// Longer than one piece of a stream.
const buffer = randomBytes(3_000_000)
const sha256 = createHash("sha256").update(buffer).digest("hex")
const picture = { name: "heron.png", mimeType: "image/png", buffer }
const other = { ...picture, buffer: Buffer.concat([buffer, Buffer.from("x")]) }

guide("a file", (it) => {
  it("is hashed in the browser, set as a stone, found by hash, and told from another", async ({ run, url, visit }) => {
    const { page } = await visit("/v2/stone")
    const requests = watch(page)
    const form = page.getByRole("form", { name: "Set the stone" })
    await take(page, "Set the stone")
    await form.getByText("More: a file, spirit, name").click()
    await form.getByLabel("Or a file").setInputFiles(picture)
    await form.getByText("Hashed.").waitFor()
    assert.include(await form.locator("[data-file-said]").innerText(), sha256)
    assert.isTrue(await form.locator("#stone-words").isDisabled())
    assert.isTrue(await form.getByRole("radio", { name: "File or text" }).isChecked())
    await form.getByRole("button", { name: "Use words instead" }).click()
    assert.isTrue(await form.locator("#stone-words").isEnabled())
    await form.getByLabel("Or a file").setInputFiles(picture)
    await form.getByText("Hashed.").waitFor()
    await page.getByRole("button", { name: "Set the stone for $0.01" }).click()
    await settled(page).waitFor()
    assert.isFalse(sentBy(requests).includes("heron.png"))
    const { json } = await run(ask(`${url}/api/witness?limit=1`))
    const [stone] = JSON.parse(JSON.stringify(json["stones"]))
    assert.deepInclude(stone, { commitment: sha256, kind: "hash" })

    await page.goto(`${url}/verify`)
    await page.getByLabel("The file").setInputFiles(picture)
    await page.getByRole("link", { name: "See the stone" }).click()
    await page.waitForURL(`**/witness/${stone.id}`)
    await page.getByRole("heading", { name: "Witness stone 1" }).waitFor()
    const check = page.locator("[data-file-check]")
    await check.locator("[data-file]").setInputFiles(picture)
    await check.getByText("This is the file.").waitFor()
    await check.locator("[data-file]").setInputFiles(other)
    await check.getByText("Another file.").waitFor()
  })
})

const textFile = (name: string, text: string) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) })

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex")

guide("several files", (it) => {
  it("are sealed by their list, and each that differs from it is named", async ({ url, visit }) => {
    const { page } = await visit("/v2/stone")
    const form = page.getByRole("form", { name: "Set the stone" })
    const [a, b] = [textFile("a.txt", "a"), textFile("b.txt", "b")]
    const sums = `${hashOf("a")}  a.txt\n${hashOf("b")}  b.txt\n`
    const list = textFile("SHA256SUMS", sums)
    await take(page, "Set the stone")
    await form.getByText("More: a file, spirit, name").click()
    const chosen = form.getByLabel("Or a file")
    await chosen.setInputFiles([a, textFile("SHA256SUMS", sums.replace("b.txt", "c.txt"))])
    await form.getByText("c.txt is listed, and was not chosen.").waitFor()
    assert.isTrue(await form.locator("#stone-words").isEnabled())
    await chosen.setInputFiles([b, a])
    await form.getByText("Hashed.").waitFor()
    const saved = page.waitForEvent("download")
    await form.getByRole("link", { name: "Save the list" }).click()
    const download = await saved
    assert.strictEqual(download.suggestedFilename(), "SHA256SUMS")
    assert.strictEqual(await readFile(await download.path(), "utf8"), sums)
    const { commitment, kind } = await set(page)
    assert.deepStrictEqual([commitment, kind], [hashOf(sums), "hash"])

    await page.goto(`${url}/verify`)
    const status = page.locator("[data-checker] [role=status]")
    await page.getByLabel("The file").setInputFiles([list, a, textFile("b.txt", "B"), textFile("d.txt", "d")])
    await status.getByText("Not these files.").waitFor()
    await status.getByText("b.txt has another fingerprint than the list says.").waitFor()
    await status.getByText("d.txt is not in the list.").waitFor()
    await page.getByLabel("The file").setInputFiles([list, a])
    await status.getByText("b.txt is listed, and was not chosen.").waitFor()
    await status.getByText(/^The list of these files existed on /u).waitFor()
    await page.getByLabel("The file").setInputFiles([a, textFile("a.txt", "other")])
    await status.getByText("a.txt cannot be listed").waitFor()
    await page.getByLabel("The file").setInputFiles([b, a])
    await status.getByRole("link", { name: "See the stone" }).click()
    const check = page.locator("[data-file-check]")
    await check.locator("[data-file]").setInputFiles([a, b])
    await check.getByText("This is the file.").waitFor()
    await check.locator("[data-file]").setInputFiles([list, a, textFile("b.txt", "B")])
    await check.getByText("Not these files.").waitFor()
  })

  it("and large ones are hashed in pieces, with their progress", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    const form = page.getByRole("form", { name: "Set the stone" })
    const bytes = randomBytes(40_000_000)
    await page.evaluate(() => {
      const told: Array<string> = []
      Object.assign(window, { told })
      const place = document.querySelector("[data-file-said]")
      if (place !== null) new MutationObserver(() => told.push(place.textContent)).observe(place, { childList: true })
    })
    await take(page, "Set the stone")
    await form.getByText("More: a file, spirit, name").click()
    await form
      .getByLabel("Or a file")
      .setInputFiles({ name: "film.bin", mimeType: "application/octet-stream", buffer: bytes })
    await form.getByText("Hashed.").waitFor()
    const shown = await form.locator("[data-file-said]").innerText()
    assert.include(shown, createHash("sha256").update(bytes).digest("hex"))
    const told = (await page.evaluate(() => Reflect.get(window, "told"))).join()
    assert.include(told, "Hashing film.bin: 41 %.")
  })
})

/** Chooses the picture beside words that are typed already. */
const chooseBeside = async (page: Page, words: string) => {
  await page.locator("#stone-words").fill(words)
  await page.getByText("More: a file, spirit, name").click()
  await page.getByLabel("Or a file").setInputFiles(picture)
  await page.getByText("Hashed.").waitFor()
}

/** Sets the stone of the form; the commitment and kind that it sent, and its receipt. */
const set = async (page: Page) => {
  const sent = page.waitForRequest((request) => request.headers()["payment-signature"] !== undefined)
  await page.getByRole("button", { name: "Set the stone for $0.01" }).click()
  const body = (await sent).postDataJSON()
  await settled(page).waitFor()
  return { ...body, receipt: await page.locator(".receipt").innerText() }
}

/** From now on files are read once `release` is called, or not at all. */
const holdFiles = (page: Page) =>
  page.evaluate(() => {
    const { promise, reject, resolve } = Promise.withResolvers<void>()
    const read = Reflect.get(Blob.prototype, "arrayBuffer")
    Blob.prototype.arrayBuffer = function arrayBuffer() {
      return promise.then(() => Reflect.apply(read, this, []))
    }
    Object.assign(window, { release: resolve, fail: () => reject(new Error("gone")) })
  })

guide("a stone", (it) => {
  it("is of what the page shows as hashed, also after typed words, and only a file is to be kept", async ({
    visit,
  }) => {
    const { page } = await visit("/v2/stone")
    const again = () => page.getByRole("link", { name: "Another" }).click()
    await take(page, "Set the stone")
    await page.locator("#stone-words").fill("Typed before the file was chosen.")
    // Dropped on the form, while the fold of the file is closed.
    await page.locator("#stone-words").evaluate((place) => {
      const data = new DataTransfer()
      data.items.add(new File(["a"], "a.txt"))
      place.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
    })
    await page.getByText("Hashed.").waitFor()
    const ofFile = await set(page)
    assert.deepStrictEqual(
      [ofFile.commitment, ofFile.kind],
      [createHash("sha256").update("a").digest("hex"), "hash"],
      ofFile.receipt,
    )
    assert.match(ofFile.receipt, /Keep the file unchanged\./u)
    assert.deepStrictEqual(await held(page), [])

    await again()
    await page.locator("#stone-words").fill("A text, not a file.")
    await page.getByRole("radio", { name: "File or text" }).check()
    const ofText = await set(page)
    assert.deepStrictEqual([ofText.commitment, ofText.kind], [(await keepsakeOf(page)).commitment, "hash"])
    assert.notMatch(ofText.receipt, /the file unchanged/u)

    await again()
    await chooseBeside(page, "A file of another kind.")
    await page.getByRole("radio", { name: "Promise" }).check()
    const promised = await set(page)
    assert.deepStrictEqual([promised.commitment, promised.kind], [sha256, "promise"])
    assert.match(promised.receipt, /Keep the file unchanged\./u)
  })

  it("is of the words again once the file is removed, also while it is being hashed", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    await take(page, "Set the stone")
    await chooseBeside(page, "Words after all.")
    await page.getByLabel("Or a file").setInputFiles([])
    await page.locator("#stone-words").waitFor()
    assert.strictEqual(await page.locator("[data-file-said]").innerText(), "")
    await holdFiles(page)
    await page.getByLabel("Or a file").setInputFiles(other)
    await page.getByLabel("Or a file").setInputFiles([])
    await page.evaluate(() => Reflect.get(window, "release")())
    const ofWords = await set(page)
    assert.deepStrictEqual([ofWords.commitment, ofWords.kind], [(await keepsakeOf(page)).commitment, "intention"])
  })

  it("waits for a file that is being hashed, and is of the words when no file can be read", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    const requests = watch(page)
    await take(page, "Set the stone")
    await page.locator("#stone-words").fill("Typed before the file was chosen.")
    await page.getByText("More: a file, spirit, name").click()
    await holdFiles(page)
    await page.getByLabel("Or a file").setInputFiles(picture)
    await page.getByText("Hashing heron.png.").waitFor()
    const ofFile = set(page)
    await page.locator("[data-submit][aria-disabled=true]").waitFor()
    assert.isFalse(sentBy(requests).includes("/api/witness"))
    await page.evaluate(() => Reflect.get(window, "release")())
    assert.strictEqual((await ofFile).commitment, sha256)

    await page.getByRole("link", { name: "Another" }).click()
    await chooseBeside(page, "Words after all.")
    await holdFiles(page)
    await page.getByLabel("Or a file").setInputFiles(other)
    await page.evaluate(() => Reflect.get(window, "fail")())
    await page.getByText("The browser cannot read this file.").waitFor()
    const ofWords = await set(page)
    assert.deepStrictEqual([ofWords.commitment, ofWords.kind], [(await keepsakeOf(page)).commitment, "intention"])
  })

  it("and every other act is bought without the fields that are disabled", async ({ run, url, visit }) => {
    const { page } = await visit("/v2/stone")
    await take(page, "Set the stone")
    let bought = 0
    for (const path of new Set(await run(guidePaths))) {
      await page.goto(`${url}${path}`)
      for (let index = 0; index < (await page.locator("[data-pay]").count()); index += 1) {
        const form = page.locator("[data-pay]").nth(index)
        const names = await form.evaluate((element) => {
          for (const fold of document.querySelectorAll("details")) fold.open = true
          const marked = [...element.querySelectorAll("[data-body], [data-seal], [data-query], [data-place]")]
          const fields = marked.filter((field): field is HTMLInputElement => "value" in field && "disabled" in field)
          for (const field of fields) {
            if (field instanceof HTMLSelectElement) field.selectedIndex = field.options.length - 1
            else field.value = "Not to be sent."
            field.disabled = field.dataset["place"] === undefined
          }
          return fields.flatMap(({ dataset: { body, query, seal } }) => body ?? seal ?? query ?? [])
        })
        const asked = page.waitForRequest((request: Request) => request.method() === "POST")
        await page.route(
          ({ pathname }) => pathname.startsWith("/api/"),
          (route) => route.abort(),
          { times: 1 },
        )
        await form.locator("[data-submit]").click()
        const request = await asked
        assert.isNotEmpty(names, path)
        for (const name of names) assert.notInclude(`${request.url()} ${request.postData() ?? ""}`, name, path)
        bought += 1
      }
    }
    assert.isAbove(bought, 10)
    assert.deepStrictEqual(await held(page), [])
  })
})
