/** The header of every page: a search without script, and the notice of play money. */
import { assert } from "@effect/vitest"
import { guide } from "../lab/browser/Guide.ts"
import { guidePaths } from "../lab/browser/GuidePaths.ts"

const paths = ["/v2/", "/v2/mine", "/docs", "/docs/errors/not_found", "/for-agents", "/signals/", "/v2/nowhere"]

guide("the header", (it) => {
  it("of every page finds a stone by keyboard, 360 pixels wide and without script", async ({ run, visit }) => {
    await run(guidePaths)
    const { page, url } = await visit("/v2/", { javaScriptEnabled: false, viewport: { width: 360, height: 700 } })
    for (const path of paths) {
      await page.goto(`${url}${path}`)
      await page.waitForLoadState("load")
      assert.match(await page.getByRole("complementary", { name: "The money here" }).innerText(), /^Sandbox\./u, path)
      const field = page.getByRole("searchbox", { name: "Search acts" })
      const [box, name] = [await field.boundingBox(), await page.locator(".site__name").boundingBox()]
      assert.isBelow(Math.abs((box?.y ?? 0) - (name?.y ?? 99)), 12, `${path}: the field stands beside the name`)
      for (let tabs = 0; tabs < 3; tabs += 1) await page.keyboard.press("Tab")
      await page.keyboard.type("#1")
      assert.strictEqual(await field.inputValue(), "#1", path)
      await page.keyboard.press("Enter")
      await page.getByRole("heading", { name: "Witness stone 1" }).waitFor()
    }
  })

  it("stands above a manual whose tables fit a window of 1366 pixels", async ({ visit }) => {
    const { page } = await visit("/for-agents", { viewport: { width: 1366, height: 768 } })
    const tables = page.locator(".scroll")
    assert.deepStrictEqual((await tables.first().locator("th").allInnerTexts()).slice(0, 2), [
      "Action",
      "Price (play money)",
    ])
    assert.isAtLeast(await tables.count(), 3)
    assert.deepStrictEqual(
      await tables.evaluateAll((all) =>
        all.flatMap((one) => (one.scrollWidth > one.clientWidth ? [one.innerHTML] : [])),
      ),
      [],
    )
  })
})
