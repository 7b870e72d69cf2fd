/** New acts are announced on an open page, which changes only when its reader asks. */
import { assert } from "@effect/vitest"
import { createAct, guide } from "../lab/browser/Guide.ts"

guide("the newest acts", (it) => {
  it("are counted on an open page, and shown on request", async ({ visit, run }) => {
    await run(createAct("/api/candles/day/moss-hare", { dedication: "One" }))
    for (const path of ["/v2/", "/v2/acts"]) {
      const { page, url } = await visit("/api/health")
      await page.clock.install()
      await page.goto(`${url}${path}`)
      await page.waitForLoadState("networkidle")
      const lines = page.locator("#acts .journal li")
      const before = await lines.count()
      for (const dedication of ["Two", "Three"]) await run(createAct("/api/candles/day/moss-hare", { dedication }))
      const asked = page.waitForResponse("**/api/acts?*")
      await page.clock.runFor(25_000)
      await asked
      const news = page.getByRole("link", { name: "2 new acts: show" })
      await news.waitFor()
      assert.strictEqual(await lines.count(), before)
      await news.click()
      await page.waitForLoadState("networkidle")
      assert.strictEqual(await lines.count(), Math.min(before + 2, path === "/v2/" ? 12 : 50))
    }
  })
})
