/** What is signed is kept by the browser, finished by the next tab, and never said to be kept where it is not. */
import { assert } from "@effect/vitest"
import { fill, guide, settled, signed } from "../lab/browser/Guide.ts"
import { forbidStorage } from "../lab/browser/GuidePage.ts"
import { cutOff, fund, fundAndLay, kept, lay, statesAt, watch } from "../lab/browser/PrayerPage.ts"

guide("a prayer", (it) => {
  it("whose tab is closed is finished by the next one, and its words are not lost", async ({ visit, run }) => {
    const { page, url } = await visit("/v2/spirits/brass-cicada")
    const first = watch(page)
    const next = await page.context().newPage()
    const second = watch(next)
    await cutOff(page)
    await fund(page)
    await page.getByLabel("Your words").first().fill("The tab was closed.")
    await lay(page).click()
    await page.getByText("not paying again").waitFor()
    await page.close()
    await next.goto(`${url}/v2/catalog`)
    await settled(next).waitFor()
    assert.include(await next.locator(".keepsake").innerText(), "The tab was closed.")
    const { commitment }: { commitment: string } = JSON.parse(await next.locator(".keepsake code").innerText())
    assert.deepStrictEqual(await kept(next), [`altar:words:${commitment}`])
    const handed = [...signed(first), ...signed(second)]
    assert.isAtLeast(handed.length, 2)
    assert.strictEqual(new Set(handed.map(({ key, payment }) => `${key} ${payment}`)).size, 1)
    assert.deepStrictEqual(await run(statesAt("brass-cicada")), ["settled"])
  })

  it("whose signature finds no room is not said to be kept", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/lichen-yak")
    const requests = watch(page)
    // Room for the words, and none for what is signed.
    await fill(page, 700)
    await cutOff(page)
    await fundAndLay(page)
    await page.getByText("Stay on this page until it is settled.").waitFor()
    await page.getByText("not paying again").waitFor()
    const asked = page.waitForEvent("dialog")
    await page.close({ runBeforeUnload: true })
    await (await asked).dismiss()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await settled(page).waitFor()
    assert.strictEqual(new Set(signed(requests).map(({ payment }) => payment)).size, 1)
  })

  it("can be laid though another part of the page fails", async ({ visit }) => {
    const { complaints, page } = await visit("/v2/spirits/midnight-otter")
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        const form = document.querySelector("#prayer form[data-pay]")
        if (form === null) return
        observer.disconnect()
        // A form that checks and has none of its fields.
        const broken = document.createElement("form")
        broken.setAttribute("data-sealing", "")
        document.body.append(broken)
      }).observe(document, { childList: true, subtree: true })
    })
    await page.reload()
    await fundAndLay(page)
    await settled(page).waitFor()
    assert.strictEqual(complaints.length, 1)
    assert.match(complaints.join(), /The page has no \w+ at \[data-salt\]/u)
  })

  it("can be laid where the browser keeps nothing, and whoever would leave too early is asked", async ({
    visit,
    run,
  }) => {
    const { page } = await visit("/v2/spirits/ribbon-eel")
    const requests = watch(page)
    await forbidStorage(page)
    await page.reload()
    await cutOff(page)
    await fundAndLay(page)
    await page.getByText("Stay on this page until it is settled.").waitFor()
    await page.getByText("not paying again").waitFor()
    const asked = page.waitForEvent("dialog")
    await page.close({ runBeforeUnload: true })
    const dialog = await asked
    assert.strictEqual(dialog.type(), "beforeunload")
    await dialog.dismiss()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await settled(page).waitFor()
    assert.strictEqual(new Set(signed(requests).map(({ payment }) => payment)).size, 1)
    assert.deepStrictEqual(await run(statesAt("ribbon-eel")), ["settled"])
  })
})
