/** Shows on this page what a purchase or a reveal has changed: its head and its wall of candles. */
import { all } from "./dom.ts"

const parts = ".opening, .text, #wall"

export const renew = async (): Promise<void> => {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => undefined)
  if (answer?.ok !== true) return
  const page = new DOMParser().parseFromString(await answer.text(), "text/html")
  const fresh = all(parts, HTMLElement, page)
  document.title = page.title
  all(parts, HTMLElement).forEach((old, index) => old.replaceWith(fresh[index] ?? old))
}
