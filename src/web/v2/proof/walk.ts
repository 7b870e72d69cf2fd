/** Walks the links of a range and to the heads near it, and reports for each whether it holds and what differs. */
import { type ChainPoint, genesis, holds, type LinkCheck } from "../../../../schema/altar/ChainCheck.ts"
import { checkLinks } from "../../../buyer/core/Chain.ts"
import { ask, messageOf, part, AnswerError } from "../page/http.ts"
import { verdict } from "../page/dom.ts"
import { type Compared, differenceAt, type Difference, differencesOf, type Known, shorterOf } from "./compare.ts"
import type { Stone } from "./rendered.ts"
import { newest } from "./history.ts"
import { isSound, type Judged, mark, report } from "./report.ts"

interface Segment {
  readonly anchor: ChainPoint
  readonly entries: ReadonlyArray<Stone>
  readonly head: ChainPoint
}

const isStone = (value: unknown): value is Stone => {
  if (typeof value !== "object" || value === null) return false
  const texts = ["id", "commitment", "witnessedAt", "transaction", "previousHash", "chainHash"]
  return (
    texts.every((name) => typeof Reflect.get(value, name) === "string") && isSequence(Reflect.get(value, "sequence"))
  )
}

const isSequence = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0

const isPoint = (value: unknown): value is ChainPoint =>
  isSequence(part(value, "sequence")) && /^[0-9a-f]{64}$/u.test(String(part(value, "chainHash")))

const readSegment = async (from: number, limit: number): Promise<Segment> => {
  const answer = await ask(`/api/witness/chain?from=${from}&limit=${limit}`)
  const { anchor, entries, head } = answer.body
  if (answer.body["code"] === "chain_broken") throw new AnswerError(messageOf(answer), "The chain does not hold.")
  if (answer.status !== 200) throw new AnswerError(messageOf(answer))
  if (!isPoint(anchor) || !isPoint(head) || !Array.isArray(entries) || !entries.every(isStone)) {
    throw new AnswerError("The altar answered with something that is no segment of the chain.")
  }
  return { anchor, entries, head }
}

/** The anchor of the first stone is always the genesis, and a segment must begin at the requested link. */
const checkSegment = ({ anchor, entries }: Segment, from: number): Promise<ReadonlyArray<LinkCheck<Stone>>> =>
  checkLinks(entries, from === 1 ? genesis : { sequence: from - 1, chainHash: anchor.chainHash })

const batch = 100

/** Maximum further links walked to reach the page's head and the remembered one. */
const reach = 500

/** Maximum remembered points looked up alone; several, because a newest one that was only shown proves little. */
const samples = 8

export interface Place {
  readonly status: HTMLElement
  readonly list: HTMLElement
}

export interface Range {
  readonly from: number
  readonly to: number
}

export const isWithin = ({ from, to }: Range, sequence: number) => sequence >= from && sequence <= to

const spread = <A>(many: ReadonlyArray<A>): ReadonlyArray<A> =>
  many.filter((_, at) => at % Math.ceil(many.length / samples) === 0)

/** The range and the heads near it on both sides; points farther away are looked up alone. */
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

export interface Walked extends Compared {
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

export const walk = async (
  place: Place,
  asked: Range,
  known: Known,
  show: (judged: Judged) => boolean,
): Promise<Walked> => {
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
    // Faults come first, so that they need no search; every link after a changed one differs, too.
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
    // Consecutive segments must also fit together.
    const seam = last === undefined || first.before.chainHash === last.chainHash
    for (const [index, one] of judged.entries()) add(index === 0 && !seam ? { ...one, follows: false } : one)
    count += judged.length
    last = judged.at(-1)?.link
    next += judged.length
    place.status.replaceChildren(verdict("waits", `${count} of ${end - range.from + 1} links checked.`))
  }
  // An empty page requests no link, but still the head.
  head ??= (await read(1, 1)).head
  const shorter = ends === Infinity ? undefined : shorterOf(ends, known)
  const expected = Math.max(0, end - range.from + 1)
  return { range, count, expected, wrong, last, head, differences, shorter, apart: far, missed }
}
