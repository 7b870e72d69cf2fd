/** The checks of the log start when somebody asks for them, and are fetched then. */
import { all, one, verdict } from "./dom.ts"

type Check = (root: HTMLElement, again: () => void) => Promise<ReadonlyArray<Node>>

const attach = (root: HTMLElement, load: () => Promise<Check>) => {
  const status = one("[data-log-status]", HTMLElement, root)
  const ask = one("button", HTMLButtonElement, root)
  const run = () => {
    ask.disabled = true
    status.replaceChildren(verdict("waits", "Checking."))
    void load()
      .then((check) => check(root, run))
      .catch((error: unknown) => [
        verdict("broken", "Not checked.", error instanceof Error ? error.message : "Something failed."),
      ])
      .then((findings) => {
        status.replaceChildren(...findings)
        ask.disabled = false
      })
  }
  ask.addEventListener("click", run)
}

export const start = () => {
  for (const root of all("[data-proof]", HTMLElement)) attach(root, () => import("./log.ts").then((log) => log.checkProof))
  for (const root of all("[data-log]", HTMLElement)) attach(root, () => import("./log.ts").then((log) => log.checkLog))
}
