/** A visitor's steps in the guide, and the shifts and focus while acts appear. */
import type { Page } from "playwright-core"

export const take = async (page: Page, form: string) => {
  await page.getByRole("form", { name: form }).getByRole("button", { name: "Make a play wallet" }).click()
  await page.getByText("Play wallet with").first().waitFor()
}

/** From the next load on the page at a path is as a server writes it that takes real money. */
export const takeRealMoney = (page: Page, path: string) =>
  page.route(
    ({ pathname }) => pathname === path,
    async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: (await response.text()).replaceAll("data-play", "data-real") })
    },
  )

export const isFocused = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => element.contains(document.activeElement))

type Shift = readonly [value: number, elements: string]

/** Notes every shift of a page that no visitor caused, from the next load on. */
export const watchShifts = (page: Page) =>
  page.addInitScript(() => {
    const shifts: Array<Shift> = []
    Object.assign(window, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (Reflect.get(entry, "hadRecentInput") === true) continue
        const sources: ReadonlyArray<{ node?: Element }> = Reflect.get(entry, "sources") ?? []
        shifts.push([Reflect.get(entry, "value"), sources.map(({ node }) => node?.outerHTML?.slice(0, 80)).join()])
      }
    }).observe({ type: "layout-shift", buffered: true })
  })

export const shiftsOf = (page: Page) => page.evaluate<ReadonlyArray<Shift>>(() => Reflect.get(window, "shifts"))

/** From the next load on the browser keeps nothing for the page. */
export const forbidStorage = (page: Page) =>
  page.addInitScript(() => {
    for (const name of ["localStorage", "sessionStorage"]) {
      Object.defineProperty(globalThis, name, {
        get: () => {
          throw new DOMException("Access is denied for this document.", "SecurityError")
        },
      })
    }
  })
