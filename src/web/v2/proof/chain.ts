/** Hashes links of the chain in this browser, and compares them with the log, the page and the remembered head. */
import { type ChainPoint, genesis, holds, type LinkCheck, linkFault } from "../../../../schema/altar/ChainCheck.ts"
import { type Bytes, equal } from "../../../../schema/log/Bytes.ts"
import { entryOf } from "../../../../schema/log/Entry.ts"
import { checkSegment, type Link, type Segment } from "../../../buyer/core/Chain.ts"
import { growingTree } from "../../../buyer/log/MerkleProofs.ts"
import { type Opened, openCheckpoint } from "../../../buyer/log/SignedCheckpoint.ts"
import type { NotProven } from "../../../buyer/log/Verdict.ts"
import { leaf } from "../../../buyer/log/WebCrypto.ts"
import { all, button, make, verdict } from "../page/dom.ts"
import { timeWords } from "../page/durations.ts"
import { AnswerError, ask, part, refusalOf, unreachable } from "../page/http.ts"
import { browser } from "../page/store.ts"
import { checkReveals } from "./reveals.ts"
import { type Line, tell } from "./told.ts"

/** The newest head that this browser hashed its way to, and the key of the log over it. */
interface Remembered extends ChainPoint {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly vkey: string | undefined
}

const slot = "altar:checkpoint"

const remembered = (): Remembered | undefined => {
  const kept = browser.json(slot)
  const [sequence, chainHash, at, vkey] = ["sequence", "chainHash", "at", "vkey"].map((name) => part(kept, name))
  return typeof sequence === "number" && typeof chainHash === "string" && typeof at === "number"
    ? { sequence, chainHash, at, vkey: typeof vkey === "string" ? vkey : undefined }
    : undefined
}

const dateOf = ({ at }: Remembered) => timeWords(new Date(at).toISOString())

const isPoint = (value: unknown): value is ChainPoint =>
  Number.isSafeInteger(part(value, "sequence")) && /^[0-9a-f]{64}$/u.test(String(part(value, "chainHash")))

const isLink = (value: unknown): value is Link =>
  isPoint(value) &&
  ["commitment", "witnessedAt", "transaction", "previousHash"].every((name) => typeof part(value, name) === "string")

/** The answer to `GET /api/witness/chain`. */
export const readSegment = async (from: number, limit: number): Promise<Segment> => {
  const answer = await ask(`/api/witness/chain?from=${from}&limit=${limit}`)
  const { anchor, code, entries, head, next } = answer.body
  if (code === "chain_broken") throw new AnswerError(refusalOf(answer).message, "The chain does not hold.")
  if (answer.status !== 200) throw refusalOf(answer)
  const isNext = next === null || typeof next === "number"
  if (!isPoint(anchor) || !isPoint(head) || !isNext || !Array.isArray(entries) || !entries.every(isLink))
    throw new AnswerError("The altar answered with something that is no segment of the chain.")
  return { anchor, entries, head, next }
}

/** The stones and the head that this page shows. */
const shown = (): ReadonlyArray<ChainPoint> =>
  all("[data-link]", HTMLElement).map(({ dataset }) => ({
    sequence: Number(dataset["link"]),
    chainHash: dataset["chainHash"] ?? "",
  }))

/** Marks a stone on the page by sign and word. */
const mark = (sequence: number, isSound: boolean) => {
  for (const place of all(`[data-link="${sequence}"]`, HTMLElement)) {
    place.classList.toggle("link--holds", isSound)
    place.classList.toggle("link--broken", !isSound)
    for (const label of all("[data-verdict]", HTMLElement, place)) label.textContent = isSound ? "✓ holds" : "✗ broken"
  }
}

const counted = (many: number, what: string) => `${many} ${what}${many === 1 ? "" : "s"}`

const broken = (word: string, says: string): Line => ({ kind: "broken", word, says })

