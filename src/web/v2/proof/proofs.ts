/** The checks of the log start when somebody asks for them, and are fetched then. */
import { all, failure, one, verdict } from "../page/dom.ts"
import { pageFailed, sentenceOf } from "../page/http.ts"
import { arrived } from "../page/load.ts"

const attach = (root: HTMLElement) => {
  const status = one("[data-log-status]", HTMLElement, root)
  const ask = one("button", HTMLButtonElement, root)
  const run = async () => {
    ask.disabled = true
    status.replaceChildren(verdict("waits", "Checking."))
    const findings = await arrived(import("./log.js"))
      .then(({ check }) => check(root, () => void run()))
      .catch((error: unknown) => failure("Not checked.", sentenceOf(error, pageFailed), () => void run()))
    status.replaceChildren(...findings)
    ask.disabled = false
  }
  ask.addEventListener("click", () => void run())
}

export const start = () => {
  for (const root of all("[data-vkey]", HTMLElement)) attach(root)
}
