/** Prints a page with the QR code of its address, which is drawn for paper alone. */
import { find, make } from "./dom.ts"
import { selectorOf } from "./marks.ts"

const print = async () => {
  const paper = make("p", { role: "img", "aria-label": "QR code of this page" })
  // Most readers print nothing. Without the drawing, the address stands on the paper.
  const drawing = await Promise.all([import("lean-qr"), import("lean-qr/extras/svg")]).catch(() => undefined)
  if (drawing !== undefined) {
    const [{ generate }, { toSvg }] = drawing
    const address = location.origin + location.pathname
    paper.append(toSvg(generate(address), document, { on: "#000", off: "#fff", scale: 2 }))
    find(".folio__plate", HTMLElement).append(paper)
  }
  addEventListener("afterprint", () => paper.remove(), { once: true })
  globalThis.print()
}

/** A purchase or a reveal replaces the button, so the page hears its clicks. */
export const start = () =>
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest(selectorOf("print")) !== null) void print()
  })
