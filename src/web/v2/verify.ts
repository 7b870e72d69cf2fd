/** Verification in the page: every link is hashed anew before the reader's eyes, and what does not hold is said. */
import { canHash, whyNot } from "./digest.ts"
import { type Checked, checkSegment, holds, type Point, readSegment } from "./chain.ts"
import { all, make, one, verdict } from "./dom.ts"

const batch = 100

const code = (text: string) => make("code", { class: "long" }, text)

const step = (ok: boolean, word: string, ...more: ReadonlyArray<Node | string>) =>
  make("li", {}, verdict(ok ? "holds" : "broken", word, ...more))

/** The parts that are hashed, with the NUL between them made visible. */
const joined = ({ link }: Checked) =>
  make(
    "p",
    { class: "joined" },
    ...[link.previousHash, String(link.sequence), link.commitment, link.witnessedAt, link.transaction].flatMap(
      (part, index) => [...(index === 0 ? [] : [make("span", { class: "nul" }, "NUL")]), code(part)],
    ),
  )

const steps = (checked: Checked) =>
  make(
    "ol",
    { class: "steps", role: "list" },
    checked.follows
      ? step(
          true,
          "Follows.",
          `Its hash before is the chain hash of ${checked.before.sequence === 0 ? "nothing, 64 zeros" : `stone ${checked.before.sequence}`}: `,
          code(checked.before.chainHash),
        )
      : step(
          false,
          "Does not follow.",
          `It names ${checked.link.previousHash}, but before it stands stone ${checked.before.sequence} with `,
          code(checked.before.chainHash),
        ),
    make("li", {}, make("p", {}, "Five parts, joined by NUL bytes, are hashed:"), joined(checked)),
    make("li", {}, make("p", {}, "SHA-256 computed here: ", code(checked.computed))),
    checked.hashes
      ? step(true, "Same hash.", "The chain says the same.")
      : step(false, "Another hash.", "The chain says ", code(checked.link.chainHash)),
  )

const report = (checked: Checked, open: boolean) => {
  const ok = holds(checked)
  const { sequence } = checked.link
  const summary = make(
    "summary",
    {},
    verdict(ok ? "holds" : "broken", ok ? `Stone ${sequence} holds` : `Stone ${sequence} does not hold`),
  )
  const details = make("details", {}, summary, steps(checked))
  details.open = open || !ok
  return make("li", { class: "checks__item" }, details)
}

/** Marks a stone of the strip, in a sign and a word. */
const mark = (checked: Checked) => {
  const ok = holds(checked)
  for (const place of all(`[data-link="${checked.link.sequence}"] [data-verdict]`, HTMLElement)) {
    place.className = `link__verdict link__verdict--${ok ? "holds" : "broken"}`
    place.textContent = ok ? "✓ holds" : "✗ broken"
  }
}

interface Place {
  readonly status: HTMLElement
  readonly list: HTMLElement
}

const say = ({ status }: Place, ...content: ReadonlyArray<Node>) => status.replaceChildren(...content)

/** Walks `from` to `to`; `show` says which links get a report of their own. */
const walk = async (place: Place, from: number, to: number, show: (checked: Checked) => boolean) => {
  place.list.replaceChildren()
  let [next, checkedCount, wrong, end] = [from, 0, 0, to]
  let before: Checked | undefined
  let head: Point | undefined
  say(place, verdict("waits", "Checking."))
  while (next <= end) {
    const segment = await readSegment(next, Math.min(batch, end - next + 1))
    end = Math.min(to, segment.head.sequence)
    head = segment.head
    const checked = await checkSegment(segment, next)
    // Segments that each hold must also hold together.
    const first = checked[0]
    const seam = before === undefined || first === undefined || first.before.chainHash === before.link.chainHash
    if (first === undefined) break
    for (const [index, found] of checked.entries()) {
      const judged = index === 0 && !seam ? { ...found, follows: false } : found
      if (!holds(judged)) wrong += 1
      mark(judged)
      // What is broken stands first: nobody should have to look for it.
      if (show(judged))
        place.list.insertBefore(
          report(judged, from === to),
          holds(judged) ? null : (place.list.children[wrong - 1] ?? null),
        )
    }
    checkedCount += checked.length
    before = checked.at(-1)
    next += checked.length
    say(place, verdict("waits", `${checkedCount} of ${end - from + 1} links checked.`))
  }
  const expected = Math.max(0, end - from + 1)
  if (wrong > 0)
    return say(
      place,
      verdict("broken", "The chain does not hold.", `${wrong} of ${checkedCount} links failed. See below.`),
    )
  if (checkedCount < expected || checkedCount === 0)
    return say(place, verdict("broken", "Links are missing.", `${checkedCount} of ${expected} were answered.`))
  const last = before?.link
  if (last !== undefined && head?.sequence === last.sequence && head.chainHash !== last.chainHash)
    return say(
      place,
      verdict("broken", "Another head.", "The altar names a head that is not its last link: ", code(head.chainHash)),
    )
  say(
    place,
    verdict(
      "holds",
      checkedCount === 1 ? `Stone ${from} holds.` : `All ${checkedCount} links hold.`,
      checkedCount === 1 ? "Its hash was computed in this browser." : "Each hash was computed in this browser.",
      ...(from === 1
        ? []
        : [
            make(
              "span",
              { class: "quiet" },
              ` The hash before stone ${from} is the altar's word; check from stone 1 for that.`,
            ),
          ]),
    ),
  )
}

const attach = (root: HTMLElement) => {
  const number = (name: string) => Number(root.dataset[name])
  const place = {
    status: one("[data-verify-status]", HTMLElement, root),
    list: one("[data-verify-list]", HTMLElement, root),
  }
  const buttons = all("button", HTMLButtonElement, root)
  const run = (work: () => Promise<void>) => async () => {
    if (!canHash()) return say(place, verdict("broken", "Cannot check here.", whyNot))
    for (const button of buttons) button.disabled = true
    await work().catch((error: unknown) => {
      say(place, verdict("broken", "Not checked.", error instanceof Error ? error.message : "Something failed."))
    })
    for (const button of buttons) button.disabled = false
  }
  const listen = (selector: string, work: () => Promise<void>) => {
    for (const button of all(selector, HTMLButtonElement, root))
      button.addEventListener("click", () => void run(work)())
  }
  listen("[data-verify-some]", () => walk(place, number("from"), number("to"), () => true))
  listen("[data-verify-all]", () => walk(place, 1, number("head"), (checked) => !holds(checked)))
}

export const start = () => {
  for (const root of all("[data-verify]", HTMLElement)) attach(root)
}
