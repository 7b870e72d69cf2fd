/** Checks that start on request: of the chain, of the log, and of an artwork's published hash. */
import { canHash, sha256 } from "../../../buyer/core/Digest.ts"
import { checkProof } from "../../../buyer/receipt/ProofChecks.ts"
import { all, failure, longCode, one, verdict } from "../page/dom.ts"
import { AnswerError, cannotHash, pageFailed, sentenceOf, unreached, waitOf } from "../page/http.ts"
import { check as checkChain } from "./chain.ts"
import { lineOf, tell } from "./told.ts"

export { start as openChecker } from "./checker.ts"

type Check = (status: HTMLElement) => Promise<void>

/** Attaches a check to its button, and a retry to its failure. */
const attach = (root: HTMLElement, place: string, word: string, check: Check) => {
  const status = one(place, HTMLElement, root)
  const press = one("button", HTMLButtonElement, root)
  const run = async () => {
    if (!canHash()) return status.replaceChildren(verdict("unchecked", "Cannot check here.", cannotHash))
    press.disabled = true
    status.replaceChildren(verdict("waits", word))
    await check(status).catch((error: unknown) => {
      const found = error instanceof AnswerError ? error.word : undefined
      const kind = found === undefined ? "unchecked" : "broken"
      status.replaceChildren(
        ...failure(found ?? "Not checked.", sentenceOf(error, pageFailed), () => void run(), kind, waitOf(error)),
      )
    })
    press.disabled = false
  }
  press.addEventListener("click", () => void run())
}

/** Downloads the artwork and compares its hash with the one in the published manifest. */
const checkArtwork = async ({ dataset }: HTMLElement, status: HTMLElement) => {
  const { artwork = "", bytes = "", sha256: published } = dataset
  const fail = () => {
    throw unreached()
  }
  const response = await fetch(artwork, { cache: "no-store" }).catch(fail)
  if (!response.ok) throw new AnswerError(`The artwork answered ${response.status}.`)
  const content = await response.arrayBuffer().catch(fail)
  const computed = await sha256(content)
  const said = `${content.byteLength} bytes instead of ${bytes} hash to `
  status.replaceChildren(
    computed === published
      ? verdict("holds", "Same hash.", "It was computed in this browser.")
      : verdict("broken", "Another hash.", said, longCode(computed)),
  )
}

/** Checks the proof of the page's stone with the named key of the log. */
const attachProof = (root: HTMLElement) => {
  const list = one("[data-log-list]", HTMLElement, root)
  attach(root, "[data-log-status]", "Checking.", async (status) => {
    const { proof = "", stone = "", vkey = "" } = root.dataset
    list.replaceChildren()
    const answer = await fetch(proof, { cache: "no-store" }).catch(() => undefined)
    if (answer === undefined) throw unreached()
    if (answer.status === 409) throw new AnswerError("The log's next checkpoint will cover this stone.")
    if (answer.status !== 200) throw new AnswerError(`The altar answered ${answer.status}.`)
    const { checks } = await checkProof(await answer.text(), { stone: JSON.parse(stone) }, { vkey })
    tell(status, list, "This proof", checks.map(lineOf))
  })
}

/** The check of a range of the chain, and of the log where the page names its key. */
const attachChain = (root: HTMLElement) => {
  const list = one("[data-verify-list]", HTMLElement, root)
  const { from, logVkey: vkey, to, witnesses = "" } = root.dataset
  const log = vkey === undefined ? undefined : { vkey, witnesses: witnesses.split(" ").filter(Boolean) }
  attach(root, "[data-verify-status]", "Checking.", (status) => {
    list.replaceChildren()
    return checkChain({ status, list }, Number(from), to === undefined ? undefined : Number(to), log)
  })
}

/** Gives the buttons of the page's checks their listeners. */
export const start = () => {
  for (const root of all("[data-verify]", HTMLElement)) attachChain(root)
  for (const root of all("[data-vkey]", HTMLElement)) attachProof(root)
  for (const root of all("[data-artwork]", HTMLElement))
    attach(root, "[data-result]", "Hashing.", (status) => checkArtwork(root, status))
}
