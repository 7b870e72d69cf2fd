/** The check in the page; starts on request, and by itself when the page contradicts this browser's memory. */
import { all, failure, make, one, type Verdict, verdict } from "../page/dom.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { cannotHash, pageFailed, part, sentenceOf } from "../page/http.ts"
import { history, newest, record } from "./history.ts"
import { arrived } from "../page/load.ts"
import type { Checked } from "./check.ts"
import { onDemand } from "../onDemand.ts"
import { rendered } from "./rendered.ts"

/** Points seen before this page; empty once their owner clears them. */
const before = [...history()]

/** Whether the page shows another history than before, or a shorter one. */
const isDoubtful = (): boolean => {
  const { head, stones } = rendered()
  const points = [...stones.values(), ...(head === undefined ? [] : [head])]
  return (
    points.some((point) =>
      before.some((one) => one.sequence === point.sequence && one.chainHash !== point.chainHash),
    ) ||
    (head !== undefined && head.sequence < (newest(before)?.sequence ?? 0))
  )
}

/** Findings of the log; one that cannot be asked is no reason to believe less of the chain. */
const logFindings = (root: HTMLElement, vkey: string, witnesses: string): Promise<ReadonlyArray<Node>> =>
  arrived(import("./log.js"))
    .then(({ check }) =>
      check(make("div", { "data-vkey": vkey, "data-witnesses": witnesses }), () =>
        root.querySelector<HTMLElement>("[data-verify-all]")?.click(),
      ),
    )
    .catch((error: unknown) => [verdict("unchecked", "The log was not checked.", sentenceOf(error, pageFailed))])

const counted = (many: number, what: string) => `${many} ${what}${many === 1 ? "" : "s"}`

/** Checks the log, too, and says in one line what was shown and what was not. */
const alsoLog = async (root: HTMLElement, vkey: string, status: HTMLElement, { holds, links, reveals }: Checked) => {
  const findings = await logFindings(root, vkey, root.dataset["witnesses"] ?? "")
  const has = (kind: Verdict) => findings.some((node) => node instanceof Element && node.matches(`.verdict--${kind}`))
  const [kind, word] =
    !holds || has("broken")
      ? (["broken", "Not everything holds."] as const)
      : has("unchecked")
        ? (["unchecked", "Not everything could be checked."] as const)
        : (["holds", "Everything holds."] as const)
  const [texts, isLogChecked] = [`${counted(reveals, "revealed text")} of this page`, !has("unchecked")]
  const done = isLogChecked ? `, ${texts} and the log's newest checkpoint` : ` and ${texts}`
  const rest = isLogChecked ? "payments, and whether the log has each of these stones" : "payments, and the log"
  status.prepend(
    verdict(kind, word, `Checked in this browser: ${counted(links, "link")}${done}. Not checked: ${rest}.`),
  )
  status.append(...findings)
}

const attach = (root: HTMLElement) => {
  const number = (name: string) => Number(root.dataset[name])
  const place = {
    status: one("[data-verify-status]", HTMLElement, root),
    list: one("[data-verify-list]", HTMLElement, root),
  }
  const able = (is: boolean) => {
    for (const button of all("[data-verify-some], [data-verify-all]", HTMLButtonElement, root)) button.disabled = !is
  }
  const run = async (from: number, to: number, every: boolean) => {
    if (!canHash()) return place.status.replaceChildren(verdict("unchecked", "Cannot check here.", cannotHash))
    able(false)
    // The checking code is loaded on demand.
    await onDemand()
      .then(({ check }) => check(place, { from, to }, every, before))
      .then((chain) => {
        const { logVkey } = root.dataset
        return logVkey === undefined || every ? undefined : alsoLog(root, logVkey, place.status, chain)
      })
      .catch((error: unknown) => {
        const word = part(error, "word")
        place.status.replaceChildren(
          ...failure(
            String(word ?? "Not checked."),
            sentenceOf(error, pageFailed),
            () => void run(from, to, every),
            word === undefined ? "unchecked" : "broken",
          ),
        )
      })
    able(true)
  }
  const some = () => void run(number("from"), number("to"), true)
  // A renewed page may bring new buttons.
  root.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return
    if (target.closest("[data-verify-some]") !== null) some()
    if (target.closest("[data-verify-all]") !== null) void run(1, rendered().head?.sequence ?? 0, false)
  })
  const doubtful = isDoubtful()
  const { head, stones } = rendered()
  record([...(head === undefined ? [] : [head]), ...stones.values()])
  if (doubtful) some()
}

export const start = () => {
  for (const root of all("[data-verify]", HTMLElement)) attach(root)
}
