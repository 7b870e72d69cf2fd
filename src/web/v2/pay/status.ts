/** Shows the progress of a purchase, announces its end once, and leaves the result on the page. */
import { priceUsd } from "../../../../schema/payments/Usdc.ts"
import { partFailed, sentenceOf } from "../page/http.ts"
import { all, make, retry, verdict } from "../page/dom.ts"
import { attributeOf, marked, valuesOf } from "../page/marks.ts"
import type { Progress, Result } from "./checkout.ts"
import type { Purchase } from "./purchase.ts"
import { receipt } from "./receipt.ts"

/** The code of a purchase, from its price to its end; most readers of a page pay nothing. */
export const checkout = () => import("./signer.ts").catch(partFailed)

/** The steps as a list; each is announced as it comes, and scrolled into the view of a buyer who is here. */
const progress = (region: HTMLElement, isHere: () => boolean): Progress => {
  const list = make("ol", { class: "steps", role: "list" })
  region.replaceChildren(list)
  const items = new Map<string, HTMLElement>()
  const kinds = {
    waits: ["waits", "Now"],
    done: ["holds", "Done"],
    failed: ["broken", "Stopped"],
    open: ["waits", "Open"],
  } as const
  return {
    step: (name, state, words) => {
      const item = items.get(name) ?? list.appendChild(make("li", {}))
      items.set(name, item)
      if (state === "none") return item.remove()
      const [kind, word] = kinds[state]
      item.replaceChildren(verdict(kind, `${word}:`, words))
      if (isHere()) item.scrollIntoView({ block: "nearest" })
    },
  }
}

/** A live region must stay in the document: after reinsertion, a screen reader would repeat or skip it. */
const clear = (place: Element, kept: Element) => {
  for (const other of all(":scope > *", HTMLElement, place)) if (other !== kept) other.remove()
}

/** Replaces the form, or other status of the purchase, by its receipt around the same live region. */
const settle = (outcome: HTMLElement, region: HTMLElement, result: Extract<Result, { tag: "settled" }>) => {
  const around = outcome.parentElement
  const active = document.activeElement
  // A reader who is elsewhere on the page hears of it without losing the focus.
  const isFree = active === null || active === document.body || around?.contains(active) === true
  if (around !== null) clear(around, outcome)
  outcome.className = "receipt"
  outcome.setAttribute("role", "group")
  outcome.setAttribute("aria-label", "Receipt")
  outcome.tabIndex = -1
  region.replaceChildren(verdict("holds", "Settled.", `You paid ${priceUsd(BigInt(result.purchase.amount))}.`))
  const mayRepeat = around instanceof HTMLFormElement && valuesOf("pay", around).often !== undefined
  outcome.append(...receipt(result, mayRepeat))
  if (isFree) outcome.focus()
}

/** Runs `work`, shows its progress in `outcome`, and ends with a receipt and a renewed page, or with the next step. */
export const conduct = async (
  outcome: HTMLElement,
  work: (progress: Progress) => Promise<Result>,
  again: () => void,
): Promise<Result> => {
  const region = marked("progress", outcome)
  // The retry button goes, so keyboard focus moves to this place.
  if (outcome.contains(document.activeElement)) {
    outcome.tabIndex = -1
    outcome.focus()
  }
  clear(outcome, region)
  const isHere = () => outcome.parentElement?.contains(document.activeElement) === true
  const result = await work(progress(region, isHere)).catch((error: unknown): Result => ({
    tag: "open",
    message: sentenceOf(error, "This page failed. Ask again: it asks how the payment ended, and pays nothing twice."),
  }))
  if (result.tag === "settled") {
    settle(outcome, region, result)
    return result
  }
  const isOpen = result.tag === "open"
  region.append(
    isOpen && result.isMisrecorded === true
      ? verdict("broken", "Not what you bought.", result.message)
      : isOpen
        ? verdict("waits", "Open.", result.message)
        : verdict("broken", "Not done.", result.message),
  )
  if (isOpen || result.retryAfter !== undefined) {
    const press = retry(isOpen ? "Ask again" : "Try again", again, isOpen ? 0 : result.retryAfter, isOpen)
    outcome.append(make("p", { class: "again" }, press))
    if (document.activeElement === outcome) press.focus()
  }
  if (isHere()) outcome.scrollIntoView({ block: "nearest" })
  return result
}

/** Shows an unfinished signed purchase on any page; one in a slot has no form here. */
export const follow = (purchase: Purchase) => {
  const outcome = make(
    "div",
    {},
    make("div", { class: "pay__progress", [attributeOf("progress")]: "", role: "status", "aria-atomic": "false" }),
  )
  const bought = `${purchase.title}, ${priceUsd(BigInt(purchase.amount))}.`
  const lead = make(
    "p",
    {},
    make("b", {}, "A payment you signed has not settled yet: "),
    `${bought} It is kept in this browser until it settles. This page asks how it ended, and never pays again.`,
  )
  const box = make("section", { class: "pay pay--open", "aria-label": "Your open purchase" }, lead, outcome)
  document.getElementById("main")?.prepend(box)
  const askAgain = async () => {
    const { tag } = await conduct(
      outcome,
      async (progress) => (await checkout()).resume(purchase, progress),
      () => void askAgain(),
    )
    if (tag === "open") return
    box.setAttribute("aria-label", "Your purchase")
    if (tag === "refused") return lead.replaceChildren(bought)
    // The list of this page shows the act now.
    dispatchEvent(new StorageEvent("storage"))
  }
  void askAgain()
}
