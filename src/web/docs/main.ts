/** The copy buttons of the reference and of the manual; the filter of operations and of error codes, and its marker of what is read. */
import { start } from "../v2/page/copy.ts"
import { all } from "../v2/page/dom.ts"

start()

/** Each link of the contents with its operation or error code, found by the route of the one and the message of the other. */
const entries = all(".contents a", HTMLAnchorElement).flatMap((link) => {
  const operation = document.getElementById(link.hash.slice(1))
  const words = `${link.textContent} ${operation?.querySelector("p")?.textContent}`
  return operation === null ? [] : [{ link, operation, words: words.toLowerCase() }]
})

for (const field of all(".contents input", HTMLInputElement))
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase().split(/\s+/u)
    for (const { link, words } of entries)
      link.parentElement?.toggleAttribute("hidden", !wanted.every((word) => words.includes(word)))
    for (const fold of all(".contents details", HTMLDetailsElement)) {
      fold.hidden = fold.querySelector("li:not([hidden])") === null
      fold.open = field.value !== ""
    }
    for (const none of all(".contents [role=status]", HTMLElement))
      none.hidden = all(".contents details:not([hidden])", HTMLElement).length > 0
  })

const contents = document.querySelector(".contents")
let current: HTMLAnchorElement | undefined
const mark = () => {
  const inView = entries.findLast(({ operation }) => operation.getBoundingClientRect().top < innerHeight / 3)?.link
  if (inView === current) return
  current?.removeAttribute("aria-current")
  inView?.setAttribute("aria-current", "true")
  current = inView
  contents?.scrollTo({ top: (inView?.offsetTop ?? 0) - innerHeight / 2 })
}
addEventListener("scroll", mark, { passive: true })
mark()
