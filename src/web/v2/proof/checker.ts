/** The page that checks a dropped file: a receipt, a proof of this altar's log, or the file of a stone. */
import { Malformed } from "../../../../schema/log/Bytes.ts"
import { parseVerifierKey } from "../../../../schema/log/Note.ts"
import type { Link } from "../../../buyer/core/Chain.ts"
import { canHash, hexOf } from "../../../buyer/core/Digest.ts"
import { checkProof } from "../../../buyer/receipt/ProofChecks.ts"
import { verifyReceipt } from "../../../buyer/receipt/VerifyReceipt.ts"
import { make, one, verdict } from "../page/dom.ts"
import { hearFiles } from "../page/dropped.ts"
import { parts } from "../page/load.ts"
import { AnswerError, cannotHash, pageFailed, sentenceOf } from "../page/http.ts"
import { readSegment } from "./chain.ts"
import { type Known, largest, recognise } from "./recognise.ts"
import { lineOf, tell } from "./told.ts"

/** The keys that this server names for its own receipts and its log. */
interface Own {
  readonly keys: ReadonlyArray<{ readonly kid: string; readonly vkey: string }>
  readonly logs: ReadonlyArray<{ readonly origin: string; readonly vkey: string }>
}

export const start = (root: HTMLElement) => {
  const found = one("[data-found]", HTMLElement, root)
  const outcome = one("[data-outcome]", HTMLElement, root)
  const lines = one("[data-lines]", HTMLElement, root)
  const form = one("[data-asked]", HTMLFormElement, root)
  const key = one("[data-key]", HTMLInputElement, form)
  const { keys = "[]", logs = "[]" } = root.dataset
  const own: Own = { keys: JSON.parse(keys), logs: JSON.parse(logs) }
  let newest: unknown
  let waiting: { readonly text: string; readonly what: Known } | undefined

  const show = (...summary: ReadonlyArray<Node>) => {
    outcome.replaceChildren(...summary)
    lines.replaceChildren()
  }

  const receipt = (text: string, vkey: string) => {
    if (parseVerifierKey(vkey) instanceof Malformed) throw new AnswerError("This is no verifier key: name+hash+Base64.")
    const [log] = own.keys.some((known) => known.vkey === vkey) ? own.logs : []
    return verifyReceipt(text, { key: vkey, ...(log === undefined ? {} : { log: { vkey: log.vkey } }) })
  }

  const stoneAt = async (sequence: number): Promise<Link> => {
    const [stone] = (await readSegment(sequence, 1)).entries
    if (stone === undefined) throw new AnswerError(`The altar has no stone ${sequence}.`)
    return stone
  }

  const check = async (text: string, what: Known, vkey: string) => {
    show(verdict("waits", "Checking."))
    try {
      const { checks } =
        what.kind === "receipt"
          ? await receipt(text, vkey)
          : await checkProof(text, { stone: await stoneAt(what.index + 1) }, { vkey })
      tell(outcome, lines, `This ${what.kind}`, checks.map(lineOf))
    } catch (error) {
      show(verdict("unchecked", "Not checked.", sentenceOf(error, pageFailed)))
    }
  }

  const take = (text: string, what: Known): void => {
    waiting = { text, what }
    if (what.kind === "receipt") {
      found.replaceChildren(
        make("p", {}, make("b", {}, "A receipt file."), ` It says that ${what.kid} signed it for ${what.act}.`),
      )
      const vkey = own.keys.find(({ kid }) => kid === what.kid)?.vkey
      form.hidden = vkey !== undefined
      if (vkey !== undefined) return void check(text, what, vkey)
      return show(verdict("unchecked", "Not checked.", "Another shop signed it. Name its key."))
    }
    found.replaceChildren(
      make(
        "p",
        {},
        make("b", {}, "A log proof."),
        ` It says that ${what.origin} holds entry ${what.index + 1} of ${what.size}.`,
      ),
    )
    const log = own.logs.find(({ origin }) => origin === what.origin)
    if (log !== undefined) return void check(text, what, log.vkey)
    show(verdict("unchecked", "Not checked.", "It is of another log: check it with spirit-altar verify-proof."))
  }

  const read = async (file: File) => {
    newest = file
    form.hidden = true
    show()
    found.replaceChildren(verdict("waits", `Reading ${file.name}.`))
    try {
      const text = file.size > largest ? "" : await file.text()
      const what = recognise(text)
      if (newest !== file) return
      if (what.kind !== "unknown") return take(text, what)
      if (what.isOurs) return found.replaceChildren(verdict("broken", what.word, what.says))
      const { hashFile } = await parts.file()
      const hash = hexOf(await hashFile(file, () => {}))
      if (newest === file) location.assign(`/v2/acts?q=${hash}`)
    } catch {
      if (newest === file) found.replaceChildren(verdict("broken", "The browser cannot read this file."))
    }
  }

  if (!canHash()) return found.replaceChildren(verdict("unchecked", "Cannot check here.", cannotHash))
  const chosen = one("[data-file]", HTMLInputElement, root)
  hearFiles(chosen, document.body, (file) => void read(file))
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    if (waiting !== undefined) void check(waiting.text, waiting.what, key.value.trim())
  })
  // Chosen before this script was there.
  const early = chosen.files?.[0]
  if (early !== undefined) void read(early)
}
