/** Checks of the chain with its log, which start on request. */
import { canHash } from "../../../buyer/core/Digest.ts"
import type { ReceiptCheck } from "../../../buyer/receipt/Checks.ts"
import { button, doors, failure, make, find, verdict } from "../page/dom.ts"
import { allMarked, type ElementOf, valuesOf } from "../page/marks.ts"
import { AnswerError, cannotHash, pageFailed, partFailed, sentenceOf, waitOf } from "../page/http.ts"

const kinds = { holds: "holds", broken: "broken", open: "unchecked" } as const
const words = { holds: "holds", broken: "broken", open: "not checked" } as const

/** Checks shown; a broken chain may have thousands of faults. */
const most = 20

/** One headline, green only where every part holds, and a line for each part. */
export const tell = (status: HTMLElement, list: HTMLElement, what: string, checks: ReadonlyArray<ReceiptCheck>) => {
  const count = (state: ReceiptCheck["state"]) => checks.filter((check) => check.state === state).length
  const bad = count("broken")
  const good = checks.filter(({ state }) => state === "holds").map(({ name }) => name)
  const held =
    good.length > 4 || good.length === 0 ? `${good.length} of ${checks.length} parts hold` : `Right: ${good.join(", ")}`
  const open = checks.filter(({ state }) => state === "open").map(({ name }) => name)
  status.replaceChildren(
    bad > 0
      ? verdict("broken", `${what} does not hold.`, `${bad} of ${checks.length} parts are broken.`)
      : open.length > 0
        ? verdict("unchecked", "Nothing is broken.", `${held}. Not checked: ${open.join(", ")}.`)
        : verdict("holds", `${what} holds.`),
  )
  list.replaceChildren(
    ...checks.slice(0, most).map(({ name, says, state }) => {
      const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
      return make("li", {}, verdict(kinds[state], `${title}: ${words[state]}.`, make("span", {}, says)))
    }),
  )
}

/** Checks a range of the chain on request, and the log where the page names its key. */
const ofChain = (root: ElementOf<"verify">) => {
  const [status, list] = [find("[role=status]", HTMLElement, root), find(".checks", HTMLElement, root)]
  const press = find("button", HTMLButtonElement, root)
  const { from, logVkey: vkey, to, cosigners = "" } = valuesOf("verify", root)
  const log = vkey === undefined ? undefined : { vkey, cosigners: cosigners.split(" ").filter(Boolean) }

  const payments = make(
    "p",
    { class: "small quiet" },
    "Payments are on another chain: each stone's page links its transaction.",
  )

  const check = async () => {
    // Most readers never check, so this code comes when it is needed.
    const { checkChain, forget, isRemembering } = await import("./chain.ts").catch(partFailed)
    const checks = await checkChain(Number(from), to === undefined ? undefined : Number(to), log, (words) =>
      status.replaceChildren(verdict("waits", words)),
    )
    tell(status, list, to === undefined ? `The page of stone ${from}` : "The chain", checks)
    if (to !== undefined) list.after(payments)
    if (checks.every(({ state }) => state !== "broken") || !isRemembering()) return
    const again = () => {
      forget()
      press.click()
    }
    status.append(doors(button("Forget what this browser saw", again)))
  }

  const run = async () => {
    if (!canHash()) return status.replaceChildren(verdict("unchecked", "Cannot check here.", cannotHash))
    press.disabled = true
    list.replaceChildren()
    status.replaceChildren(verdict("waits", "Checking."))
    await check().catch((error: unknown) => {
      const word = error instanceof AnswerError ? error.word : undefined
      const kind = word === undefined ? "unchecked" : "broken"
      const again = () => void run()
      status.replaceChildren(
        ...failure(word ?? "Not checked.", sentenceOf(error, pageFailed), again, kind, waitOf(error)),
      )
    })
    press.disabled = false
  }
  press.addEventListener("click", () => void run())
}

export const start = () => allMarked("verify").forEach(ofChain)
