/** Every link is hashed anew before the reader's eyes, and compared with the page and with what this browser saw. */
import { type ChainPoint, headFault, holds } from "../../../../schema/altar/ChainCheck.ts"
import { checkSegment, readSegment, type Segment, type Stone } from "./chain.ts"
import {
  type Compared,
  dateOf,
  differenceAt,
  type Difference,
  differencesOf,
  headline,
  type Known,
  shorterOf,
  shorterWords,
} from "./compare.ts"
import { button, make, verdict } from "../page/dom.ts"
import { code, isSound, type Judged, mark, report, unmark } from "./report.ts"
import { forget, history, isKept, newest, record, type SeenPoint } from "./history.ts"
import { rendered } from "./rendered.ts"
import { checkReveals } from "./reveals.ts"

const batch = 100

/** Links walked beyond what was asked for, to reach the heads that the page names and that this browser saw. */
const reach = 500

/** Of what is remembered beyond them, so many are looked up alone: a newest one that was only shown proves little. */
const samples = 8

export interface Place {
  readonly status: HTMLElement
  readonly list: HTMLElement
}

interface Range {
  readonly from: number
  readonly to: number
}

/** What this page shows itself is no memory, unless it was seen `before` the page was. */
const knownNow = (before: ReadonlyArray<SeenPoint>): Known => {
  const page = rendered()
  const since = history().filter(({ sequence }) => !(page.stones.has(sequence) || page.head?.sequence === sequence))
  return { ...page, seen: new Map([...since, ...before].map((point) => [point.sequence, point])) }
}

const isWithin = ({ from, to }: Range, sequence: number) => sequence >= from && sequence <= to

/** Some of many, from first to last. */
const spread = <A>(many: ReadonlyArray<A>): ReadonlyArray<A> =>
  many.filter((_, at) => at % Math.ceil(many.length / samples) === 0)

/** The range and, where they are near enough, the heads on both sides of it; what is not is looked up alone. */
const planOf = ({ from, to }: Range, { head, seen: known }: Known) => {
  const points = [...known.values()]
  const heads = [head, newest(points), newest(points.filter(({ isWalked }) => isWalked))].flatMap((point) =>
    point === undefined || point.sequence === 0 ? [] : [point.sequence],
  )
  const near = heads.filter((sequence) => isWithin({ from: from - reach, to: to + reach }, sequence))
  const range = { from: Math.min(from, ...near), to: Math.max(to, ...near) }
  const isFar = (sequence: number) => !isWithin(range, sequence)
  return { range, far: new Set([...heads.filter(isFar), ...spread([...known.keys()].filter(isFar))]) }
}

const judge = async (segment: Segment, from: number, known: Known): Promise<ReadonlyArray<Judged>> =>
  (await checkSegment(segment, from)).map((checked) => ({
    ...checked,
    differences: differencesOf(checked.link, known),
    isShown: known.stones.has(checked.link.sequence),
  }))

interface Walked extends Compared {
  readonly range: Range
  readonly count: number
  readonly expected: number
  readonly wrong: number
  readonly last: Stone | undefined
  readonly head: ChainPoint | undefined
  /** Points that were looked up alone. */
  readonly apart: ReadonlySet<number>
  /** Those of them that were not answered. */
  readonly missed: number
}

const walk = async (place: Place, asked: Range, known: Known, show: (judged: Judged) => boolean): Promise<Walked> => {
  const { far, range } = planOf(asked, known)
  const differences: Array<Difference> = []
  let [next, count, wrong, bad, missed, end, ends] = [range.from, 0, 0, 0, 0, range.to, Infinity]
  let last: Stone | undefined
  let head: ChainPoint | undefined
  const add = (judged: Judged) => {
    mark(judged)
    differences.push(...judged.differences)
    if (!holds(judged)) wrong += 1
    if (isSound(judged)) return show(judged) && place.list.append(report(judged, asked.from === asked.to))
    // What is wrong stands first: nobody should have to look for it. Every link after a changed one differs too.
    place.list.insertBefore(report(judged, !holds(judged) || bad === 0), place.list.children[bad] ?? null)
    bad += 1
  }
  const read = async (from: number, limit: number) => {
    const segment = await readSegment(from, limit)
    ends = Math.min(ends, segment.head.sequence)
    differences.push(...differenceAt(segment.head, known))
    return segment
  }
  for (const sequence of far) {
    const answered = await judge(await read(sequence, 1), sequence, known)
    if (answered.length !== 1) missed += 1
    for (const judged of answered) add(judged)
  }
  while (next <= end) {
    const segment = await read(next, Math.min(batch, end - next + 1))
    end = Math.min(range.to, segment.head.sequence)
    head = segment.head
    if (next === range.from) differences.push(...differenceAt(segment.anchor, known))
    const judged = await judge(segment, next, known)
    const first = judged[0]
    if (first === undefined) break
    // Segments that each hold must also hold together.
    const seam = last === undefined || first.before.chainHash === last.chainHash
    for (const [index, one] of judged.entries()) add(index === 0 && !seam ? { ...one, follows: false } : one)
    count += judged.length
    last = judged.at(-1)?.link
    next += judged.length
    place.status.replaceChildren(verdict("waits", `${count} of ${end - range.from + 1} links checked.`))
  }
  // An empty page asks for no link, and still for the head.
  head ??= (await read(1, 1)).head
  const shorter = ends === Infinity ? undefined : shorterOf(ends, known)
  const expected = Math.max(0, end - range.from + 1)
  return { range, count, expected, wrong, last, head, differences, shorter, apart: far, missed }
}

