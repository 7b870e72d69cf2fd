/** Hashes links of the chain in this browser, and compares them with the page and the remembered checkpoint. */
import {
  type ChainPoint,
  genesis,
  headFault,
  holds,
  type LinkCheck,
  linkFault,
} from "../../../../schema/altar/ChainCheck.ts"
import { checkLinks, type Link } from "../../../buyer/core/Chain.ts"
import { all, button, longCode, make, verdict } from "../page/dom.ts"
import { AnswerError, ask, part, refusalOf } from "../page/http.ts"
import { timeWords } from "../page/durations.ts"
import { browser } from "../page/store.ts"
import { checkReveals } from "./reveals.ts"

/** The newest head that this browser hashed its way to. */
interface Remembered extends ChainPoint {
  /** Milliseconds since 1970. */
  readonly at: number
}

const slot = "altar:checkpoint"

const remembered = (): Remembered | undefined => {
  const kept = browser.json(slot)
  const [sequence, chainHash, at] = [part(kept, "sequence"), part(kept, "chainHash"), part(kept, "at")]
  return typeof sequence === "number" && typeof chainHash === "string" && typeof at === "number"
    ? { sequence, chainHash, at }
    : undefined
}

const remember = ({ chainHash, sequence }: ChainPoint) =>
  browser.set(slot, JSON.stringify({ sequence, chainHash, at: Date.now() }))

const forget = () => browser.remove(slot)

const dateOf = (at: number) => timeWords(new Date(at).toISOString())

interface Segment {
  readonly anchor: ChainPoint
  readonly entries: ReadonlyArray<Link>
  readonly head: ChainPoint
}

const isSequence = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0

const isPoint = (value: unknown): value is ChainPoint =>
  isSequence(part(value, "sequence")) && /^[0-9a-f]{64}$/u.test(String(part(value, "chainHash")))

const isLink = (value: unknown): value is Link =>
  isPoint(value) &&
  ["commitment", "witnessedAt", "transaction", "previousHash"].every((name) => typeof part(value, name) === "string")

const readSegment = async (from: number, limit: number): Promise<Segment> => {
  const answer = await ask(`/api/witness/chain?from=${from}&limit=${limit}`)
  const { anchor, code, entries, head } = answer.body
  if (code === "chain_broken") throw new AnswerError(refusalOf(answer).message, "The chain does not hold.")
  if (answer.status !== 200) throw refusalOf(answer)
  if (!isPoint(anchor) || !isPoint(head) || !Array.isArray(entries) || !entries.every(isLink))
    throw new AnswerError("The altar answered with something that is no segment of the chain.")
  return { anchor, entries, head }
}

/** The stones and the head that this page shows. */
const shown = (): ReadonlyArray<ChainPoint> =>
  all("[data-link]", HTMLElement).map(({ dataset }) => ({
    sequence: Number(dataset["link"]),
    chainHash: dataset["chainHash"] ?? "",
  }))

/** Marks a stone on the page by sign and word. */
const mark = ({ sequence }: ChainPoint, isSound: boolean) => {
  for (const place of all(`[data-link="${sequence}"]`, HTMLElement)) {
    place.classList.toggle("link--holds", isSound)
    place.classList.toggle("link--broken", !isSound)
    for (const label of all("[data-verdict]", HTMLElement, place)) label.textContent = isSound ? "✓ holds" : "✗ broken"
  }
}

export interface Place {
  readonly status: HTMLElement
  readonly list: HTMLElement
}

export interface Checked {
  readonly holds: boolean
  readonly links: number
  /** Revealed words on the page. */
  readonly reveals: number
}

/** A fault with the stone where it is; most are not listed. */
interface Fault {
  readonly word: string
  readonly says: string
}

const mostFaults = 20
const batch = 100

const linkFaults = (check: LinkCheck<Link>, others: ReadonlyArray<readonly [by: string, point: ChainPoint]>) => {
  const { chainHash, sequence } = check.link
  const fault = linkFault(check)
  return [
    ...(fault === undefined ? [] : [{ word: `Stone ${sequence} does not hold.`, says: `Here ${fault.detail}.` }]),
    ...others.flatMap(([by, point]): ReadonlyArray<Fault> =>
      point.sequence === sequence && point.chainHash !== chainHash
        ? [
            {
              word: `Stone ${sequence} differs.`,
              says: `${by} ${point.chainHash}, and the altar answers ${chainHash}.`,
            },
          ]
        : [],
    ),
  ]
}

