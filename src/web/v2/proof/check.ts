/** Re-hashes every link in the page, and compares it with the page and with this browser's memory. */
import { headFault } from "../../../../schema/altar/ChainCheck.ts"
import { dateOf, headline, type Known, shorterWords } from "./compare.ts"
import { rendered } from "./rendered.ts"
import { button, longCode, make, verdict } from "../page/dom.ts"
import { unmark } from "./report.ts"
import { forget, history, isKept, newest, record, type SeenPoint } from "./history.ts"
import { checkReveals } from "./reveals.ts"
import { isWithin, type Place, type Range, walk, type Walked } from "./walk.ts"

/** Points shown by this page are no memory, unless they were seen `before` it. */
const knownNow = (before: ReadonlyArray<SeenPoint>): Known => {
  const page = rendered()
  const since = history().filter(({ sequence }) => !(page.stones.has(sequence) || page.head?.sequence === sequence))
  return { ...page, seen: new Map([...since, ...before].map((point) => [point.sequence, point])) }
}

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

/** The extent of the check: the walked links, this browser's memory, and the rest, which is the altar's word. */
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
      verdict(
        "broken",
        "Another head.",
        "The altar names a head that is not its last link: ",
        longCode(head.chainHash),
      ),
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

export interface Checked {
  readonly holds: boolean
  readonly links: number
  /** Revealed words on the page. */
  readonly reveals: number
}

/** Checks `from` to `to` and the page's revealed words; `every` reports all links. `before` precedes the page. */
export const check = async (
  place: Place,
  { from, to }: Range,
  every: boolean,
  before: Array<SeenPoint>,
): Promise<Checked> => {
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
  const words = await checkReveals()
  const findings = verdictOf(walked, { from, to }, known, words)
  const differs = walked.differences.length > 0 || walked.shorter !== undefined
  const saw = walked.shorter?.saw !== undefined || walked.differences.some((one) => one.saw !== undefined)
  const checkAgain = () => {
    before.length = 0
    void check(place, { from, to }, every, before)
  }
  place.status.replaceChildren(...findings, ...(differs ? advice(checkAgain, saw) : []))
  const holds = walked.wrong + walked.missed === 0 && !differs && walked.count === walked.expected
  if (holds && walked.last !== undefined) record([walked.last], true)
  return { holds: holds && words.broken === 0, links: walked.count, reveals: words.shown }
}
