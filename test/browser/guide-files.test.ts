/** A file is the secret of a stone: it is hashed in the browser, set, checked and found again, and never sent. */
import { createHash, randomBytes } from "node:crypto"
import { assert } from "@effect/vitest"
import { guide, settled } from "../lab/browser/Guide.ts"
import { take } from "../lab/browser/GuidePage.ts"
import { watch } from "../lab/browser/PrayerPage.ts"
import { sentBy } from "../lab/browser/WordsPage.ts"
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
    await form.getByText("More: a file, kind, spirit, name").click()
    await form.getByLabel("Or a file").setInputFiles(picture)
    await form.getByText("Hashed.").waitFor()
    assert.include(await form.locator("[data-file-said]").innerText(), sha256)
    assert.isTrue(await form.locator("#stone-words").isDisabled())
    assert.strictEqual(await form.locator("#stone-kind").inputValue(), "hash")
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
