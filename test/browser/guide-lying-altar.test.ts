/** An altar that is paid and answers with something else: the page shows no receipt, and keeps what proves it. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { guide, settled, signed } from "../lab/browser/Guide.ts"
import { take } from "../lab/browser/GuidePage.ts"
import { watch } from "../lab/browser/PrayerPage.ts"
import { assertEach } from "../lab/Assertions.ts"

const form = "Set the stone"

const buy = async (page: Page) => {
  await take(page, form)
  await page.locator("#stone-words").fill("The heron will return by May.")
  await page.getByText("More: a file, spirit, name").click()
  await page.locator("#stone-spirit").selectOption("moss-hare")
  await page.getByRole("button", { name: "Set the stone for $0.01" }).click()
}

/** One field of each part of a settled answer is false until the lie is over. */
const forgedFields = ["kind", "priceUsd", "PAYMENT-RESPONSE transaction", "permalink"]

const lie = async (page: Page) => {
  const told = { isOver: false }
  await page.route(/\/api\/(?:witness$|reconcile\/)/u, async (route) => {
    const response = await route.fetch()
    const { "payment-response": settlement, ...headers } = response.headers()
    if (told.isOver || settlement === undefined) return route.fulfill({ response })
    const { receipt, record, ...body } = await response.json()
    const permalink = body.permalink.replace(/^http:..[^/]+/u, "https://evil.example")
    const header = { ...JSON.parse(atob(settlement)), transaction: `0x${"7".repeat(64)}` }
    return route.fulfill({
      response,
      headers: { ...headers, "payment-response": btoa(JSON.stringify(header)) },
      json: {
        ...body,
        record: { ...record, kind: "promise", permalink },
        receipt: { ...receipt, priceUsd: "$9.00" },
        permalink,
      },
    })
  })
  return told
}

const verdict = (page: Page) => page.locator(".verdict", { hasText: "Not what you bought." })

const kept = (page: Page) =>
  page.evaluate(() => {
    const slot = Object.keys(localStorage).find((name) => name.startsWith("altar:purchase:")) ?? ""
    return JSON.parse(localStorage.getItem(slot) ?? "null")
  })

guide("an altar that recorded", (it) => {
  it("another act is reconciled after a reload, and settles once its record is right", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    const told = await lie(page)
    const requests = watch(page)
    await buy(page)
    await verdict(page).waitFor()
    assert.include(await verdict(page).innerText(), "The altar recorded something else than you bought.")
    assert.strictEqual(await settled(page).count(), 0)
    const { misrecorded, payment, request } = await kept(page)
    assert.strictEqual(misrecorded.answer.receipt.priceUsd, "$9.00")
    const fields = misrecorded.differences.map((one: { readonly field: string }) => one.field)
    assert.includeMembers(fields, forgedFields)
    assertEach(signed(requests), (one) => one.payment, [payment.header])
    assert.strictEqual(misrecorded.answer.record.commitment, request.payload.commitment)
    const reconciled = page.waitForRequest("**/api/reconcile/**")
    await page.reload()
    await reconciled
    await verdict(page).waitFor()
    assert.notInclude(await page.locator("body").innerText(), "You paid")
    told.isOver = true
    await page.getByRole("button", { name: "Ask again" }).click()
    await settled(page).waitFor()
    assert.isNull(await kept(page))
    assert.strictEqual(signed(requests).length, 1)
  })

  it("an early failure is not paid for again while its payment could still be used", async ({ visit }) => {
    const { page } = await visit("/v2/stone")
    const requests = watch(page)
    const failed = {
      code: "payment_failed",
      docs: "/docs/errors#payment_failed",
      message: "It was not charged so far.",
      reason: "unsent",
    }
    await page.route("**/api/witness", async (route) => {
      const { "payment-signature": payment, ...headers } = route.request().headers()
      if (signed(requests).length > (payment === undefined ? 0 : 1)) return route.fallback()
      const response = await route.fetch({ headers })
      const json = await response.json()
      // The page signs what a 402 offers, so its first payment is short.
      const offered = JSON.parse(atob(response.headers()["payment-required"] ?? ""))
      offered.accepts[0].maxTimeoutSeconds = 8
      const short = { ...response.headers(), "payment-required": btoa(JSON.stringify(offered)) }
      return payment === undefined
        ? route.fulfill({ response, headers: short })
        : route.fulfill({ response, json: { ...json, ...failed, authorizationOpenUntil: new Date(0).toISOString() } })
    })
    await buy(page)
    await page.getByText("signs no other payment for this act").waitFor()
    const { openUntil } = await kept(page)
    const [{ payment = "" } = {}] = signed(requests)
    const { validBefore } = JSON.parse(atob(payment)).payload.authorization
    assert.strictEqual(Date.parse(openUntil), Number(validBefore) * 1000)
    await page.getByRole("button", { name: "Set the stone for $0.01" }).click()
    await page.getByText("could still be used. Asking the wallet in").waitFor()
    assert.lengthOf(signed(requests), 1)
    await settled(page).waitFor()
    assert.isAtLeast(Date.now(), Date.parse(openUntil))
    assert.lengthOf(signed(requests), 2)
  })
})
