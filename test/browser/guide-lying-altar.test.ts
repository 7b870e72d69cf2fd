/** An altar that is paid and answers with something else: the page shows no receipt, and keeps what proves it. */
import { assert } from "@effect/vitest"
import { Layer } from "effect"
import type { Page } from "playwright-core"
import { Browser, journeys } from "../lab/browser/Browser.ts"
import { settled, signed } from "../lab/browser/Guide.ts"
import { take } from "../lab/browser/GuidePage.ts"
import { forgedFields, forgeFields, lyingAltar, LyingAltar } from "../lab/proxy/LyingAltar.ts"
import { watch } from "../lab/browser/PrayerPage.ts"
import { assertEach } from "../lab/Assertions.ts"

const form = "Set the stone"

const buy = async (page: Page) => {
  await take(page, form)
  await page.locator("#stone-words").fill("The heron will return by May.")
  await page.getByText("More: a file, kind, spirit, name").click()
  await page.locator("#stone-spirit").selectOption("moss-hare")
  await page.getByRole("button", { name: "Set the stone for $0.01" }).click()
}

const verdict = (page: Page) => page.locator(".verdict", { hasText: "Not what you bought." })

const kept = (page: Page) =>
  page.evaluate(() => {
    const slot = Object.keys(localStorage).find((name) => name.startsWith("altar:purchase:")) ?? ""
    return JSON.parse(localStorage.getItem(slot) ?? "null")
  })

journeys(
  "an altar that recorded",
  Layer.merge(lyingAltar, Browser.layer),
)((it) => {
  it("another act is reconciled after a reload, and settles once its record is right", async ({ visit, run }) => {
    const { tells } = await run(LyingAltar)
    tells(forgeFields)
    const { page } = await visit("/v2/stone")
    const requests = watch(page)
    await buy(page)
    await verdict(page).waitFor()
    assert.include(await verdict(page).innerText(), "The altar recorded something else than you bought.")
    assert.strictEqual(await settled(page).count(), 0)
    const { body, misrecorded, payment } = await kept(page)
    assert.strictEqual(misrecorded.body.receipt.priceUsd, "$9.00")
    const fields = misrecorded.differences.map((one: { readonly field: string }) => one.field)
    assert.includeMembers(fields, [...forgedFields])
    assertEach(signed(requests), (one) => one.payment, [payment])
    assert.strictEqual(misrecorded.body.record.commitment, JSON.parse(body).commitment)
    const reconciled = page.waitForRequest("**/api/reconcile/**")
    await page.reload()
    await reconciled
    await verdict(page).waitFor()
    assert.notInclude(await page.locator("body").innerText(), "was charged, once")
    tells(undefined)
    await page.getByRole("button", { name: "Ask again" }).click()
    await settled(page).waitFor()
    assert.isNull(await kept(page))
    assert.strictEqual(signed(requests).length, 1)
  })
})
