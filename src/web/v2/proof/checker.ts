/** The page that checks a dropped receipt or proof: it asks for what is missing and sends nothing. */
import { canHash } from "../../../buyer/core/Digest.ts"
import type { ReceiptCheck } from "../../../buyer/receipt/Checks.ts"
import { make, one, type Verdict, verdict } from "../page/dom.ts"
import { hearFiles } from "../page/dropped.ts"
import { cannotHash, pageFailed, sentenceOf } from "../page/http.ts"
import { tab } from "../page/store.ts"
import { given, type Outcome } from "./given.ts"
import { handed, largest } from "./handed.ts"
import { asPasted, type Known, recognise } from "./recognise.ts"

const words = { holds: "checked", broken: "failed", open: "unchecked" } as const
const verdicts: Readonly<Record<ReceiptCheck["state"], Verdict>> = {
  holds: "holds",
  broken: "broken",
  open: "unchecked",
}

const capital = (text: string) => `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`

const lineOf = ({ name, says, state }: ReceiptCheck) =>
  make("li", {}, verdict(verdicts[state], `${capital(name)}: ${words[state]}.`, says))

const parts = (many: number) => `${many} ${many === 1 ? "part" : "parts"}`

/** The line over all others; it says how much was not checked, too. */
const headline = (what: string, { checks, ok }: Outcome) => {
  const count = (state: ReceiptCheck["state"]) => checks.filter((check) => check.state === state).length
  const [checked, failed, unchecked] = [count("holds"), count("broken"), count("open")]
  const rest = unchecked === 0 ? "" : ` ${parts(unchecked)} unchecked.`
  if (failed > 0) return verdict("broken", `This ${what} does not hold.`, `${parts(failed)} failed.${rest}`)
  return ok
    ? verdict("holds", `This ${what} holds.`, `${parts(checked)} checked, none failed.${rest}`)
    : verdict("unchecked", `Nothing shows yet that this ${what} holds.`, `None failed.${rest}`)
}

const describe = (what: Known) =>
  what.kind === "receipt"
    ? make("p", {}, make("b", {}, "A receipt file."), ` It says that ${what.kid} signed a receipt for ${what.act}.`)
    : make(
        "p",
        {},
        make("b", {}, "A log proof."),
        ` It says that the log ${what.origin} holds entry ${what.index + 1} of ${what.size}.`,
      )

export const start = (root: HTMLElement) => {
  const found = one("[data-found]", HTMLElement, root)
  const form = one("[data-asked]", HTMLFormElement, root)
  const fold = one("[data-with]", HTMLDetailsElement, root)
  const outcome = one("[data-outcome]", HTMLElement, root)
  const lines = one("[data-lines]", HTMLElement, root)
  const pasted = one("[data-text]", HTMLTextAreaElement, root)
  const chosen = one("[data-file]", HTMLInputElement, root)
  const { ask, check: judge } = given(root)
  let loaded: { readonly text: string; readonly what: Known } | undefined
  let newest: unknown

  const show = (...summary: ReadonlyArray<Node>) => {
    outcome.replaceChildren(...summary)
    lines.replaceChildren()
  }

  let turn = 0

  const check = async () => {
    const now = loaded
    if (now === undefined) return
    turn += 1
    const mine = turn
    show(verdict("waits", "Checking."))
    try {
      const made = await judge(now.text, now.what)
      if (mine !== turn) return
      show(headline(now.what.kind === "receipt" ? "receipt" : "proof", made))
      lines.replaceChildren(...made.checks.map(lineOf))
    } catch (error) {
      if (mine !== turn) return
      fold.open = true
      show(verdict("unchecked", "Not checked.", sentenceOf(error, pageFailed)))
    }
  }

  /** A verdict does not outlive what it was about. */
  const forget = () => {
    turn += 1
    show()
  }

  const take = (text: string) => {
    const what = recognise(text)
    loaded = what.kind === "unknown" ? undefined : { text, what }
    form.hidden = loaded === undefined
    forget()
    if (what.kind === "unknown") return found.replaceChildren(verdict("broken", what.word, what.says))
    found.replaceChildren(describe(what))
    const isComplete = ask(what)
    fold.open = !isComplete
    if (isComplete) void check()
  }

  const read = async (file: File) => {
    newest = file
    pasted.value = ""
    loaded = undefined
    form.hidden = true
    forget()
    found.replaceChildren(verdict("waits", `Reading ${file.name}.`))
    // A file of gigabytes is not read to be refused.
    const text = file.size > 4 * largest ? " ".repeat(largest + 1) : await file.text().catch(() => undefined)
    if (newest !== file) return
    if (text === undefined) return found.replaceChildren(verdict("broken", "The browser cannot read this file."))
    take(text)
  }

  if (!canHash()) return found.replaceChildren(verdict("unchecked", "Cannot check here.", cannotHash))
  hearFiles(chosen, document.body, (file) => void read(file))
  pasted.addEventListener("input", () => {
    newest = undefined
    chosen.value = ""
    take(asPasted(pasted.value))
  })
  form.addEventListener("input", forget)
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    void check()
  })
  // Chosen before this script was there.
  const early = chosen.files?.[0]
  if (early !== undefined) void read(early)
  const brought = tab.get(handed)
  if (brought !== null) {
    tab.remove(handed)
    take(brought)
  }
}
