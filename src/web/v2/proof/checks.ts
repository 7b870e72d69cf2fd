/** Checks of the chain with its log, which start on request. */
import { canHash } from "../../../buyer/core/Digest.ts"
import type { ReceiptCheck } from "../../../buyer/receipt/Checks.ts"
import { button, doors, failure, make, find, verdict } from "../page/dom.ts"
import { allMarked, type ElementOf, valuesOf } from "../page/marks.ts"
import { AnswerError, cannotHash, pageFailed, partFailed, sentenceOf, waitOf } from "../page/http.ts"

const kinds = { holds: "holds", broken: "broken", open: "unchecked" } as const
const words = { holds: "right", broken: "wrong", open: "not checked" } as const

/** Checks shown; a broken chain may have thousands of faults. */
const most = 20

/** One headline, green only where every part is right, and a line for each part. */
export const tell = (
  status: HTMLElement,
  list: HTMLElement,
  [right, wrong]: readonly [right: string, wrong: string],
  checks: ReadonlyArray<ReceiptCheck>,
) => {
  const count = (state: ReceiptCheck["state"]) => checks.filter((check) => check.state === state).length
  const bad = count("broken")
  const good = checks.filter(({ state }) => state === "holds").map(({ name }) => name)
  const held =
    good.length > 4 || good.length === 0
      ? `${good.length} of ${checks.length} parts are right`
      : `Right: ${good.join(", ")}`
  const open = checks.filter(({ state }) => state === "open").map(({ name }) => name)
  status.replaceChildren(
    bad > 0
      ? verdict("broken", wrong, `${bad} of ${checks.length} parts are wrong.`)
      : open.length > 0
        ? verdict("unchecked", "Nothing is wrong.", `${held}. Not checked: ${open.join(", ")}.`)
        : verdict("holds", right),
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
    "Payments are on another chain: each stone's page links its transaction. ",
    make("a", { href: "/verify#the-payments" }, "How to look them up"),
  )

  const check = async () => {
    // Most readers never check, so this code comes when it is needed.
    const { checkChain, forget, isRemembering } = await import("./chain.ts").catch(partFailed)
    const checks = await checkChain(Number(from), to === undefined ? undefined : Number(to), log, (words) =>
      status.replaceChildren(verdict("waits", words)),
    )
    const words =
      to === undefined
        ? ([`Stone ${from} is as recorded.`, `Stone ${from} is not as recorded.`] as const)
        : (["The chain is whole.", "The chain is broken."] as const)
    tell(status, list, words, checks)
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