/** Stones that were known and are missing at the end of the chain. */
const missing = (head: ChainPoint, before: Remembered | undefined): ReadonlyArray<Fault> => {
  const newest = Math.max(0, ...shown().map(({ sequence }) => sequence))
  const [known, says] =
    before !== undefined && before.sequence > newest
      ? [before.sequence, `on ${dateOf(before.at)} this browser saw stone ${before.sequence}`]
      : [newest, `this page shows stone ${newest}`]
  return known > head.sequence
    ? [{ word: "Stones are missing.", says: `The chain ends at stone ${head.sequence}, but ${says}.` }]
    : []
}

const walk = async ({ status }: Place, from: number, to: number, before: Remembered | undefined) => {
  const others = [
    ...shown().map((point) => ["This page shows", point] as const),
    ...(before === undefined ? [] : [[`On ${dateOf(before.at)} this browser saw`, before] as const]),
  ]
  const faults: Array<Fault> = []
  let [next, end, count] = [from, to, 0]
  let last: ChainPoint | undefined
  let head: ChainPoint
  let lastCheck: LinkCheck<Link> | undefined
  do {
    const segment = await readSegment(Math.max(1, next), Math.max(1, Math.min(batch, end - next + 1)))
    head = segment.head
    end = Math.min(to, head.sequence)
    const start = next === 1 ? genesis : (last ?? { sequence: next - 1, chainHash: segment.anchor.chainHash })
    const checks = await checkLinks(end < next ? [] : segment.entries, start)
    if (checks.length === 0) break
    for (const check of checks) {
      const found = linkFaults(check, others)
      faults.push(...found)
      mark(check.link, holds(check) && found.length === 0)
      lastCheck = check
    }
    count += checks.length
    last = checks.at(-1)?.link
    next += checks.length
    status.replaceChildren(verdict("waits", `${count} of ${end - from + 1} links checked.`))
  } while (next <= end)
  if (count < end - from + 1) faults.push({ word: "Links are missing.", says: `${count} of ${end - from + 1} came.` })
  if (last !== undefined && last.sequence === head.sequence && headFault(head, last) !== undefined)
    faults.push({ word: "Another head.", says: `The altar names ${head.chainHash}, which is not its last link.` })
  return { faults: [...faults, ...missing(head, before)], count, last, lastCheck }
}

const counted = (many: number, what: string) => `${many} ${what}${many === 1 ? "" : "s"}`

/** Checks links `from` to `to` and the page's revealed words, and remembers a chain that was checked from its start. */
export const check = async (place: Place, from: number, to: number): Promise<Checked> => {
  const before = remembered()
  place.list.replaceChildren()
  place.status.replaceChildren(verdict("waits", "Checking."))
  const { count, faults, last, lastCheck } = await walk(place, from, to, before)
  const words = await checkReveals()
  if (words.broken > 0)
    faults.push({ word: "Other words than were sealed.", says: "Revealed words here do not hash to their commitment." })
  const result = { holds: faults.length === 0, links: count, reveals: words.shown }
  if (faults.length > 0) {
    const again = () => {
      forget()
      void check(place, from, to)
    }
    place.list.replaceChildren(
      ...faults.slice(0, mostFaults).map(({ says, word }) => make("li", {}, verdict("broken", word, says))),
    )
    place.status.replaceChildren(
      verdict("broken", "The chain does not hold.", `${counted(faults.length, "fault")}:`),
      make(
        "p",
        {},
        "Something was changed, at the altar or on the way here. The payments decide: ",
        make("a", { href: "/verify#payments" }, "how to look them up"),
        ".",
      ),
      ...(before === undefined ? [] : [make("p", { class: "doors" }, button("Forget what this browser saw", again))]),
    )
    return result
  }
  const isWhole = from === 1
  if (isWhole && last !== undefined) remember(last)
  place.status.replaceChildren(
    verdict(
      "holds",
      from === to && count === 1
        ? `Stone ${from} holds.`
        : count === 0
          ? "The chain is empty."
          : `All ${counted(count, "link")} hold.`,
      before !== undefined && before.sequence >= from && before.sequence <= to
        ? `They continue what this browser saw on ${dateOf(before.at)}.`
        : isWhole && last !== undefined
          ? "This browser remembers the last one and compares next time."
          : "",
    ),
    ...(from === to && lastCheck !== undefined
      ? [make("p", { class: "small" }, "SHA-256 computed here: ", longCode(lastCheck.computed))]
      : []),
  )
  return result
}
