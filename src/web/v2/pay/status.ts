/** How a purchase goes is written out as it goes, and what came of it stays on the page. */
import { part } from "../http.ts"
import { make, verdict } from "../dom.ts"
import { keepsake } from "../keepsake.ts"
import type { Progress, Result } from "./checkout.ts"

/** The steps as a list that is read out as it grows. */
export const progress = (place: HTMLElement): Progress => {
  const list = make("ol", { class: "steps", role: "list" })
  place.replaceChildren(list)
  const items = new Map<string, HTMLElement>()
  const kinds = { waits: ["waits", "Now"], done: ["holds", "Done"], failed: ["broken", "Stopped"] } as const
  return {
    step: (name, state, words) => {
      const item = items.get(name) ?? list.appendChild(make("li", {}))
      items.set(name, item)
      const [kind, word] = kinds[state]
      item.replaceChildren(verdict(kind, `${word}:`, words))
    },
  }
}

const text = (value: unknown) => (typeof value === "string" ? value : "")

export const receipt = ({ body, purchase }: Extract<Result, { tag: "settled" }>): HTMLElement => {
  const paid = body["receipt"]
  const line = text(body["line"])
  const permalink = URL.parse(text(body["permalink"]))
  return make(
    "div",
    { class: "receipt", tabindex: "-1" },
    verdict("holds", "Settled.", `${text(part(paid, "priceUsd"))} was charged, once.`),
    ...(line === "" ? [] : [make("blockquote", { class: "words" }, make("p", {}, line))]),
    // Before the way on: it leads away from words that may be nowhere else.
    ...(purchase.keepsake === null
      ? []
      : [keepsake(purchase.keepsake, text(part(body["record"], "id")) || "sealed-words", true)]),
    make("p", {}, "Transaction ", make("code", { class: "long" }, text(part(paid, "transaction")))),
    make("p", {}, make("a", { class: "button", href: permalink?.pathname ?? "/v2/" }, "Open the act")),
  )
}

/** What went wrong, or that it is not over yet. */
export const unsettled = ({ message, tag }: Exclude<Result, { tag: "settled" }>): HTMLElement =>
  tag === "open" ? verdict("waits", "Open.", message) : verdict("broken", "Not done.", message)

export const failed = (error: unknown): Result => ({
  tag: "refused",
  message: error instanceof Error ? error.message : "Something failed.",
})
