/** Salt and words are in the browser before anything is paid, come first on the receipt, and find their way back. */
import { mkdtemp, readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { Download, Page, Request } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { isAccessible, type Look, looksOf, looksWell, picture, steps, visit } from "../lab/browser/Browser.ts"
import { fill, guide, leave, settled, signed } from "../lab/browser/Guide.ts"
import { forbidStorage, take } from "../lab/browser/GuidePage.ts"
import { watch } from "../lab/browser/PrayerPage.ts"
import { patience } from "../lab/Patience.ts"

interface Kept {
  readonly salt: string
  readonly words: string
  readonly commitment: string
}

/** Everything that a server could have learned from these requests. */
const sentBy = (requests: ReadonlyArray<Request>) =>
  requests.map((request) => `${request.url()} ${request.postData() ?? ""}`).join("\n")

/** The words this browser keeps. */
const held = (page: Page): Promise<ReadonlyArray<Kept>> =>
  page.evaluate(() =>
    Object.keys(localStorage)
      .filter((slot) => slot.startsWith("altar:words:"))
      .map((slot) => JSON.parse(localStorage.getItem(slot) ?? "null")),
  )

const layStone = async (page: Page, words: string) => {
  await page.locator("#stone-words").fill(words)
  await page.getByRole("button", { name: "Set the stone for $0.01" }).click()
}

const setStone = async (page: Page, words: string) => {
  await take(page, "Set the stone")
  await layStone(page, words)
}

const keepsakeOf = async (page: Page): Promise<Kept> => JSON.parse(await page.locator(".keepsake code").innerText())

/** Whether leaving the page is questioned; it is not left. */
const isAsked = async (page: Page) => {
  const dialog = page.waitForEvent("dialog", { timeout: patience(15) }).then(
    (asked) => asked.dismiss().then(() => asked.type() === "beforeunload"),
    () => false,
  )
  await page.evaluate(() => setTimeout(() => location.reload()))
  return dialog
}

/** The browser may run apart from the test: what it saved is copied over. */
const keep = async (download: Download) => {
  const path = join(await mkdtemp(join(tmpdir(), "altar-words-")), "words.json")
  await download.saveAs(path)
  return path
}

const file = (kept: object) => ({
  name: "stone.json",
  mimeType: "application/json",
  buffer: Buffer.from(JSON.stringify(kept)),
})

guide("sealed words", (it) => {
  it.effect("of a stone are kept before anything is sent, shown first, and filled in on its page", () =>
    Effect.gen(function* () {
      const { complaints, page } = yield* visit("/v2/witness", { bypassCSP: true })
      const requests = watch(page)
      const words = "The heron will return by May."
      yield* steps(async () => {
        const atPrice: Array<ReadonlyArray<Kept>> = []
        await page.route(
          (url) => url.pathname === "/api/witness",
          async (route) => {
            atPrice.push(await held(page))
            await route.continue()
          },
        )
        await setStone(page, words)
        await settled(page).waitFor()
        const kept = await keepsakeOf(page)
        assert.strictEqual(kept.commitment, seal(kept.salt, words))
        // For the price already, and for the payment.
        assert.deepStrictEqual(
          atPrice.map((then) => then.map(({ commitment, salt }) => [commitment, salt])),
          [[[kept.commitment, kept.salt]], [[kept.commitment, kept.salt]]],
        )
        const order = await page
          .locator(".receipt")
          .evaluate((receipt) =>
            [...receipt.querySelectorAll("b, a, button")].map((one) => one.textContent?.trim() ?? ""),
          )
        assert.isBelow(order.indexOf("Keep this."), order.indexOf("Open the act"))
        assert.isBelow(order.indexOf("Save as a file"), order.indexOf("Open the act"))
        assert.isBelow(order.indexOf("Copy"), order.indexOf("Open the act"))
        await page.getByText("Not saved yet.").waitFor()
        await isAccessible(page, "keep this")
        await picture(page, "guide-keep-this")
        assert.isTrue(await isAsked(page), "leaving with unsaved words is questioned")
        const saving = page.waitForEvent("download")
        await page.getByRole("link", { name: "Save as a file" }).click()
        const saved = await keep(await saving)
        assert.deepStrictEqual(JSON.parse(await readFile(saved, "utf8")), kept)
        await page.getByText("Kept.", { exact: true }).waitFor()
        const asked: Array<string> = []
        page.on("dialog", (dialog) => {
          asked.push(dialog.type())
          void dialog.accept()
        })
        await page.getByRole("link", { name: "Open the act" }).click()
        await page.getByRole("heading", { name: "Witness stone 1" }).waitFor()
        assert.deepStrictEqual(asked, [], "whoever saved them may go")
        await page.locator("#check").getByText("Filled in.").first().waitFor()
        assert.strictEqual(await page.locator("#check-salt").inputValue(), kept.salt)
        await page.getByRole("button", { name: "Check without sending" }).click()
        await page.getByText("They match.", { exact: true }).waitFor()
        assert.notInclude(sentBy(requests), kept.salt)
        assert.notInclude(sentBy(requests), "heron")
        await page.getByText("Reveal these words to everyone").click()
        await isAccessible(page, "filled in")
        await picture(page, "guide-filled-in")
        await page.getByRole("button", { name: "Check, then reveal" }).click()
        await page.getByRole("link", { name: "See the words" }).click()
        await page.locator("blockquote").filter({ hasText: words }).waitFor()
        assert.strictEqual(signed(requests).length, 1)
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )

  it.effect("of a candle are filled in on its page and unsealed", () =>
    Effect.gen(function* () {
      const { complaints, page } = yield* visit("/v2/spirits/kelp-seal")
      yield* steps(async () => {
        await page.getByText("Light a candle here").click()
        const form = page.getByRole("form", { name: "Light the candle" })
        await form.getByRole("button", { name: "Make a play wallet" }).click()
        await form.getByText("Play wallet with").waitFor()
        await form.getByLabel("Dedication").fill("For Grandma")
        await form.getByLabel("Sealed words").fill("Thank you for the bees.")
        await form.getByRole("button", { name: "Light the candle for $1.00" }).click()
        await settled(page).waitFor()
        await page.getByRole("link", { name: "Save as a file" }).click()
        await page.getByRole("link", { name: "Open the act" }).click()
        await page.locator("#check").getByText("Filled in.").first().waitFor()
        await page.getByText("Reveal these words to everyone").click()
        await page.getByRole("button", { name: "Check, then reveal" }).click()
        await page.locator("blockquote", { hasText: "Thank you for the bees." }).waitFor()
        await page.getByRole("link", { name: "See the words" }).click()
        await page.locator("q").filter({ hasText: "Thank you for the bees." }).waitFor()
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )

  it.effect("come back from a saved file that is chosen, dropped or pasted, and another file is refused", () =>
    Effect.gen(function* () {
      const [salt, words] = ["0123456789abcdef", "Snow before the ninth."]
      const kept = { salt, words, commitment: seal(salt, words) }
      const stone = yield* leave("/api/witness", { commitment: kept.commitment })
      const { complaints, page } = yield* visit(`/witness/${stone.id}`)
      const requests = watch(page)
      yield* steps(async () => {
        const filled = page.locator("#check").getByText("Filled in.").first()
        const input = page.getByLabel("Your saved file")
        const salted = () => page.locator("#check-salt").inputValue()
        for (const [bad, why] of [
          [{ ...kept, words: "Snow before the tenth." }, "do not hash to its commitment"],
          [{ salt, words: "Other", commitment: seal(salt, "Other") }, "another commitment"],
          [{ name: "no keepsake" }, "no file of sealed words"],
        ] as const) {
          await input.setInputFiles(file(bad))
          await page.locator("#check .verdict--broken", { hasText: why }).waitFor()
          assert.strictEqual(await salted(), "", why)
        }
        await input.setInputFiles(file(kept))
        await filled.waitFor()
        assert.strictEqual(await salted(), salt)
        assert.strictEqual(await page.locator("#reveal-salt").inputValue(), salt)
        // From now on this browser holds them.
        await page.reload()
        await filled.waitFor()

        const text = JSON.stringify(kept)
        for (const kind of ["drop", "paste"] as const) {
          await page.evaluate(() => localStorage.clear())
          await page.reload()
          assert.strictEqual(await salted(), "")
          await page.locator("#check-salt").evaluate(
            (field, [event, json]) => {
              const data = new DataTransfer()
              if (event === "drop") data.items.add(new File([json], "stone.json", { type: "application/json" }))
              else data.setData("text/plain", json)
              field.dispatchEvent(
                event === "drop"
                  ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })
                  : new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
              )
            },
            [kind, text] as const,
          )
          await filled.waitFor()
          assert.strictEqual(await page.locator("#check-words").inputValue(), words, kind)
        }
        assert.notInclude(sentBy(requests), salt)
      })
      assert.deepStrictEqual(complaints, [])
    }),
  )

  it.effect("come back from a file of which another entry was damaged, and that is said", () =>
    Effect.gen(function* () {
      const [salt, words] = ["fedcba9876543210", "Snow after the ninth."]
      const kept = { salt, words, commitment: seal(salt, words) }
      const stone = yield* leave("/api/witness", { commitment: kept.commitment })
      const { page } = yield* visit(`/witness/${stone.id}`)
      yield* steps(async () => {
        const input = page.getByLabel("Your saved file")
        await input.setInputFiles(file({ words: [{ ...kept, salt: "0".repeat(16) }, kept] }))
        await page.locator("#check").getByText("Filled in.").first().waitFor()
        assert.strictEqual(await page.locator("#check-salt").inputValue(), salt)
        await page.locator("#check").getByText("1 entry did not hash to the commitment and were left out.").waitFor()
      })
    }),
  )

  it.effect("that are settled stay when their tab is restored from before it was signed", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        let before: ReadonlyArray<readonly [string, string]> = []
        await page.route(
          (url) => url.pathname === "/api/witness",
          async (route) => {
            if (route.request().headers()["payment-signature"] !== undefined)
              before = await page.evaluate(() =>
                Object.keys(sessionStorage).flatMap((slot) =>
                  slot.startsWith("altar:purchase:")
                    ? [
                        [
                          slot,
                          JSON.stringify({ ...JSON.parse(sessionStorage.getItem(slot) ?? "{}"), payment: null }),
                        ] as const,
                      ]
                    : [],
                ),
              )
            await route.continue()
          },
        )
        await setStone(page, "Kept through a restart.")
        await settled(page).waitFor()
        await page.getByRole("link", { name: "Save as a file" }).click()
        assert.strictEqual(before.length, 1)
        await page.evaluate((slots) => slots.forEach(([slot, text]) => sessionStorage.setItem(slot, text)), before)
        await page.reload()
        await page.getByText("This tab was left before it held a signature").waitFor()
        assert.strictEqual(await page.getByText(/nothing was charged/iu).count(), 0)
        assert.deepStrictEqual(
          (await held(page)).map(({ words }) => words),
          ["Kept through a restart."],
        )
      })
    }),
  )

  it.effect("that a browser cannot keep are said to be lost with the page", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/witness")
      yield* steps(async () => {
        await forbidStorage(page)
        await page.reload()
        await setStone(page, "Nothing is kept.")
        await settled(page).waitFor()
        await page.getByText("they are lost when you leave this page").waitFor()
        assert.isTrue(await isAsked(page))
      })
    }),
  )
})

guide("my acts", (it) => {
  it.effect("are found by wallet, with the box of sealed words, which leaves and comes back as one file", () =>
    Effect.gen(function* () {
      const { complaints, page, url } = yield* visit("/v2/mine", { bypassCSP: true })
      const other = yield* visit("/v2/mine", { bypassCSP: true })
      const requests = [watch(page), watch(other.page)]
      yield* steps(async () => {
        await page.getByText("No sealed words are in this browser.").waitFor()
        await isAccessible(page, "an empty box")
        for (const words of ["The first of two.", "<b>The second</b> of two."]) {
          await page.goto(`${url}/v2/witness`)
          if (words.startsWith("The first")) await setStone(page, words)
          else {
            await page.getByText("Play wallet with").first().waitFor()
            await layStone(page, words)
          }
          await settled(page).waitFor()
        }
        await page.getByRole("link", { name: "My acts" }).first().click()
        await page.locator(".box > li").nth(1).waitFor()
        const box = await page.locator(".box").innerText()
        assert.match(box, /Witness stone 2[^]*<b>The second<\/b> of two\.[^]*Witness stone 1[^]*The first of two\./u)
        assert.match(box, /Only in this browser\./u)
        // The wallet that paid is offered; its acts say whether their words are here.
        await page.getByText("Paid from this browser:").getByRole("link").click()
        await page.locator(".journal li").nth(1).waitFor()
        await page.getByText("its words are in this browser").first().waitFor()
        await page.getByText("Salt, words and commitment").first().click()
        await page.locator(".keepsake").waitFor()
        await isAccessible(page, "my acts")
        const mine = page.url()
        assert.match(mine, /\/v2\/mine\?wallet=0x[0-9a-fA-F]{40}$/u)

        const kept = await held(page)
        assert.strictEqual(kept.length, 2)
        const saving = page.waitForEvent("download")
        await page.getByRole("link", { name: "Save all as one file" }).click()
        const saved = await keep(await saving)
        await page.getByText("You saved a copy.").first().waitFor()

        await other.page.goto(mine)
        await other.page.getByText("its words are not in this browser").first().waitFor()
        const [first] = kept
        const forged = { words: [...kept, { ...first, salt: "f".repeat(32) }] }
        await other.page.getByLabel("Your saved file").setInputFiles(file(forged))
        await other.page.getByText("2 entries are in the box now. 1 entry did not hash").waitFor()
        await other.page.getByLabel("Your saved file").setInputFiles(saved)
        await other.page.getByText("2 entries are in the box now.", { exact: false }).waitFor()
        assert.deepStrictEqual(
          new Set((await held(other.page)).map(({ salt }) => salt)),
          new Set(kept.map(({ salt }) => salt)),
        )
        await other.page.getByText("its words are in this browser").first().waitFor()
        await other.page.getByLabel("Your saved file").setInputFiles(file({ nothing: true }))
        await other.page.getByText("That is no file of sealed words").waitFor()

        await other.page.getByText("Salt, words and commitment").first().click()
        await other.page.getByRole("button", { name: "Remove from this browser" }).click()
        await other.page.getByRole("button", { name: "Keep them" }).click()
        assert.strictEqual((await held(other.page)).length, 2)
        await other.page.getByRole("button", { name: "Remove from this browser" }).click()
        await other.page.getByRole("button", { name: "Remove", exact: true }).click()
        await other.page.locator(".box > li").nth(1).waitFor({ state: "detached" })
        assert.strictEqual((await held(other.page)).length, 1)

        for (const { salt } of kept) assert.notInclude(requests.map(sentBy).join(), salt)
        assert.notInclude(requests.map(sentBy).join(), "of two")
      })
      assert.deepStrictEqual([...complaints, ...other.complaints], [])
    }),
  )

  it.effect("tell of words that were taken back and found no room", () =>
    Effect.gen(function* () {
      const { page } = yield* visit("/v2/mine")
      const [salt, words] = ["0123456789abcdef", "No room at all."]
      yield* steps(async () => {
        await fill(page, 100)
        await page.getByLabel("Your saved file").setInputFiles(file({ salt, words, commitment: seal(salt, words) }))
        await page.getByText("1 entry found no room here and will be gone when you leave.").waitFor()
        assert.deepStrictEqual(await held(page), [])
      })
    }),
  )

  it.effect("are asked for with a wallet of the browser, also the play wallet of the tab", () =>
    Effect.gen(function* () {
      const { page, url } = yield* visit("/v2/mine")
      yield* steps(async () => {
        await page.getByRole("button", { name: "Ask my wallet" }).click()
        await page.getByText("No wallet was found in this browser.").waitFor()
        await page.goto(`${url}/v2/witness`)
        await take(page, "Set the stone")
        await page.goto(`${url}/v2/mine`)
        await page.getByRole("button", { name: "Ask my wallet" }).click()
        await page.getByText("Nothing here was paid by").waitFor()
        // Words that were sealed here may have been paid for elsewhere.
        await page.goto(`${url}/v2/witness`)
        await page.locator("#seal-words").fill("Paid by an agent.")
        await page.getByRole("button", { name: "Seal", exact: true }).click()
        await page.getByText("Not saved yet.").waitFor()
        const { commitment } = await keepsakeOf(page)
        await page.goto(`${url}/v2/mine`)
        await page.getByText("No act known yet.").waitFor()
        await page.getByRole("link", { name: "Look for its stone" }).click()
        await page.getByText(`Nothing found for`).waitFor()
        assert.include(page.url(), commitment)
      })
    }),
  )

  it.effect("say what is wrong with a wallet, and what needs script", () =>
    Effect.gen(function* () {
      const { page, url } = yield* visit("/v2/mine?wallet=%3Cb%3E", { javaScriptEnabled: false })
      yield* steps(async () => {
        assert.match(await page.getByRole("alert").innerText(), /^<b> is no wallet\./u)
        assert.isTrue(await page.getByText("Without script, a file you saved").isVisible())
        assert.isFalse(await page.getByRole("button", { name: "Ask my wallet" }).isVisible())
        await page.getByRole("textbox", { name: "Wallet" }).fill(`0x${"1".repeat(40)}`)
        await page.getByRole("button", { name: "Show" }).click()
        await page.getByText("Nothing here was paid by").waitFor()
        assert.strictEqual(page.url(), `${url}/v2/mine?wallet=0x${"1".repeat(40)}`)
      })
    }),
  )

  it.effect("look well 360 and 1280 pixels wide, light and dark, and in forced colours", () =>
    Effect.gen(function* () {
      const looks: ReadonlyArray<Look> = [
        ...looksOf(360, 1280),
        { width: 720, colorScheme: "light", forcedColors: "active" },
      ]
      const { page, url } = yield* visit("/v2/witness", { bypassCSP: true, reducedMotion: "reduce" })
      yield* steps(async () => {
        await setStone(page, "Seen on a phone and on a desk, by day and by night: the heron will be back by May.")
        await settled(page).waitFor()
        await looksWell(page, looks, "keep this", "guide-keep-this")
        await page.getByRole("link", { name: "Save as a file" }).click()
        await page.getByRole("link", { name: "Open the act" }).click()
        await page
          .getByRole("button", { name: /^Check stone/u })
          .first()
          .click()
        await page.locator("[data-verify-status] .verdict--holds").waitFor()
        await looksWell(page, looks, "a stone with its words", "guide-stone-filled")
        await page.goto(`${url}/v2/mine`)
        await page.getByText("Paid from this browser:").getByRole("link").first().click()
        await page.getByText("Salt, words and commitment").first().click()
        await page.locator(".keepsake").waitFor()
        await looksWell(page, looks, "my acts", "guide-mine")
      })
    }),
  )
})
