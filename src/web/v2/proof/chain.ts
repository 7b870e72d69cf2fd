/** Hashes links of the chain in this browser, and compares them with the log, the page and the remembered head. */
import { memberAt } from "../../../buyer/core/Json.ts"
import { type ChainPoint, genesis, linkFault } from "../../../../schema/altar/ChainCheck.ts"
import { type Bytes, equal } from "../../../../schema/log/Bytes.ts"
import { entryOf } from "../../../../schema/log/Entry.ts"
import { checkSegment, type Link, type Segment } from "../../../buyer/core/Chain.ts"
import { growingTree } from "../../../buyer/log/MerkleProofs.ts"
import { openCheckpoint } from "../../../buyer/log/SignedCheckpoint.ts"
import { leaf } from "../../../buyer/log/WebCrypto.ts"
import { holds, open, type ReceiptCheck } from "../../../buyer/receipt/Checks.ts"
import { allMarked, valuesOf } from "../page/marks.ts"
import { count, timeWords } from "../page/durations.ts"
import { AnswerError, ask, refusalOf, unreachable } from "../page/http.ts"
import { browser } from "../page/store.ts"
import { checkReveals } from "./reveals.ts"

const slot = "altar:checkpoint"

const isPoint = (value: unknown): value is ChainPoint =>
  Number.isSafeInteger(memberAt(value, "sequence")) && /^[0-9a-f]{64}$/u.test(String(memberAt(value, "chainHash")))

/** A head of the chain with its source: the page, or what this browser hashed its way to before. */
interface KnownPoint extends ChainPoint {
  readonly by: string
  /** The key of the log over it. */
  readonly vkey?: string
}

const remembered = (): KnownPoint | undefined => {
  const kept = browser.json(slot)
  const [at, vkey] = [memberAt(kept, "at"), memberAt(kept, "vkey")]
  if (!isPoint(kept) || typeof at !== "number") return undefined
  const by = `On ${timeWords(new Date(at).toISOString())} this browser saw`
  return { sequence: kept.sequence, chainHash: kept.chainHash, by, ...(typeof vkey === "string" ? { vkey } : {}) }
}

/** The stones and the head that this page shows. */
const shown = (): ReadonlyArray<KnownPoint> =>
  allMarked("link").map((place) => {
    const { chainHash = "", link } = valuesOf("link", place)
    return { sequence: Number(link), chainHash, by: "This page shows" }
  })

const isLink = (value: unknown): value is Link =>
  isPoint(value) &&
  ["commitment", "witnessedAt", "transaction", "previousHash"].every(
    (name) => typeof memberAt(value, name) === "string",
  )

/** The answer to `GET /api/witness/chain`. */
export const readSegment = async (from: number, limit: number): Promise<Segment> => {
  const answer = await ask(`/api/witness/chain?from=${from}&limit=${limit}`)
  const { anchor, code, entries, head, next } = answer.body
  if (code === "chain_broken") throw new AnswerError(refusalOf(answer).message, "The chain is broken.")
  if (answer.status !== 200) throw refusalOf(answer)
  const isNext = next === null || typeof next === "number"
  if (!isPoint(anchor) || !isPoint(head) || !isNext || !Array.isArray(entries) || !entries.every(isLink))
    throw new AnswerError("The altar answered with something that is no segment of the chain.")
  return { anchor, entries, head, next }
}

/** Marks a stone on the page by sign and word. */
const mark = (sequence: number, isSound: boolean) => {
  for (const place of allMarked("link")) {
    if (valuesOf("link", place).link !== String(sequence)) continue
    place.classList.toggle("link--holds", isSound)
    place.classList.toggle("link--broken", !isSound)
    for (const label of allMarked("verdict", place)) label.textContent = isSound ? "✓ checked" : "✗ broken"
  }
}

const broken = (name: string, says: string): ReceiptCheck => ({ name, state: "broken", says })

/** The keys of the log over the chain, and of its cosigners. */
interface LogKeys {
  readonly vkey: string
  readonly cosigners: ReadonlyArray<string>
}

/** Links of one request. */
const batch = 100

