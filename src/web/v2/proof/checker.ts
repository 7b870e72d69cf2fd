/** The page that checks a dropped file: a receipt or a proof of this altar, or the file of a stone. */
import { memberAt } from "../../../buyer/core/Json.ts"
import { commitmentOf } from "../../../buyer/core/Commitment.ts"
import { canHash } from "../../../buyer/core/Digest.ts"
import { checkProof } from "../../../buyer/receipt/ProofChecks.ts"
import { verifyReceipt } from "../../../buyer/receipt/VerifyReceipt.ts"
import { button, doors, hearFiles, longCode, make, find, verdict } from "../page/dom.ts"
import { dayWords } from "../page/durations.ts"
import { allMarked, marked, valuesOf } from "../page/marks.ts"
import { AnswerError, ask, cannotHash, pageFailed, sentenceOf, unreached } from "../page/http.ts"
import type { Keepsake } from "../words/box.ts"
import { differing, fingerprintOf, isBroken } from "../words/fingerprint.ts"
import { readSegment } from "./chain.ts"
import { tell } from "./checks.ts"
import { type Known, largest, recognise } from "./recognise.ts"

/** The keys that this server names for its own receipts and its log. */
interface Own {
  readonly keys: ReadonlyArray<{ readonly kid: string; readonly vkey: string }>
  readonly logs: ReadonlyArray<{ readonly origin: string; readonly vkey: string }>
}

const checksOf = async (text: string, what: Known, { keys, logs }: Own) => {
  if (what.kind === "receipt") {
    const key = keys.find(({ kid }) => kid === what.kid)?.vkey
    if (key === undefined) throw new AnswerError("Another shop signed it: check it with spirit-altar verify --receipt.")
    const [log] = logs
    return verifyReceipt(text, { key, ...(log === undefined ? {} : { log: { vkey: log.vkey } }) })
  }
  const log = logs.find(({ origin }) => origin === what.origin)
  if (log === undefined) throw new AnswerError("It is of another log: check it with spirit-altar verify-proof.")
  const [stone] = (await readSegment(what.index + 1, 1)).entries
  if (stone === undefined) throw new AnswerError(`The altar has no stone ${what.index + 1}.`)
  return checkProof(text, { stone }, { vkey: log.vkey })
}

const nothing =
  "It is no receipt, no proof and no saved words, and no stone has its fingerprint. A copy with changed line ends has another one: "

/**
 * The stone of this fingerprint, as a verdict, and whether it dates the fingerprint. The altar's search is believed only
 * where the stone itself names it; undefined where no stone does.
 */
const stoneOf = async (hash: string, what: string): Promise<readonly [HTMLElement, isDated: boolean] | undefined> => {
  const answer = await fetch(`/v2/acts?q=${hash}`).catch(() => undefined)
  if (answer?.ok !== true) throw unreached()
  const { pathname } = new URL(answer.url)
  if (pathname.startsWith("/witness/")) {
    const { dated, receipt, stone } = (await ask(pathname)).body
    const where = make("a", { href: pathname }, "See the stone")
    if (memberAt(stone, "commitment") !== hash) return [verdict("unchecked", "Not of this stone.", where), false]
    const computed = `The fingerprint, computed here, is the commitment of stone ${String(memberAt(stone, "sequence"))}. `
    if (memberAt(receipt, "finality") === "lost")
      return [verdict("unchecked", "The payment of this stone was lost.", computed, where), false]
    const day = dayWords(String(memberAt(dated, "time") ?? memberAt(stone, "witnessedAt")))
    return [
      verdict("holds", `${what} existed on ${day}.`, `${computed}${String(memberAt(dated, "says"))} `, where),
      true,
    ]
  }
  const page = new DOMParser().parseFromString(await answer.text(), "text/html")
  const [results] = allMarked("found", page)
  return results !== undefined && Number(valuesOf("found", results).found) > 0
    ? [
        verdict("unchecked", "Several stones have this fingerprint.", make("a", { href: answer.url }, "See them")),
        false,
      ]
    : undefined
}

const ofFiles = async (hash: string, count: number) => {
  const [shown] = (await stoneOf(hash, count === 1 ? "This file" : "The list of these files")) ?? []
  return shown ?? verdict("unchecked", "Nothing to check.", nothing, longCode(hash))
}

