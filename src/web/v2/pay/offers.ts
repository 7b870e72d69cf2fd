/** Loads the code that pays once a visitor turns to a form, or where a purchase or a play wallet is there already. */
import { all, failure, make, one, verdict } from "../page/dom.ts"
import { isUnreached, pageFailed, sentenceOf } from "../page/http.ts"
import { parts } from "../page/load.ts"
import { onPress } from "../page/press.ts"
import { browser, tab } from "../page/store.ts"

const has = (slots: RegExp) => [tab, browser].some((store) => store.slots().some((slot) => slots.test(slot)))

const fail = (form: HTMLElement, error: unknown, again: () => void) => {
  const said = one("[data-progress]", HTMLElement, form)
  const message = `${sentenceOf(error, pageFailed)} Nothing was signed.`
  const retry = () => {
    said.replaceChildren()
    again()
  }
  said.replaceChildren(
    ...(isUnreached(error) ? failure("Not done.", message, retry) : [verdict("broken", "Not done.", message)]),
  )
}

/** Asks how earlier purchases ended. */
const resume = (open: () => Promise<void>): void =>
  void open().catch((error: unknown) => {
    const message = `${sentenceOf(error, pageFailed)} Your signed payment is kept in this browser.`
    const notice = make("section", { class: "pay pay--open", role: "status", "aria-label": "Your open purchase" })
    document.getElementById("main")?.prepend(notice)
    notice.append(
      ...failure("Not asked.", message, () => {
        notice.remove()
        resume(open)
      }),
    )
  })

export const start = () => {
  const forms = all("[data-pay]", HTMLFormElement)
  const open = onPress(forms, async () => (await parts.pay()).start(forms), fail)
  // A press reports what this cannot load.
  const prepare = () => void open().catch(() => undefined)
  for (const form of forms) form.addEventListener("focusin", prepare, { once: true })
  for (const select of all("select[data-options]", HTMLSelectElement)) {
    const options = document.getElementById(select.dataset["options"] ?? "")
    if (options instanceof HTMLTemplateElement) select.append(options.content.cloneNode(true))
  }
  if (has(/^altar:purchase:/u)) resume(open)
  else if (has(/^altar:play-wallet$/u) && forms.length > 0) prepare()
}
