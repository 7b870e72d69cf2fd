/** Checks that start on request: of the log, loaded then, and of an artwork's published hash. */
import { canHash, sha256 } from "../../../buyer/core/Digest.ts"
import { all, failure, longCode, one, verdict } from "../page/dom.ts"
import { cannotHash, pageFailed, sentenceOf, unreached } from "../page/http.ts"
import { arrived } from "../page/load.ts"

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

const checkLog: Check = async (root, again) => (await arrived(import("./log.js"))).check(root, again)

/** Loaded with its page, which then works offline. */
const openChecker = (root: HTMLElement): void =>
  void arrived(import("./checker.js")).then(
    ({ start: open }) => open(root),
    (error: unknown) =>
      one("[data-found]", HTMLElement, root).replaceChildren(
        ...failure("Not loaded.", sentenceOf(error, pageFailed), () => openChecker(root)),
      ),
  )

export const start = () => {
  for (const root of all("[data-checker]", HTMLElement)) openChecker(root)
  for (const root of all("[data-artwork]", HTMLElement)) attach(root, "[data-result]", "Hashing.", checkArtwork)
  for (const root of all("[data-vkey]", HTMLElement)) attach(root, "[data-log-status]", "Checking.", checkLog)
}
