/** Wallets announce themselves (EIP-6963) twice, late or malformed. Each gets one button, and none blocks another way to pay. */
import { assert } from "@effect/vitest"
import type { Page } from "playwright-core"
import { guide } from "../lab/browser/Guide.ts"
import { beside, guidePaths } from "../lab/browser/GuidePaths.ts"
import { isFocused, take, takeRealMoney } from "../lab/browser/GuidePage.ts"
import { ask } from "../lab/Fixture.ts"

const hostile = `<img src=x onerror="document.title='harm'">`

/** Wallets of the page, from the next load on: `announce(uuid, name)` is one, and others answer unless it `isSilent`. */
const install = (page: Page, isSilent = false) =>
  page.addInitScript(
    ([hostileName, silent]) => {
      const provider = { request: () => Promise.reject(Object.assign(new Error("No."), { code: 4001 })) }
      const throwing = (name: string, value: object = {}) =>
        Object.defineProperty(value, name, {
          get: () => {
            throw new Error(`${name} is not to be read`)
          },
        })
      const send = (detail: unknown) => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }))
      const announce = (uuid: string, name: string, icon = "") => send({ info: { uuid, name, icon }, provider })
      const info = { uuid: "u", name: "Malformed" }
      const malformed = [
        null,
        undefined,
        7,
        "text",
        {},
        { info },
        { provider },
        { info: null, provider },
        { info: { uuid: "u" }, provider },
        { info: { uuid: "u", name: throwing("toString") }, provider },
        { info: { uuid: "u", name: Symbol("name") }, provider },
        { info: throwing("name", { uuid: "u" }), provider },
        { info: throwing("uuid", { name: "Malformed" }), provider },
        throwing("info", { provider }),
        throwing("provider", { info }),
        { info, provider: null },
        { info, provider: "text" },
        { info, provider: {} },
        { info, provider: { request: "text" } },
        { info, provider: throwing("request") },
      ]
      Object.assign(window, { announce })
      throwing("ethereum", window)
      if (silent) return
      addEventListener("eip6963:requestProvider", () => {
        for (const detail of malformed) send(detail)
        dispatchEvent(new Event("eip6963:announceProvider"))
        announce("a", "Twice")
        announce("a", "Twice")
        announce("h", hostileName, "javascript:document.title='harm'")
        announce("l", "W".repeat(5000))
        setTimeout(() => announce("b", "Late"), 150)
      })
    },
    [hostile, isSilent] as const,
  )

const announce = (page: Page, uuid: string, name: string) =>
  page.evaluate(([its, called]) => Reflect.get(window, "announce")(its, called), [uuid, name] as const)

const connector = "[data-connect]:visible, [data-ask-wallet]:visible"

guide("a wallet that announces itself", (it) => {
  it("has one button whenever it comes, a malformed one none, on each page with wallets", async ({
    run,
    url,
    visit,
  }) => {
    const { page } = await visit("/api/health")
    await install(page)
    const offering: Array<string> = []
    for (const path of [...(await run(guidePaths)), ...beside])
      if (/data-connect|data-ask-wallet/u.test((await run(ask(`${url}${path}`))).text)) offering.push(path)
    assert.includeMembers(offering, ["/v2/spirits/moss-hare", "/v2/candles", "/v2/stone", "/v2/catalog", "/v2/mine"])
    for (const path of offering) {
      await page.goto(`${url}${path}`)
      for (const fold of await page.locator("details:has([data-connect])").all())
        await fold.evaluate((details) => details.setAttribute("open", ""))
      const place = path === "/v2/mine" ? page.locator("[data-wallets]") : page.locator("[data-wallet]:visible").first()
      await page.locator(connector).first().click()
      const buttons = place.getByRole("button")
      await buttons.filter({ hasText: "Late" }).waitFor()
      const names = ["Twice", hostile.slice(0, 40), "W".repeat(40), "Late"]
      const all = path === "/v2/mine" ? names : ["a play wallet", ...names]
      assert.deepStrictEqual(await buttons.allInnerTexts(), all, path)
      const isFirstFocused = () => buttons.first().evaluate((first) => first === document.activeElement)
      const hadFocus = await isFirstFocused()
      await announce(page, "c", "Later still")
      await announce(page, "c", "Later still")
      assert.deepStrictEqual(await buttons.allInnerTexts(), [...all, "Later still"], path)
      assert.strictEqual(await isFirstFocused(), hadFocus, "the focus stays")
      assert.strictEqual(await page.locator("img[src=x]").count(), 0, path)
      assert.notStrictEqual(await page.title(), "harm", path)
      await buttons.filter({ hasText: "Later still" }).click()
      await page.getByText("You declined in your wallet.").waitFor()
    }
  })

  it("among a thousand is shown with them at once, and without a uuid by its name", async ({ url, visit }) => {
    const { page } = await visit("/api/health")
    await install(page, true)
    await page.goto(`${url}/v2/mine`)
    await page.getByRole("button", { name: "Use my wallet" }).click()
    await page.getByText("No wallet.").waitFor()
    const made = await page.evaluate(async () => {
      let buttons = 0
      const count = (records: ReadonlyArray<MutationRecord>) =>
        void (buttons += records
          .flatMap(({ addedNodes }) => [...addedNodes])
          .flatMap((node) => [...(node instanceof Element ? node.querySelectorAll("button") : [])]).length)
      const observer = new MutationObserver(count)
      observer.observe(document.body, { childList: true, subtree: true })
      const announce = Reflect.get(window, "announce")
      for (let index = 0; index < 1000; index += 1) announce(`u${index}`, `Wallet ${index}`)
      announce("", "Without uuid")
      announce("", "Another without uuid")
      await new Promise((resolve) => setTimeout(resolve))
      count(observer.takeRecords())
      return buttons
    })
    assert.strictEqual(made, 1002)
    for (const name of ["Wallet 999", "Without uuid", "Another without uuid"])
      assert.isTrue(await page.getByRole("button", { name, exact: true }).isVisible(), name)
  })

  it("after the page found no wallet is offered then, and beside a play wallet as a change", async ({ url, visit }) => {
    const { page } = await visit("/api/health")
    await install(page, true)
    const late = page.getByRole("button", { name: "Late", exact: true })
    await page.goto(`${url}/v2/mine`)
    await page.getByRole("button", { name: "Use my wallet" }).click()
    await page.getByText("No wallet.").waitFor()
    await announce(page, "b", "Late")
    await late.waitFor()

    await takeRealMoney(page, "/v2/candles")
    await page.goto(`${url}/v2/candles`)
    await page.getByRole("button", { name: "Make a play wallet" }).click()
    await page.getByText("No wallet.").waitFor()
    await announce(page, "b", "Late")
    await late.click()
    await page.getByText("You declined in your wallet.").waitFor()

    // A throwing `window.ethereum` does not block the play wallet.
    await page.goto(`${url}/v2/stone`)
    await take(page, "Set the stone")
    await announce(page, "b", "Late")
    await page.getByRole("button", { name: "Change" }).click()
    await late.waitFor()
    assert.isTrue(await isFocused(page, "[data-wallet] button"))
  })
})
