/** A visitor's steps in the guide, and the shifts and focus while acts appear. */
import type { Page } from "playwright-core"

export const take = async (page: Page, form: string) => {
  await page.getByRole("form", { name: form }).getByRole("button", { name: "Make a play wallet" }).click()
  await page.getByText("Play wallet with").first().waitFor()
}

export const isFocused = (page: Page, selector: string) =>
  page
    .locator(selector)
    .first()
    .evaluate((element) => element.contains(document.activeElement))

/** The distance of all unexpected shifts. */
export const watchShifts = (page: Page) =>
  page.addInitScript(() => {
    Object.assign(window, { shifted: 0 })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (Reflect.get(entry, "hadRecentInput") !== true)
          Object.assign(window, { shifted: Reflect.get(window, "shifted") + Reflect.get(entry, "value") })
    }).observe({ type: "layout-shift", buffered: true })
  })

export const shifted = (page: Page) => page.evaluate<number>(() => Reflect.get(window, "shifted"))

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