const linkLines = (
  check: LinkCheck<Link>,
  others: ReadonlyArray<readonly [by: string, point: ChainPoint]>,
): ReadonlyArray<Line> => {
  const { chainHash, sequence } = check.link
  const fault = linkFault(check)
  const differing = others.filter(([, point]) => point.sequence === sequence && point.chainHash !== chainHash)
  return [
    ...(fault === undefined ? [] : [broken(`Stone ${sequence} does not hold.`, `Here ${fault.detail}.`)]),
    ...differing.map(([by, point]) =>
      broken(`Stone ${sequence} differs.`, `${by} ${point.chainHash}, and the altar answers ${chainHash}.`),
    ),
  ]
}

/** Stones that were known and are missing at the end of the chain. */
const missing = (head: ChainPoint, before: Remembered | undefined): ReadonlyArray<Line> => {
  const newest = Math.max(0, ...shown().map(({ sequence }) => sequence))
  const [known, says] =
    before !== undefined && before.sequence > newest
      ? [before.sequence, `on ${dateOf(before)} this browser saw stone ${before.sequence}`]
      : [newest, `this page shows stone ${newest}`]
  return known > head.sequence
    ? [broken("Stones are missing.", `The chain ends at stone ${head.sequence}, but ${says}.`)]
    : []
}

export interface Place {
  readonly status: HTMLElement
  readonly list: HTMLElement
}

/** The keys of the log over the chain, and of its witnesses. */
export interface LogKeys {
  readonly vkey: string
  readonly witnesses: ReadonlyArray<string>
}

const batch = 100

/** Walks the links, and returns the root over the first `size` of them where there are as many. */
const walk = async (
  status: HTMLElement,
  [from, to]: readonly [number, number],
  before: Remembered | undefined,
  size: number,
) => {
  const others = [
    ...shown().map((point) => ["This page shows", point] as const),
    ...(before === undefined ? [] : [[`On ${dateOf(before)} this browser saw`, before] as const]),
  ]
  const tree = growingTree()
  const lines: Array<Line> = []
  let [next, count, computed]: [number | null, number, string] = [from, 0, ""]
  let last: ChainPoint | undefined
  let head: ChainPoint
  do {
    const segment = await readSegment(next, Math.max(1, Math.min(batch, to - next + 1)))
    const start: ChainPoint =
      next === 1 ? genesis : (last ?? { sequence: next - 1, chainHash: segment.anchor.chainHash })
    const { checks, end, last: reached } = await checkSegment(segment, start)
    for (const check of checks) {
      const found = linkLines(check, others)
      lines.push(...found)
      mark(check.link.sequence, holds(check) && found.length === 0)
      computed = check.computed
    }
    if (end !== undefined) lines.push(broken("Another end.", `Here ${end.detail}.`))
    const leaves = await Promise.all(segment.entries.map((entry) => leaf(entryOf(entry))))
    for (const one of leaves) if (tree.size() < size) await tree.push(one)
    count += checks.length
    head = segment.head
    last = reached
    next = end === undefined ? segment.next : null
    status.replaceChildren(verdict("waits", `${counted(count, "link")} checked.`))
  } while (next !== null && next <= to)
  lines.push(...missing(head, before))
  return { lines, count, last, computed, root: tree.size() === size ? await tree.root() : undefined }
}

/** The log's newest checkpoint; an altar that does not show it proves nothing. */
const openLog = async ({ vkey, witnesses }: LogKeys): Promise<Opened | NotProven> => {
  const answer = await fetch("/log/checkpoint", { cache: "no-store" }).catch(() => undefined)
  if (answer?.status === 200)
    return openCheckpoint(await answer.text(), { vkey, witnesses: { vkeys: witnesses, quorum: 0 } })
  const reason = answer === undefined ? unreachable() : `The altar answered ${answer.status}.`
  return { ok: false, fault: "unsupported", reason }
}

