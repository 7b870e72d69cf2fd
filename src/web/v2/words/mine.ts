/** The page of the box of sealed words: list, export and import, and the owner's wallets. */
import { button, doors, make, find, shortOf, verdict } from "../page/dom.ts"
import { count, timeWords } from "../page/durations.ts"
import { allMarked, marked } from "../page/marks.ts"
import { sentenceOf } from "../page/http.ts"
import { needOf, pending } from "../pay/purchase.ts"
import { follow } from "../pay/status.ts"
import * as Wallets from "../pay/wallet.ts"
import { drop, everything, exported, type Held, held, restore } from "./box.ts"
import { acceptImports, keep, leftOut } from "./import.ts"
import { keepsake, saving } from "./keepsake.ts"

/** Asks before words leave this browser, then calls `remove`. */
const confirmRemoval = (place: HTMLElement, remove: () => void) => {
  const title = "Remove these words from this browser?"
  const question = make(
    "dialog",
    { class: "keepsake", "aria-label": title },
    make("p", {}, make("b", {}, title)),
    make("p", {}, "Their salt goes with them. A file you saved restores both."),
    make(
      "form",
      { class: "doors", method: "dialog" },
      make("button", { class: "button", autofocus: "" }, "Keep them"),
      make("button", { class: "button button--alarm", value: "remove" }, "Remove them"),
    ),
  )
  question.addEventListener("close", () => {
    question.remove()
    if (question.returnValue === "remove") remove()
  })
  place.append(question)
  question.showModal()
}

/** Removes words that are elsewhere, too. */
const remover = ({ commitment }: Held, done: () => void) => {
  const note = make("div", { role: "status" })
  const remove = () => {
    const here = held(commitment)
    const need = here && needOf(here)
    if (need !== undefined) return note.replaceChildren(verdict("broken", "Not removed.", need))
    confirmRemoval(place, () => {
      drop(commitment)
      done()
    })
  }
  const place = make("div", {}, doors(button("Remove from this browser", remove)), note)
  return place
}

const stateOf = ({ revealed, saved }: Held): readonly [words: string, kind?: string] =>
  revealed
    ? ["Opened: everyone can read them.", "verdict--holds"]
    : saved
      ? ["Sealed. A copy is saved elsewhere."]
      : ["Sealed here: only in this browser.", "problem"]

const entry = (held: Held, changed: () => void) => {
  const { commitment, deed, keptAt, words } = held
  const [says, kind = ""] = stateOf(held)
  const state = make("span", { class: kind }, says)
  const folded = make("details", { class: "fold" }, make("summary", {}, "Show, save or remove"))
  // Rendered only when opened.
  folded.addEventListener(
    "toggle",
    () => {
      const kept = keepsake(held, `sealed-words-${commitment.slice(0, 8)}`, () =>
        state.replaceWith(stateOf({ ...held, saved: true })[0]),
      )
      folded.append(kept, remover(held, changed))
    },
    { once: true },
  )
  return make(
    "li",
    {},
    make("p", { class: "sealed", dir: "auto" }, words),
    make("p", { class: "small" }, state),
    make(
      "p",
      { class: "small quiet" },
      ...(deed === null
        ? ["No act known yet. ", make("a", { href: `/v2/acts?q=${commitment}` }, "Find it")]
        : [make("a", { href: deed.path }, deed.title)]),
      `, saved ${timeWords(keptAt)}, commitment `,
      shortOf(commitment),
    ),
    ...(deed?.mayReveal === true && !held.revealed
      ? [make("p", { class: "doors" }, make("a", { class: "button", href: deed.path }, "Reveal"))]
      : []),
    folded,
  )
}

const exporter = (entries: ReadonlyArray<Held>, done: () => void) =>
  doors(
    saving(exported(entries, pending()), "sealed-words.json", "Save all as one file", () => {
      for (const held of entries) restore(held)
      setTimeout(done)
    }),
  )

const box = (place: HTMLElement) => {
  const list = marked("boxList", place)
  const note = marked("boxSaid", place)
  const blank = find(".awaited", HTMLElement, list)
  blank.classList.remove("awaited")
  const show = () => {
    const entries = everything()
    marked("boxCount").textContent = entries.length === 0 ? "" : count(entries.length, "entry", "entries")
    list.replaceChildren(
      entries.length === 0
        ? blank
        : make("ol", { class: "box rows", role: "list" }, ...entries.map((held) => entry(held, show))),
      ...(entries.length + pending().length === 0 ? [] : [exporter(entries, show)]),
    )
  }
  acceptImports(
    document.body,
    (imported) => {
      const { entries, purchases, refused } = imported
      keep(imported)
      show()
      // Each is shown with its steps above.
      purchases.forEach(follow)
      note.replaceChildren(
        entries.length + purchases.length === 0
          ? verdict("broken", "Not restored.", leftOut(refused))
          : verdict(
              "holds",
              "Restored.",
              `${count(entries.length, "entry is", "entries are")} in this browser now.${leftOut(refused)}`,
            ),
      )
    },
    (message) => note.replaceChildren(verdict("broken", "Not restored.", message)),
  )
  new MutationObserver(() => note.scrollIntoView({ block: "nearest" })).observe(note, { childList: true })
  addEventListener("storage", show)
  show()
}

const linkTo = (wallet: string) => make("a", { href: `/v2/acts?q=${wallet}` }, shortOf(wallet))

const wallets = (place: HTMLElement) => {
  const payers = [...new Set(everything().flatMap(({ deed }) => deed?.payer ?? []))]
  const paid = payers.flatMap((payer, index) => [index === 0 ? "" : ", ", linkTo(payer)])
  if (payers.length > 0) place.append(make("p", { class: "small" }, "Paid from this browser: ", ...paid))
  const fail = (word: string, message: string) => place.replaceChildren(verdict("broken", word, message))
  const open = (way: Wallets.Way) =>
    way.open().then(
      ({ address }) => location.assign(`/v2/acts?q=${address}`),
      (error: unknown) => fail("Not connected.", sentenceOf(error, "The wallet named no account.")),
    )
  const ways = () => Wallets.ways(Wallets.hasPlayWallet())
  const offer = () => place.replaceChildren(doors(...ways().map((way) => button(way.name, () => void open(way)))))
  const ask = async () => {
    await Wallets.listen()
    Wallets.watch(offer)
    const [first, ...others] = ways()
    if (first === undefined) return fail("No wallet.", "None was found in this browser.")
    return others.length === 0 ? open(first) : offer()
  }
  void Wallets.listen()
  marked("askWallet").addEventListener("click", () => void ask())
}

export const start = () => {
  allMarked("box").forEach(box)
  allMarked("wallets").forEach(wallets)
}
