/** Whatever the network, a proxy or a slow chain does to a payment: it is asked for, and never paid again. */
import { assert } from "@effect/vitest"
import { Duration } from "effect"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { isAccessible, picture } from "../lab/browser/Browser.ts"
import { guide, settled, signed } from "../lab/browser/Guide.ts"
import { chainClient } from "../lab/Chain.ts"
import {
  attempts,
  attemptsAt,
  cutOff,
  fund,
  fundAndLay,
  lay,
  paidPath,
  statesAt,
  watch,
} from "../lab/browser/PrayerPage.ts"

guide("a prayer", (it) => {
  it("that never arrived is handed in again after a reload, with the one signature it has", async ({ visit, run }) => {
    const { page } = await visit("/v2/spirits/library-moth")
    const requests = watch(page)
    await cutOff(page)
    await fundAndLay(page)
    await page.getByText("not paying again").waitFor()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await page.reload()
    await settled(page).waitFor()
    const handed = signed(requests)
    assert.isAtLeast(handed.length, 2)
    assert.strictEqual(new Set(handed.map(({ payment }) => payment)).size, 1)
    assert.strictEqual(new Set(handed.map(({ key }) => key)).size, 1)
    assert.deepStrictEqual(await run(statesAt("library-moth")), ["settled"])
  })

  it("is finished by a tab that was restored from before it was signed", async ({ visit, run }) => {
    const { page } = await visit("/v2/spirits/atlas-sandpiper")
    const requests = watch(page)
    await cutOff(page)
    await fund(page)
    await page.getByLabel("Your words").first().fill("The tab came back.")
    await lay(page).click()
    await page.getByText("not paying again").waitFor()
    await page.evaluate(() => {
      for (const slot of Object.keys(sessionStorage).filter((name) => name.startsWith("altar:purchase:"))) {
        const purchase = JSON.parse(sessionStorage.getItem(slot) ?? "{}")
        sessionStorage.setItem(slot, JSON.stringify({ ...purchase, payment: null }))
      }
    })
    await page.reload()
    await page.getByText("not paying again").waitFor()
    await page.unrouteAll({ behavior: "ignoreErrors" })
    await settled(page).waitFor()
    assert.include(await page.locator(".keepsake").innerText(), "The tab came back.")
    assert.strictEqual(new Set(signed(requests).map(({ key, payment }) => `${key} ${payment}`)).size, 1)
    assert.deepStrictEqual(await run(statesAt("atlas-sandpiper")), ["settled"])
  })

  for (const [what, status, says] of [
    ["whose price a proxy answers is refused with the status that came", 502, "The altar answered 502."],
    ["whose terms cannot be read is stopped there", 402, "The altar sent terms this page cannot read."],
  ] as const) {
    it(what, async ({ visit }) => {
      const { page, url } = await visit("/v2/")
      // What is answered here is not the altar's, and no page of ours is judged by it.
      const next = await page.context().newPage()
      const requests = watch(next)
      await next.goto(`${url}/v2/spirits/quartz-elephant`)
      await next.route(paidPath, (route) =>
        status === 502
          ? route.fulfill({ status, contentType: "text/html", body: "<h1>Bad gateway</h1>" })
          : route.fulfill({ status, json: { ok: false, code: "payment_required", message: "Pay." } }),
      )
      await fundAndLay(next)
      await next.getByText(`${says} Nothing was signed.`).waitFor()
      const steps = await next.locator("#prayer .steps").innerText()
      assert.strictEqual(/Stopped:\s*Not what this page listed\./u.test(steps), status === 402)
      assert.deepStrictEqual(signed(requests), [])
    })
  }

  it("that cannot be settled now is kept, and no other is signed beside it", async ({ visit, run }) => {
    const { page } = await visit("/v2/spirits/glass-tortoise")
    const requests = watch(page)
    await page.route(paidPath, (route) =>
      route.request().headers()["payment-signature"] === undefined
        ? route.continue()
        : route.fulfill({
            status: 503,
            headers: { "access-control-allow-origin": "*" },
            json: { ok: false, code: "facilitator_unavailable", message: "Not now." },
          }),
    )
    await fundAndLay(page)
    await page.getByText("What you signed is kept in this browser.").waitFor()
    await page.unrouteAll()
    await lay(page).click()
    await settled(page).waitFor()
    assert.strictEqual(new Set(signed(requests).map(({ payment }) => payment)).size, 1)
    assert.strictEqual((await run(attemptsAt("glass-tortoise"))).length, 1)
  })
})

guide(
  "a chain that takes its time",
  (it) => {
    it("leaves a payment open: it is asked for, over a reload too, and never paid again", async ({ visit, run }) => {
      const { rpcUrl } = await run(LocalChain)
      const anvil = chainClient(rpcUrl)
      const { page } = await visit("/v2/spirits/kelp-seal", { bypassCSP: true })
      const requests = watch(page)
      const open = page.getByText("Not known yet. Asking again, not paying again.")
      await fund(page)
      await anvil.setAutomine(false)
      await lay(page).click()
      await open.waitFor()
      await isAccessible(page, "pending")
      await picture(page, "guide-pending")
      await page.reload()
      await page.getByRole("region", { name: "Your open purchase" }).waitFor()
      await page.getByText("A payment in flight holds today's slot.").waitFor()
      await open.waitFor()
      await isAccessible(page, "pending after a reload")
      await picture(page, "guide-pending-reload")
      assert.strictEqual(signed(requests).length, 1)
      await anvil.setAutomine(true)
      await anvil.mine({ blocks: 1 })
      await settled(page).waitFor()
      assert.include(await page.locator(".keepsake").innerText(), "I came by, and it was quiet.")
      assert.strictEqual(signed(requests).length, 1)
      const asked = requests.filter((request) => request.url().includes("/api/reconcile/"))
      assert.isAtLeast(asked.length, 2)
      const [attempt, ...others] = await run(attempts)
      assert.deepStrictEqual([attempt?.state, others], ["settled", []])
    })
  },
  {},
  { patience: Duration.seconds(1) },
)