/** What to do about a difference. */
const advice = (checkAgain: () => void, saw: boolean) => [
  make(
    "p",
    {},
    "One of them was changed, at the altar or on the way here. The payments on their own chain decide which: ",
    make("a", { href: "/verify#payments" }, "how to look them up"),
    ".",
  ),
  ...(saw
    ? [
        make(
          "p",
          { class: "doors" },
          button("Forget what this browser saw", () => {
            forget()
            checkAgain()
          }),
        ),
      ]
    : []),
]

/** How far the answer reaches: what was walked, what this browser remembers, and what is still the altar's word. */
const scope = ({ seen }: Known, { apart, range }: Walked, { from, to }: Range): string => {
  const before = newest([...seen.values()])
  const walked =
    range.from === from && range.to === to ? [] : [`Links ${range.from} to ${range.to} were walked for it.`]
  const memory =
    before !== undefined
      ? `It fits what this browser saw on ${dateOf(before)}, up to stone ${before.sequence}.`
      : isKept()
        ? "This browser sees this chain for the first time and remembers its head."
        : "This browser keeps nothing, so there is nothing from before to compare with."
  const left = [...seen.keys()].filter((sequence) => !isWithin(range, sequence) && !apart.has(sequence)).length
  const gap = [
    ...(left === 0 ? [] : [`${left} more that it remembers were not compared.`]),
    ...(apart.size === 0 ? [] : ["The links in between were not walked; check from stone 1 for that."]),
  ]
  const word =
    range.from === 1 ? [] : [`The hash before stone ${range.from} is the altar's word; check from stone 1 for that.`]
  return [...walked, memory, ...gap, ...word].join(" ")
}

type Words = Awaited<ReturnType<typeof checkReveals>>

const verdictOf = (walked: Walked, { from, to }: Range, known: Known, words: Words): ReadonlyArray<Node> => {
  const { apart, count, differences, expected, head, last, missed, range, shorter, wrong } = walked
  const differs = differences.length > 0 || shorter !== undefined
  const findings: Array<Node> = []
  const [word, more] = headline(walked)
  if (words.broken > 0)
    findings.push(
      verdict(
        "broken",
        "Other words than were sealed.",
        `${words.broken} of ${words.shown} revealed words on this page do not hash to their commitment.`,
      ),
    )
  if (wrong > 0)
    findings.push(
      verdict("broken", "The chain does not hold.", `${wrong} of ${count} links failed. See below.`),
      ...(differs ? [make("p", {}, `${word} ${more}`)] : []),
    )
  else if (last !== undefined && head?.sequence === last.sequence && headFault(head, last) !== undefined)
    findings.push(
      verdict("broken", "Another head.", "The altar names a head that is not its last link: ", code(head.chainHash)),
      ...(differs ? [make("p", {}, `${word} ${more}`)] : []),
    )
  else if (differs) findings.push(verdict("broken", word, more))
  if (shorter !== undefined) findings.push(make("p", {}, shorterWords(shorter)))
  if (findings.length > 0) return findings
  if (missed > 0)
    return [
      verdict("broken", "Links are missing.", `${missed} of ${apart.size} links that were known were not answered.`),
    ]
  if (range.to < range.from)
    return [
      head?.sequence === 0
        ? verdict("holds", "The chain is empty.", "The altar answers with no stone, and this browser saw none.")
        : verdict("waits", "The chain has grown.", "Load this page again to see its stones."),
    ]
  if (count < expected || count === 0)
    return [verdict("broken", "Links are missing.", `${count} of ${expected} were answered.`)]
  const one = from === to
  const said = words.shown === 0 ? "" : " All revealed words on this page are what was sealed."
  return [
    verdict(
      "holds",
      one ? `Stone ${from} holds.` : `All ${count} links hold.`,
      `${
        one
          ? "Its hash was computed in this browser, and it is the stone this page shows."
          : "Each hash was computed in this browser, and the stones are those this page shows."
      }${said}`,
    ),
    make("p", { class: "quiet" }, scope(known, walked, { from, to })),
  ]
}

/** Checks `from` to `to` and the revealed words that the page shows; `every` reports each link, not only what is wrong. `before` is what was seen before this page. */
export const check = async (
  place: Place,
  { from, to }: Range,
  every: boolean,
  before: Array<SeenPoint>,
): Promise<void> => {
  const known = knownNow(before)
  unmark()
  place.list.replaceChildren()
  place.status.replaceChildren(verdict("waits", "Checking."))
  const walked = await walk(
    place,
    { from, to },
    known,
    ({ link: { sequence } }) => every && sequence >= from && sequence <= to,
  )
  const findings = verdictOf(walked, { from, to }, known, await checkReveals())
  const differs = walked.differences.length > 0 || walked.shorter !== undefined
  const saw = walked.shorter?.saw !== undefined || walked.differences.some((one) => one.saw !== undefined)
  const checkAgain = () => {
    before.length = 0
    void check(place, { from, to }, every, before)
  }
  place.status.replaceChildren(...findings, ...(differs ? advice(checkAgain, saw) : []))
  const holds = walked.wrong + walked.missed === 0 && !differs && walked.count === walked.expected
  if (holds && walked.last !== undefined) record([walked.last], true)
}
