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
      const lines = page.locator("#acts .journal li")
      const before = await lines.count()
      for (const dedication of ["Two", "Three"]) await run(createAct("/api/candles/day/moss-hare", { dedication }))
      const asked = page.waitForResponse("**/api/acts?*").then(() => true)
      // The page's own clock starts once its script has come.
      for (let isAsked = false; !isAsked;)
        isAsked = await Promise.race([asked, page.clock.runFor(25_000).then(() => false)])
      const news = page.getByRole("link", { name: "2 new acts: show" })
      await news.waitFor()
      assert.strictEqual(await lines.count(), before)
      await news.click()
      await lines.nth(before + 1).waitFor()
      assert.strictEqual(await lines.count(), before + 2)
    }
  })
})
