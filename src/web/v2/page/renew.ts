/** Shows on this page what a purchase or a reveal has changed: its head, notes and lists. */
import { all } from "./dom.ts"
import { selectorOf } from "./marks.ts"

const parts = [".opening", ".text", ".head__note", selectorOf("renewed")]

export const renew = async (): Promise<void> => {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => undefined)
  if (answer?.ok !== true) return
  const page = new DOMParser().parseFromString(await answer.text(), "text/html")
  document.title = page.title
  for (const part of parts) {
    const fresh = all(part, HTMLElement, page)
    all(part, HTMLElement).forEach((old, index) => old.replaceWith(fresh[index] ?? old))
  }
}
