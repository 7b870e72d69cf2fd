/** Shows the findings of the check: each link step by step, with differing parts marked. */
import { holds, type LinkCheck } from "../../../../schema/altar/ChainCheck.ts"
import { dateOf, type Difference } from "./compare.ts"
import { elementOf, type Part, type Stone } from "./rendered.ts"
import { all, longCode, make, type Verdict, verdict } from "../page/dom.ts"

/** A link of the chain with the differences of page and memory. */
export interface Judged extends LinkCheck<Stone> {
  readonly differences: ReadonlyArray<Difference>
  readonly isShown: boolean
}

export const isSound = (judged: Judged) => holds(judged) && judged.differences.length === 0

const names: Readonly<Record<Part, string>> = {
  id: "address",
  commitment: "commitment",
  witnessedAt: "time",
  transaction: "transaction",
  previousHash: "hash before",
  chainHash: "chain hash",
}

const step = (ok: boolean, word: string, ...more: ReadonlyArray<Node | string>) =>
  make("li", {}, verdict(ok ? "holds" : "broken", word, ...more))

/** Leaves the common start of two values unmarked. */
const marked = (value: string, against: string) => {
  let same = 0
  while (same < value.length && value[same] === against[same]) same += 1
  return same === value.length
    ? longCode(value)
    : make("code", { class: "long" }, value.slice(0, same), make("mark", {}, value.slice(same)))
}

const row = (label: string, ...value: ReadonlyArray<Node | string>) =>
  make("div", {}, make("dt", {}, label), make("dd", {}, ...value))

const difference = ({ chain, page, part, saw, sequence }: Difference) =>
  make(
    "li",
    {},
    verdict("broken", "Differs.", `The ${names[part]} of stone ${sequence}:`),
    make(
      "dl",
      { class: "facts" },
      ...(page === undefined
        ? []
        : [row("this page", marked(page, chain === page ? (saw?.chainHash ?? chain) : chain))]),
      row("the chain", marked(chain, page === undefined || page === chain ? (saw?.chainHash ?? chain) : page)),
      ...(saw === undefined
        ? []
        : [row("this browser", marked(saw.chainHash, chain), " ", make("small", {}, `seen ${dateOf(saw)}`))]),
    ),
  )

/** The hashed parts, with the NUL between them made visible. */
const joined = ({ link }: Judged) =>
  make(
    "p",
    { class: "joined" },
    ...[link.previousHash, String(link.sequence), link.commitment, link.witnessedAt, link.transaction].flatMap(
      (part, index) => [...(index === 0 ? [] : [make("span", { class: "nul" }, "NUL")]), longCode(part)],
    ),
  )

const steps = (judged: Judged) =>
  make(
    "ol",
    { class: "steps", role: "list" },
    ...judged.differences.map(difference),
    judged.follows
      ? step(
          true,
          "Follows.",
          `Its hash before is the chain hash of ${judged.before.sequence === 0 ? "nothing, 64 zeros" : `stone ${judged.before.sequence}`}: `,
          longCode(judged.before.chainHash),
        )
      : step(
          false,
          "Does not follow.",
          `It names ${judged.link.previousHash}, but before it stands stone ${judged.before.sequence} with `,
          longCode(judged.before.chainHash),
        ),
    make("li", {}, make("p", {}, "Five parts, joined by NUL bytes, are hashed:"), joined(judged)),
    make("li", {}, make("p", {}, "SHA-256 computed here: ", longCode(judged.computed))),
    judged.hashes
      ? step(true, "Same hash.", "The chain says the same.")
      : step(false, "Another hash.", "The chain says ", longCode(judged.link.chainHash)),
    ...(judged.isShown && judged.differences.length === 0
      ? [step(true, "Same stone.", "Commitment, time, transaction and hashes are those this page shows.")]
      : []),
  )

const wordOf = (judged: Judged): string => {
  if (!holds(judged)) return "does not hold"
  return judged.differences.length === 0
    ? "holds"
    : `differs: ${judged.differences.map(({ part }) => names[part]).join(", ")}`
}

export const report = (judged: Judged, open: boolean) => {
  const ok = isSound(judged)
  const summary = make(
    "summary",
    {},
    verdict(ok ? "holds" : "broken", `Stone ${judged.link.sequence} ${wordOf(judged)}`),
  )
  const details = make("details", {}, summary, steps(judged))
  details.open = open
  return make("li", { class: "checks__item" }, details)
}

/** Marks a stone on the page, with its thread and the differing parts, by sign and word. */
export const mark = (judged: Judged) => {
  const kind: Verdict = isSound(judged) ? "holds" : "broken"
  const word = kind === "holds" ? "✓ holds" : holds(judged) ? "✗ differs" : "✗ broken"
  for (const place of all(`[data-link="${judged.link.sequence}"]`, HTMLElement)) {
    place.classList.remove("link--holds", "link--broken")
    place.classList.add(`link--${kind}`)
    for (const label of all("[data-verdict]", HTMLElement, place)) label.textContent = word
  }
  if (!judged.isShown) return
  for (const { part } of judged.differences) {
    const place = elementOf(part)
    place?.classList.add("differs")
    place?.closest("details")?.setAttribute("open", "")
  }
}

export const unmark = () => {
  for (const place of all(".link--holds, .link--broken", HTMLElement)) {
    place.classList.remove("link--holds", "link--broken")
    for (const label of all("[data-verdict]", HTMLElement, place)) label.textContent = ""
  }
  for (const place of all(".differs", HTMLElement)) place.classList.remove("differs")
}