const ofWords = async ({ commitment, salt, words }: Keepsake) => {
  if ((await commitmentOf(salt, words)) !== commitment)
    return verdict("broken", "These words and this salt do not match the commitment of the file.")
  // Without an answer the match stands alone.
  const [shown, isDated] = (await stoneOf(commitment, "These words").catch(() => undefined)) ?? []
  if (shown !== undefined && isDated === true) return shown
  const where = make("a", { href: `/v2/acts?q=${commitment}` }, "Find their act")
  return verdict("holds", "These words and this salt match the commitment of the file.", where)
}

const backup = () => [
  "It is for restoring sealed words and open payments, and is secret. Drop it on ",
  make("a", { href: "/v2/mine" }, "My words"),
  " to restore them.",
]

export const start = () => {
  const root = marked("checker")
  const [status, list] = [find("[role=status]", HTMLElement, root), find(".checks", HTMLElement, root)]
  const { keys = "[]", logs = "[]" } = valuesOf("checker", root)
  const own: Own = { keys: JSON.parse(keys), logs: JSON.parse(logs) }
  let newest: ReadonlyArray<File> = []

  const checkFiles = async (files: ReadonlyArray<File>, progress: (words: string) => void) => {
    const fingerprint = await fingerprintOf(files, progress)
    const stone = await ofFiles(fingerprint.sha256, files.length)
    const wrong = isBroken(fingerprint)
      ? [verdict("broken", "Not these files.", `They differ from ${fingerprint.name}.`)]
      : []
    return () => status.replaceChildren(...wrong, stone, ...differing(fingerprint))
  }

  const check = async (files: ReadonlyArray<File>, progress: (words: string) => void) => {
    const [file] = files
    if (file === undefined || files.length > 1) return checkFiles(files, progress)
    if (file.size === 0) throw new AnswerError("The file is empty.")
    const text = file.size > largest ? "" : await file.text()
    const what = recognise(text)
    if (what.kind === "words") {
      const result = await ofWords(what.kept)
      return () => status.replaceChildren(result)
    }
    if (what.kind === "box") return () => status.replaceChildren(verdict("unchecked", "A backup.", ...backup()))
    if (what.kind === "damaged") return () => status.replaceChildren(verdict("broken", what.word, what.says))
    if (what.kind === "unknown") return checkFiles(files, progress)
    const { checks } = await checksOf(text, what, own)
    return () => tell(status, list, [`This ${what.kind} is right.`, `This ${what.kind} is not right.`], checks)
  }

  const take = async (...files: ReadonlyArray<File>) => {
    newest = files
    const progress = (words: string) => newest === files && status.replaceChildren(verdict("waits", words))
    list.replaceChildren()
    progress(`Reading ${files.length === 1 ? files[0]?.name : `${files.length} files`}.`)
    const show = await check(files, progress).catch((error: unknown) => () => {
      const unreadable = error instanceof DOMException ? "The browser cannot read this file." : pageFailed
      status.replaceChildren(verdict("unchecked", "Not checked.", sentenceOf(error, unreadable)))
    })
    if (newest !== files) return
    show()
    status.scrollIntoView({ block: "nearest" })
  }

  if (!canHash()) return status.replaceChildren(verdict("unchecked", "Cannot check here.", cannotHash))
  const chosen = marked("file", root)
  hearFiles(chosen, document.body, (...files) => void take(...files))
  document.addEventListener("paste", ({ clipboardData, target }) => {
    const text = clipboardData?.getData("text") ?? ""
    if (text === "" || (target instanceof HTMLElement && target.matches("input, textarea"))) return
    const look = () => void take(new File([text], "the pasted text"))
    if (recognise(text).kind !== "unknown") return look()
    newest = []
    list.replaceChildren()
    // It may be secret words that were meant for a field.
    status.replaceChildren(
      verdict("unchecked", "Nothing was sent.", "A secret could be guessed from its fingerprint, which has no salt."),
      doors(button("Look for its stone", look)),
    )
  })
  // Chosen before this script was there.
  const early = [...(chosen.files ?? [])]
  if (early.length > 0) void take(...early)
}
