/** The announcements of a page's live regions: additions to regions that existed before. */
import type { Page } from "playwright-core"

/** From the next load on. */
export const listen = (page: Page) =>
  page.addInitScript(() => {
    const heard: Array<string> = []
    Object.assign(window, { heard })
    const regions = "[role=status], [role=alert], [aria-live=polite], [aria-live=assertive]"
    const watched = new WeakSet<Element>()
    const spoken = (node: Node) => {
      const copy = node.cloneNode(true)
      if (copy instanceof Element) for (const sign of copy.querySelectorAll("[aria-hidden=true]")) sign.remove()
      return copy.textContent ?? ""
    }
    const textOf = (nodes: Iterable<Node>) => [...nodes].map((node) => (node.isConnected ? spoken(node) : "")).join(" ")
    new MutationObserver((records) => {
      const announced = new Map<Element, string>()
      for (const { addedNodes, target } of records) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest(regions)
        if (region == null || !watched.has(region) || !region.checkVisibility()) continue
        const isAtomic =
          region.getAttribute("aria-atomic") === "true" ||
          (region.hasAttribute("role") && region.getAttribute("aria-atomic") !== "false")
        const part = isAtomic ? "" : textOf(target instanceof CharacterData ? [target] : addedNodes)
        announced.set(region, isAtomic ? spoken(region) : `${announced.get(region) ?? ""} ${part}`)
      }
      for (const text of announced.values()) if (text.trim() !== "") heard.push(text.trim().replace(/\s+/gu, " "))
      for (const region of document.querySelectorAll(regions)) watched.add(region)
    }).observe(document, { childList: true, subtree: true, characterData: true })
  })

/** Those since the page was loaded that say that a payment is over, or left open. */
export const ends = async (page: Page) => {
  const heard = await page.evaluate((): ReadonlyArray<string> => Reflect.get(window, "heard"))
  return heard.filter((text) => /(?:Settled|Not done|Open)\./u.test(text))
}
