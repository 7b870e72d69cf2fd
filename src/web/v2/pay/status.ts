/** Shows the progress of a purchase, announces its end once, and leaves the result on the page. */
import { priceUsd } from "../../../../schema/payments/Usdc.ts"
import { part, partFailed, sentenceOf } from "../page/http.ts"
import { all, longCode, make, retry, verdict } from "../page/dom.ts"
import { attributeOf, marked } from "../page/marks.ts"
import { timeWords } from "../page/durations.ts"
import { keepsake } from "../words/keepsake.ts"
import type { Progress, Result } from "./checkout.ts"
import type { Purchase } from "./purchase.ts"

/** The code of a purchase, from its price to its end; most readers of a page pay nothing. */
export const checkout = () => import("./signer.ts").catch(partFailed)

/** The steps as a list; each is announced as it comes, and scrolled into the view of a buyer who is here. */
const progress = (said: HTMLElement, isHere: () => boolean): Progress => {
  const list = make("ol", { class: "steps", role: "list" })
  said.replaceChildren(list)
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

const text = (value: unknown) => (typeof value === "string" ? value : "")

/** A live region must stay in the document: after reinsertion, a screen reader would repeat or skip it. */
const clear = (place: Element, kept: Element) => {
  for (const other of all(":scope > *", HTMLElement, place)) if (other !== kept) other.remove()
}

/** The bought stone, candle or edition in a sentence. */
const boughtOf = (record: unknown): ReadonlyArray<HTMLElement> => {
  const [sequence, until, edition] = ["sequence", "litUntil", "edition"].map((name) => part(record, name))
  const says = (words: string) => [make("p", {}, make("b", { dir: "auto" }, words))]
  if (typeof sequence === "number") return says(`Stone ${sequence} is set.`)
  if (typeof until === "string") return says(`Your candle burns until ${timeWords(until)}.`)
  return typeof edition === "number"
    ? says(`You have number ${edition} of ${String(part(record, "editionSize"))}.`)
    : []
}

/** An altar takes one prayer a day, and one first keeper. */
const mayRepeat = (path: string) => !/^\/api\/(?:prayers|acquire)\//u.test(path)

/** The name of the file of sealed words. */
const fileOf = (record: unknown) => {
  const sequence = part(record, "sequence")
  return `${typeof sequence === "number" ? `stone-${sequence}` : text(part(record, "id"))}.words`
}

/** The lasting result of a purchase; its settlement was announced before. */
const proof = ({ body, purchase }: Extract<Result, { tag: "settled" }>): ReadonlyArray<HTMLElement> => {
  const line = text(body["line"])
  const permalink = URL.parse(text(body["permalink"]))
  return [
    ...(line === ""
      ? []
      : [make("p", { class: "quiet" }, "The answer:"), make("blockquote", { class: "words" }, make("p", {}, line))]),
    ...(purchase.sealed === undefined ? [] : [keepsake(purchase.sealed, fileOf(body["record"]))]),
    ...boughtOf(body["record"]),
    ...(purchase.sealed === undefined && part(body["record"], "commitment") !== undefined
      ? [make("p", {}, make("b", {}, "Keep the file unchanged."), " It is the proof of this stone.")]
      : []),
    make("p", {}, "Transaction ", longCode(text(part(body["receipt"], "transaction")))),
    make(
      "p",
      { class: "doors" },
      make(
        "a",
        { class: "button", href: permalink?.pathname ?? "/v2/" },
        permalink?.pathname.startsWith("/witness/") === true ? "See your stone" : "See your act",
      ),
      ...(mayRepeat(purchase.url)
        ? [make("a", { class: "button", href: `${location.pathname}${location.search}` }, "Another")]
        : []),
    ),
  ]
}

/** Replaces the form, or other status of the purchase, by its receipt around the same live region. */
const settle = (outcome: HTMLElement, said: HTMLElement, result: Extract<Result, { tag: "settled" }>) => {
  const around = outcome.parentElement
  const active = document.activeElement
  // A reader who is elsewhere on the page hears of it without losing the focus.
  const isFree = active === null || active === document.body || around?.contains(active) === true
  if (around !== null) clear(around, outcome)
  outcome.className = "receipt"
  outcome.setAttribute("role", "group")
  outcome.setAttribute("aria-label", "Receipt")
  outcome.tabIndex = -1
  said.replaceChildren(verdict("holds", "Settled.", `${priceUsd(BigInt(result.purchase.amount))} was charged, once.`))
  outcome.append(...proof(result))
  if (isFree) outcome.focus()
}

/** Runs `work`, shows its progress in `outcome`, and ends with a receipt and a renewed page, or with the next step. */
export const conduct = async (
  outcome: HTMLElement,
  work: (progress: Progress) => Promise<Result>,
  again: () => void,
): Promise<Result> => {
  const said = marked("progress", outcome)
  // The retry button goes, so keyboard focus moves to this place.
  if (outcome.contains(document.activeElement)) {
    outcome.tabIndex = -1
    outcome.focus()
  }
  clear(outcome, said)
  const isHere = () => outcome.parentElement?.contains(document.activeElement) === true
  const result = await work(progress(said, isHere)).catch((error: unknown): Result => ({
    tag: "open",
    message: sentenceOf(error, "This page failed. Ask again: it asks how the payment ended, and pays nothing twice."),
  }))
  if (result.tag === "settled") {
    settle(outcome, said, result)
    return result
  }
  const isOpen = result.tag === "open"
  said.append(
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