/** Walks the links, and returns the root over the first `size` of them where there are as many. */
const walk = async (
  [from, to]: readonly [number, number],
  points: ReadonlyArray<KnownPoint>,
  size: number,
  progress: (words: string) => void,
) => {
  const tree = growingTree()
  const faults: Array<ReceiptCheck> = []
  let [next, hashed, computed]: [number | null, number, string] = [from, 0, ""]
  let last: ChainPoint | undefined
  let head: ChainPoint
  do {
    const segment = await readSegment(next, Math.max(1, Math.min(batch, to - next + 1)))
    const start: ChainPoint =
      next === 1 ? genesis : (last ?? { sequence: next - 1, chainHash: segment.anchor.chainHash })
    const { checks, end, last: reached } = await checkSegment(segment, start)
    for (const check of checks) {
      const { chainHash, sequence } = check.link
      const fault = linkFault(check)
      const others = points.filter((point) => point.sequence === sequence && point.chainHash !== chainHash)
      const details = [
        ...(fault === undefined ? [] : [`Here ${fault.detail}.`]),
        ...others.map((point) => `${point.by} ${point.chainHash}, and the altar answers ${chainHash}.`),
      ]
      faults.push(...details.map((says) => broken(`stone ${sequence}`, says)))
      mark(sequence, details.length === 0)
      computed = check.computed
    }
    if (end !== undefined) faults.push(broken("end", `Here ${end.detail}.`))
    const leaves = await Promise.all(segment.entries.map((entry) => leaf(entryOf(entry))))
    for (const hash of leaves) if (tree.size() < size) await tree.push(hash)
    hashed += checks.length
    ;({ head } = segment)
    last = reached
    next = end === undefined ? segment.next : null
    progress(`${count(hashed, "link")} checked.`)
  } while (next !== null && next <= to)
  const newest = points.toSorted((left, right) => right.sequence - left.sequence)[0]
  if (newest !== undefined && newest.sequence > head.sequence)
    faults.push(
      broken("end", `Stones are missing. ${newest.by} stone ${newest.sequence}, and the last is ${head.sequence}.`),
    )
  return { faults, hashed, last, computed, root: tree.size() === size ? await tree.root() : undefined }
}

/** The log's newest checkpoint; an altar that does not show it proves nothing. */
const openLog = async ({ vkey, cosigners }: LogKeys) => {
  const answer = await fetch("/log/checkpoint", { cache: "no-store" }).catch(() => undefined)
  if (answer?.status === 200)
    return openCheckpoint(await answer.text(), { vkey, cosigners: { vkeys: cosigners, quorum: 0 } })
  const reason = answer === undefined ? unreachable() : `The altar answered ${answer.status}.`
  return { ok: false, fault: "unsupported", reason } as const
}

const ofLog = (
  log: Awaited<ReturnType<typeof openLog>>,
  root: Bytes | undefined,
  vkey: string,
  before: KnownPoint | undefined,
): ReceiptCheck => {
  if (before?.vkey !== undefined && before.vkey !== vkey)
    return broken(
      "log",
      `It has another key. ${before.by} ${before.vkey}, and now it signs with ${vkey}. A log keeps its key: unless its operator announced a new one, do not believe it.`,
    )
  if (!log.ok) return log.fault === "unsupported" ? open("log", log.reason) : broken("log", log.reason)
  const { checkpoint, cosignatures } = log
  const over = `It signed a checkpoint over ${count(checkpoint.size, "stone")}`
  if (root === undefined) return broken("log", `${over}, and the chain ends before.`)
  if (!equal(root, checkpoint.root))
    return broken("log", `${over}, and its root is not that of these links. Keep /log/checkpoint.`)
  const names = cosignatures.map(({ name }) => name).join(", ")
  return holds(
    "log",
    `${over}, whose root is that of these links.${names === "" ? "" : ` The signatures of ${names} are right.`}`,
  )
}

const ofWords = async (): Promise<ReadonlyArray<ReceiptCheck>> => {
  const words = await checkReveals()
  if (words.broken > 0) return [broken("words", "Revealed words here do not hash to their commitment.")]
  return words.shown === 0 ? [] : [holds("words", `${count(words.shown, "revealed text")} on this page.`)]
}

/** Checks one stone, or all from `from` to `to` with the log over them, and the page's revealed words. */
export const checkChain = async (
  from: number,
  to: number | undefined,
  log: LogKeys | undefined,
  progress: (words: string) => void,
): Promise<ReadonlyArray<ReceiptCheck>> => {
  const before = remembered()
  // Opened before the walk, which then covers all stones of the log.
  const opened = log === undefined ? undefined : await openLog(log)
  const size = opened?.ok === true ? opened.checkpoint.size : 0
  const points = [...shown(), ...(before === undefined ? [] : [before])]
  const { computed, faults, hashed, last, root } = await walk([from, to ?? from], points, size, progress)
  const isWhole = to !== undefined
  const continues = before !== undefined && before.sequence >= from && before.sequence <= (to ?? from)
  const compared = continues
    ? `They continue what this browser saw before, up to stone ${before.sequence}.`
    : "This browser remembers the last one and compares next time."
  const links = isWhole ? `${count(hashed, "link")}. ${compared}` : `SHA-256 computed here: ${computed}, as recorded.`
  const checks = [
    ...(faults.length > 0 ? faults : [holds("links", links)]),
    ...(log === undefined || opened === undefined ? [] : [ofLog(opened, root, log.vkey, before)]),
    ...(await ofWords()),
  ]
  if (isWhole && last !== undefined && checks.every(({ state }) => state !== "broken"))
    browser.set(slot, JSON.stringify({ ...last, at: Date.now(), vkey: log?.vkey ?? before?.vkey }))
  return checks
}

/** A reader who knows why the chain differs may start again. */
export const forget = () => browser.remove(slot)

export const isRemembering = () => remembered() !== undefined
