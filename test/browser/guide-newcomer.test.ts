/** A newcomer reads explained terms and local times, and never a browser's own error text. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { seal } from "../../src/altar/Hashes.ts"
import { isAccessible } from "../lab/browser/Browser.ts"
import { guide, createAct, settled } from "../lab/browser/Guide.ts"
import { shifted, take, watchShifts } from "../lab/browser/GuidePage.ts"
import { newCommitment } from "../lab/Fixture.ts"

const foreign = /TypeError|NetworkError|Failed to fetch|dynamically imported|DOMException|Error:|undefined|\[object/u

const isOurs = async (page: Page, state: string) =>
  assert.notMatch(await page.locator("body").innerText(), foreign, state)

guide("a newcomer", (it) => {
  it("reads what salt, commitment, wallet and receipt are, once beside every form", async ({ visit }) => {
    const { page, url } = await visit("/v2/", { bypassCSP: true })
    for (const [path, form] of [
      ["/v2/spirits/moss-hare", "#prayer"],
      ["/v2/spirits/moss-hare", "#candles"],
      ["/v2/stone", "#set"],
    ] as const) {
      await page.goto(`${url}${path}`)
      await page.locator("details").evaluateAll((all) => all.forEach((one) => one.setAttribute("open", "")))
      const said = (await page.locator(form).innerText()).replace(/\s+/gu, " ")
      for (const word of ["code, the salt", "published, the commitment", "A wallet is", "A receipt says"])
        assert.strictEqual(said.split(word).length, 2, `${word} in ${form} of ${path}`)
      await isAccessible(page, path)
    }
    await page.goto(`${url}/v2/catalog`)
    await page.getByText("What wallet and receipt mean").click()
    await page.getByText("A wallet is a program").waitFor()
  })

  it("reads what the four kinds of stones are at the choice, and on the stone's page", async ({ visit, run }) => {
    const stone = await run(createAct("/api/witness", { commitment: newCommitment(), kind: "promise" }))
    const { page, url } = await visit("/v2/stone")
    assert.deepStrictEqual(await page.locator("#stone-kind option").allInnerTexts(), [
      "Intention: I mean to do it",
      "Prediction: I expect it",
      "Promise: I will keep it",
      "Hash: of a file or a text",
    ])
    await page.getByLabel("Kind, shown to everyone").selectOption("promise")
    await page.goto(`${url}/witness/${stone.id}`)
    assert.match(await page.locator(".text__over").innerText(), /promise: something that its author will keep/iu)
  })

  it("is promised no reveal of a prayer at its form, on its receipt, or on its page", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/frost-stoat")
    const promised = /reveal|unseal|until you/iu
    assert.notMatch(await page.locator("#prayer").innerText(), promised)
    await take(page, "Lay the prayer")
    await page.getByRole("button", { name: "Lay the prayer for" }).click()
    await settled(page).waitFor()
    assert.notMatch(await page.locator("#prayer").innerText(), promised)
    await page.getByRole("link", { name: "Save as a file" }).click()
    await page.getByRole("link", { name: "Open the act" }).click()
    await page.getByText("A prayer stays sealed.").waitFor()
    assert.notMatch(await page.locator("main").innerText(), promised)
  })

  it("without a network reads our message at every request, and can retry in place", async ({ visit, run }) => {
    const [salt, words] = ["0123456789abcdef", "Offline and back."]
    const stone = await run(createAct("/api/witness", { commitment: seal(salt, words) }))
    const { page, url } = await visit("/v2/")
    const offline = (is: boolean) => page.context().setOffline(is)
    // Nothing but what came with the page is there: no part that is fetched when it is asked for.
    await page.goto(`${url}/witness/${stone.id}`)
    await offline(true)
    await page
      .getByRole("button", { name: /^Check stone/u })
      .first()
      .click()
    await page.getByText("Not checked. You are offline.").waitFor()
    await isOurs(page, "check")
    await page.getByText("Reveal these words to everyone").click()
    await page.locator("#reveal-salt").fill(salt)
    await page.locator("#reveal-words").fill(words)
    await page.getByRole("button", { name: "Check, then reveal" }).click()
    await page.getByText("Not done. You are offline.").waitFor()
    await isOurs(page, "reveal")
    await offline(false)
    await page.locator("[data-verify-status]").getByRole("button", { name: "Try again" }).click()
    await page.locator("[data-verify-status] .verdict--holds").waitFor()
    await page.locator("[data-reveal]").getByRole("button", { name: "Try again" }).click()
    await page.locator(".text blockquote", { hasText: words }).waitFor()

    await page.goto(`${url}/v2/catalog#river-clay`)
    const manifest = page.locator("#river-clay .manifest")
    await manifest.locator("summary").click()
    await offline(true)
    await manifest.getByRole("button", { name: "Hash the artwork here" }).click()
    await manifest.getByText("Not checked. You are offline.").waitFor()
    await offline(false)
    await manifest.getByRole("button", { name: "Try again" }).click()
    await manifest.getByText("Same hash.").waitFor()

    await page.goto(`${url}/v2/spirits/slate-lynx`)
    const form = page.getByRole("form", { name: "Lay the prayer" })
    const wallet = form.getByRole("button", { name: "Make a play wallet" })
    await wallet.waitFor()
    await offline(true)
    await wallet.click()
    await form.getByText("No wallet. You are offline.").waitFor()
    await isOurs(page, "wallet")
    await offline(false)
    await wallet.click()
    await form.getByText("Play wallet with").waitFor()
    await offline(true)
    // At first what pays is missing, then the price: the same is said.
    const lay = form.getByRole("button", { name: "Lay the prayer for" })
    await lay.click()
    await form.getByText("You are offline. Nothing was signed.").waitFor()
    await isOurs(page, "pay")
    await offline(false)
    await page.route("**/api/prayers/**", (route) => route.abort("connectionrefused"))
    await form.getByRole("button", { name: "Try again" }).click()
    await form.getByText("The altar does not answer. Nothing was signed.").waitFor()
    const again = form.getByRole("button", { name: "Try again" })
    assert.isTrue(await again.evaluate((button) => button === document.activeElement))
    await isOurs(page, "price")
    await page.unrouteAll()
    await form.getByRole("button", { name: "Try again" }).click()
    await settled(page).waitFor()
  })

  it("with an outdated page is told to reload it, and that nothing was signed", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/midnight-otter")
    const form = page.getByRole("form", { name: "Lay the prayer" })
    await take(page, "Lay the prayer")
    await page.route("**/*.js", (route) => route.fulfill({ status: 404 }))
    await form.getByRole("button", { name: "Lay the prayer for" }).click()
    await form.getByText("The site was renewed; load the page again. Nothing was signed.").waitFor()
    assert.strictEqual(await form.getByRole("button", { name: "Try again" }).count(), 0)
  })

  it("that copies twice can read the button's label again afterwards", async ({ visit }) => {
    const { page } = await visit("/v2/stone", { permissions: ["clipboard-read", "clipboard-write"] })
    await page.getByText("The exact call for").first().click()
    const button = page.locator("[data-copy]").first()
    const label = await button.innerText()
    for (const _ of [1, 2]) {
      await button.click()
      await page.getByRole("button", { name: "Copied" }).waitFor()
    }
    await page.getByRole("button", { name: "Copied" }).waitFor({ state: "detached" })
    assert.strictEqual(await button.innerText(), label)
  })

  it("with a UTC clock reads no time twice", async ({ visit, run }) => {
    const prayer = await run(
      createAct("/api/prayers/dune-pangolin", {
        agentName: "Wren",
        intentionCommitment: newCommitment(),
      }),
    )
    const { page } = await visit(`/acts/${prayer.id}`, { timezoneId: "UTC" })
    await page.waitForLoadState("networkidle")
    const said = await page.locator(".local").allInnerTexts()
    assert.isAbove(said.length, 0)
    assert.strictEqual(said.join(""), "")
  })

  it("with an unusual wallet error reads our message alone", async ({ visit }) => {
    const { page } = await visit("/v2/spirits/dew-spider")
    await page.addInitScript(() => {
      Object.assign(window, {
        ethereum: { request: () => Promise.reject(new Error("Cannot read properties of null.")) },
      })
    })
    await page.route("**/sandbox", (route) => route.fulfill({ status: 404, json: { ok: false } }))
    await page.reload()
    const form = page.getByRole("form", { name: "Lay the prayer" })
    await form.getByRole("button", { name: "Choose a wallet" }).click()
    await form.getByText("The wallet named no account.").waitFor()
    assert.strictEqual(await page.getByText("Cannot read properties").count(), 0)
  })

  for (const [timezoneId, locale, clock] of [
    ["Asia/Kathmandu", "de-DE", /GMT\+5:45$/u],
    ["America/New_York", "en-US", /(?:AM|PM) E[SD]T$/u],
  ] as const) {
    it(`in ${timezoneId} reads the local time beside UTC in ${locale}, without a shift`, async ({ visit, run }) => {
      const prayer = await run(
        createAct(`/api/prayers/${locale === "de-DE" ? "kelp-seal" : "rain-crow"}`, {
          agentName: "Wren",
          intentionCommitment: newCommitment(),
        }),
      )
      const { page, url } = await visit("/api/health", { timezoneId, locale })
      await watchShifts(page)
      // Script comes long after the page was painted.
      let release = () => {}
      const painted = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route("**/v2/main-*.js", async (route) => {
        await painted
        await route.continue()
      })
      await page.goto(`${url}/acts/${prayer.id}`, { waitUntil: "commit" })
      await page.getByText("The proof: record and receipt").waitFor()
      const tops = () =>
        page
          .locator("main p, main dd, main h1, main h2")
          .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
      await page.evaluate(
        () => new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))),
      )
      const before = await tops()
      assert.strictEqual(await page.locator(".local").first().innerText(), "")
      release()
      const over = page.locator(".text__over")
      const time = over.locator("time")
      await over.locator(".local", { hasText: clock }).waitFor()
      assert.match(await time.innerText(), / UTC$/u)
      const expected = await time.evaluate(
        (element, language) =>
          new Intl.DateTimeFormat(language, {
            day: "numeric",
            month: "short",
            hour: "numeric",
            minute: "2-digit",
            timeZoneName: "short",
          }).format(new Date(element.getAttribute("datetime") ?? "")),
        locale,
      )
      assert.strictEqual(await over.locator(".local").innerText(), expected)
      assert.strictEqual(await over.locator(".local").getAttribute("lang"), locale)
      assert.isAbove(await page.locator("dd .local").filter({ hasText: clock }).count(), 0)
      assert.deepStrictEqual(await tops(), before)
      assert.strictEqual(await shifted(page), 0)
    })
  }
})
