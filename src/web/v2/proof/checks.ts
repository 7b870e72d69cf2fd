/** Checks that start on request: of the chain, of the log, and of an artwork's published hash. */
import { canHash, sha256 } from "../../../buyer/core/Digest.ts"
import { all, failure, longCode, make, one, type Verdict, verdict } from "../page/dom.ts"
import { AnswerError, cannotHash, pageFailed, sentenceOf, unreached, waitOf } from "../page/http.ts"
import { check as checkChain, type Checked } from "./chain.ts"
import { check as checkLog } from "./log.ts"

export { start as openChecker } from "./checker.ts"

type Check = (root: HTMLElement, again: () => void) => Promise<ReadonlyArray<Node>>

/** Attaches a check to its button, and a retry to its failure. */
const attach = (root: HTMLElement, place: string, word: string, check: Check) => {
  const status = one(place, HTMLElement, root)
  let busy = false
  /** One check at a time, for all buttons. */
  const run = async () => {
    if (busy) return
    busy = true
    status.replaceChildren(verdict("waits", word))
    const findings = await check(root, () => void run()).catch((error: unknown) =>
      failure("Not checked.", sentenceOf(error, pageFailed), () => void run(), "unchecked"),
    )
    busy = false
    status.replaceChildren(...findings)
  }
  one("button", HTMLButtonElement, root).addEventListener("click", () => void run())
}

/** Downloads the artwork and compares its hash with the one in the published manifest. */
const checkArtwork: Check = async ({ dataset: { artwork = "", bytes = "", sha256: published } }) => {
  if (!canHash()) return [verdict("unchecked", "Cannot hash here.", cannotHash)]
  const fail = () => {
    throw unreached()
  }
  const response = await fetch(artwork, { cache: "no-store" }).catch(fail)
  if (!response.ok) return [verdict("unchecked", "Not checked.", `The artwork answered ${response.status}.`)]
  const content = await response.arrayBuffer().catch(fail)
  const computed = await sha256(content)
  if (computed === published) return [verdict("holds", "Same hash.", "It was computed in this browser.")]
  const said = `${content.byteLength} bytes instead of ${bytes} hash to `
  return [verdict("broken", "Another hash.", said, longCode(computed))]
}

const counted = (many: number, what: string) => `${many} ${what}${many === 1 ? "" : "s"}`

/** The log's part of a check of everything; a log that cannot be asked is no reason to believe less of the chain. */
const withLog = async (root: HTMLElement, status: HTMLElement, { holds, links, reveals }: Checked) => {
  const { logVkey = "", witnesses = "" } = root.dataset
  const asked = make("div", { "data-vkey": logVkey, "data-witnesses": witnesses })
  const findings = await checkLog(asked, () => one("button", HTMLButtonElement, root).click()).catch(
    (error: unknown) => [verdict("unchecked", "The log was not checked.", sentenceOf(error, pageFailed))],
  )
  const has = (kind: Verdict) => findings.some((node) => node instanceof Element && node.matches(`.verdict--${kind}`))
  const [kind, word] =
    !holds || has("broken")
      ? (["broken", "Not everything holds."] as const)
      : has("unchecked")
        ? (["unchecked", "Not everything could be checked."] as const)
        : (["holds", "Everything holds."] as const)
  const checked = `${counted(links, "link")}${has("unchecked") ? "" : ", the log's newest checkpoint"} and ${counted(reveals, "revealed text")}`
  status.prepend(verdict(kind, word, `Checked in this browser: ${checked}. Not checked: payments.`))
  status.append(...findings)
}

/** The check of a range of the chain, and of the log where the page names its key. */
const attachChain = (root: HTMLElement) => {
  const place = {
    status: one("[data-verify-status]", HTMLElement, root),
    list: one("[data-verify-list]", HTMLElement, root),
  }
  const press = one("button", HTMLButtonElement, root)
  const { from, logVkey, to } = root.dataset
  const run = async () => {
    if (!canHash()) return place.status.replaceChildren(verdict("unchecked", "Cannot check here.", cannotHash))
    press.disabled = true
    await checkChain(place, Number(from), Number(to))
      .then((checked) => (logVkey === undefined ? undefined : withLog(root, place.status, checked)))
      .catch((error: unknown) => {
        const word = error instanceof AnswerError ? error.word : undefined
        const kind = word === undefined ? "unchecked" : "broken"
        place.status.replaceChildren(
          ...failure(word ?? "Not checked.", sentenceOf(error, pageFailed), () => void run(), kind, waitOf(error)),
        )
      })
    press.disabled = false
  }
  press.addEventListener("click", () => void run())
}

/** Gives the buttons of the page's checks their listeners. */
export const start = () => {
  for (const root of all("[data-verify]", HTMLElement)) attachChain(root)
  for (const root of all("[data-artwork]", HTMLElement)) attach(root, "[data-result]", "Hashing.", checkArtwork)
  for (const root of all("[data-vkey]", HTMLElement)) attach(root, "[data-log-status]", "Checking.", checkLog)
}