const logLine = (
  log: Opened | NotProven,
  root: Bytes | undefined,
  vkey: string,
  before: Remembered | undefined,
): Line => {
  if (before?.vkey !== undefined && before.vkey !== vkey)
    return broken(
      "The log has another key.",
      `On ${dateOf(before)} it signed with ${before.vkey}, and now it signs with ${vkey}. A log keeps its key: unless its operator announced a new one, do not believe it.`,
    )
  if (!log.ok)
    return log.fault === "unsupported"
      ? { kind: "unchecked", word: "The log was not checked.", says: log.reason }
      : broken("The log does not hold.", log.reason)
  const { checkpoint, cosignatures } = log
  const over = `It signed a checkpoint over ${counted(checkpoint.size, "stone")}`
  if (root === undefined) return broken("The log has more stones.", `${over}, and the chain ends before.`)
  if (!equal(root, checkpoint.root))
    return broken(
      "The log has other stones.",
      `${over}, and its root is not that of these links. Keep /log/checkpoint.`,
    )
  const names = cosignatures.map(({ name }) => name).join(", ")
  const by = names === "" ? "" : ` The signatures of ${names} are right.`
  return { kind: "holds", word: "The log holds.", says: `${over}, whose root is that of these links.${by}` }
}

const wordsLine = async (): Promise<ReadonlyArray<Line>> => {
  const words = await checkReveals()
  if (words.broken > 0)
    return [broken("Other words than were sealed.", "Revealed words here do not hash to their commitment.")]
  return words.shown === 0
    ? []
    : [{ kind: "holds", word: "The words hold.", says: `${counted(words.shown, "revealed text")} of this page.` }]
}

const payments: Line = {
  kind: "unchecked",
  word: "Payments: not checked.",
  says: "Look them up at a node or an explorer of your choice.",
}

/** Checks one stone, or all from `from` to `to` with the log over them, and the page's revealed words. */
export const check = async (place: Place, from: number, to?: number, log?: LogKeys): Promise<void> => {
  const before = remembered()
  place.list.replaceChildren()
  place.status.replaceChildren(verdict("waits", "Checking."))
  // Opened before the walk, which then covers all stones of the log.
  const opened = log === undefined ? undefined : await openLog(log)
  const size = opened?.ok === true ? opened.checkpoint.size : 0
  const { computed, count, last, lines: faults, root } = await walk(place.status, [from, to ?? from], before, size)
  const isWhole = to !== undefined
  const continues = before !== undefined && before.sequence >= from && before.sequence <= (to ?? from)
  const links: Line = {
    kind: "holds",
    word: isWhole ? `All ${counted(count, "link")} hold.` : "The link holds.",
    says: continues
      ? `They continue what this browser saw on ${dateOf(before)}.`
      : isWhole
        ? "This browser remembers the last one and compares next time."
        : `SHA-256 computed here: ${computed}`,
  }
  const lines: ReadonlyArray<Line> = [
    ...(faults.length > 0 ? faults : [links]),
    ...(log === undefined || opened === undefined ? [] : [logLine(opened, root, log.vkey, before)]),
    ...(await wordsLine()),
    ...(isWhole ? [payments] : []),
  ]
  tell(place.status, place.list, isWhole ? "The chain" : `Stone ${from}`, lines)
  if (lines.every(({ kind }) => kind !== "broken")) {
    if (isWhole && last !== undefined)
      browser.set(slot, JSON.stringify({ ...last, at: Date.now(), vkey: log?.vkey ?? before?.vkey }))
    return
  }
  const again = () => {
    browser.remove(slot)
    void check(place, from, to, log)
  }
  place.status.append(
    make(
      "p",
      {},
      "Something was changed, at the altar or on the way here. The payments decide: ",
      make("a", { href: "/verify#payments" }, "how to look them up"),
      ".",
    ),
    ...(before === undefined ? [] : [make("p", { class: "doors" }, button("Forget what this browser saw", again))]),
  )
}
