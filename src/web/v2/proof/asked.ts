/** Checks that start when somebody asks for them: of the log, which are fetched then, and of an artwork's published hash. */
import { canHash, sha256 } from "../../../buyer/core/Digest.ts"
import { all, failure, make, one, verdict } from "../page/dom.ts"
import { cannotHash, pageFailed, sentenceOf, unreached } from "../page/http.ts"
import { arrived } from "../page/load.ts"

type Check = (root: HTMLElement, again: () => void) => Promise<ReadonlyArray<Node>>

/** Its button runs the check, and one that failed is run again from where it says so. */
const attach = (root: HTMLElement, place: string, word: string, check: Check) => {
  const status = one(place, HTMLElement, root)
  let busy = false
  /** One check at a time, whichever button asks for it. */
  const run = async () => {
    if (busy) return
    busy = true
    status.replaceChildren(verdict("waits", word))
    const findings = await check(root, () => void run()).catch((error: unknown) =>
      failure("Not checked.", sentenceOf(error, pageFailed), () => void run()),
    )
    busy = false
    status.replaceChildren(...findings)
  }
  one("button", HTMLButtonElement, root).addEventListener("click", () => void run())
}

/** The artwork is fetched anew and hashed here, against the hash its manifest was published with. */
const checkArtwork: Check = async ({ dataset: { artwork = "", bytes = "", sha256: published } }) => {
  if (!canHash()) return [verdict("broken", "Cannot hash here.", cannotHash)]
  const fail = () => {
    throw unreached()
  }
  const response = await fetch(artwork, { cache: "no-store" }).catch(fail)
  if (!response.ok) return [verdict("broken", "Not checked.", `The artwork answered ${response.status}.`)]
  const content = await response.arrayBuffer().catch(fail)
  const computed = await sha256(content)
  if (computed === published)
    return [
      verdict(
        "holds",
        "Same hash.",
        `${content.byteLength.toLocaleString("en-US")} bytes were hashed in this browser.`,
      ),
    ]
  const said = `${content.byteLength} bytes instead of ${bytes} hash to `
  return [verdict("broken", "Another hash.", said, make("code", { class: "long" }, computed))]
}

const checkLog: Check = async (root, again) => (await arrived(import("./log.js"))).check(root, again)

export const start = () => {
  for (const root of all("[data-artwork]", HTMLElement)) attach(root, "[data-result]", "Hashing.", checkArtwork)
  for (const root of all("[data-vkey]", HTMLElement)) attach(root, "[data-log-status]", "Checking.", checkLog)
}
