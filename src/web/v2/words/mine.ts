/** The page of the box of sealed words: list, export and import, and the owner's wallets. */
import { drop, everything, exported, type Held, held, lasts, restore } from "./box.ts"
import { all, button, make, one, shortOf, verdict } from "../page/dom.ts"
import { timeWords } from "../page/durations.ts"
import { acceptImports, counted, leftOut } from "./import.ts"
import { keepsake, saving } from "./keepsake.ts"
import { parts } from "../page/load.ts"
import { pending } from "../pay/purchase.ts"
import { found, hasPlayWallet, playAddress } from "../pay/wallet.ts"
import { browser } from "../page/store.ts"

/** Asks for confirmation: the removed words may exist nowhere else. */
const remover = ({ commitment }: Held, done: () => void) => {
  const place = make("div", { class: "held__remove" })
  const ask = () => {
    const saved = held(commitment)?.saved === true
    const remove = button("Remove", () => {
      drop(commitment)
      done()
    })
    remove.classList.add("button--alarm")
    const keep = button("Keep them", show)
    place.replaceChildren(
      make("p", {}, saved ? "Remove them?" : "You saved no copy. Remove them?"),
      make("p", { class: "doors" }, remove, keep),
    )
    keep.focus()
  }
  const show = () => place.replaceChildren(button("Remove from this browser", ask))
  show()
  return place
}

const entry = (one: Held, changed: () => void) => {
  const { commitment, deed, keptAt, words } = one
  const state = make("span", {})
  const showState = () => {
    const saved = held(commitment)?.saved === true
    state.textContent = saved ? "You saved a copy." : "Only in this browser."
    state.classList.toggle("problem", !saved)
  }
  showState()
  const folded = make("details", { class: "fold" }, make("summary", {}, "Salt, words and commitment"))
  // Rendered only when opened.
  folded.addEventListener(
    "toggle",
    () =>
      folded.append(keepsake(one, `sealed-words-${commitment.slice(0, 8)}`, false, showState), remover(one, changed)),
    { once: true },
  )
  return make(
    "li",
    {},
    make(
      "p",
      { class: "held__title" },
      ...(deed === null
        ? ["No act known yet. ", make("a", { href: `/v2/acts?q=${commitment}` }, "Find its stone")]
        : [make("a", { href: deed.path }, deed.title)]),
    ),
    make("p", { class: "held__words", dir: "auto" }, words),
    make("p", { class: "held__facts" }, "Commitment ", shortOf(commitment), `, saved ${timeWords(keptAt)}. `, state),
    folded,
  )
}

const exporter = (entries: ReadonlyArray<Held>, done: () => void) => {
  const save = () => {
    for (const one of entries) restore(one)
    setTimeout(done)
  }
  return make(
    "p",
    { class: "doors" },
    saving(exported(entries, pending()), "sealed-words.json", "Save all as one file", save),
  )
}

const noRoom = "This browser saves nothing: restored words are lost when you leave."

const box = (place: HTMLElement) => {
  const list = one("[data-box-list]", HTMLElement, place)
  const note = one("[data-box-said]", HTMLElement, place)
  const blank = one(".awaited", HTMLElement, list)
  blank.classList.remove("awaited")
  const show = () => {
    const entries = everything()
    one("[data-box-count]", HTMLElement).textContent = entries.length === 0 ? "" : counted(entries.length)
    list.replaceChildren(
      ...(browser.keeps() ? [] : [make("p", { class: "notice" }, noRoom)]),
      entries.length === 0
        ? blank
        : make("ol", { class: "box", role: "list" }, ...entries.map((one) => entry(one, show))),
      ...(entries.length + pending().length === 0 ? [] : [exporter(entries, show)]),
    )
  }
  acceptImports(
    document.body,
    ({ entries, purchases, refused }) => {
      show()
      // Each is shown with its steps above.
      for (const purchase of purchases) void parts.pay().then(({ follow }) => follow(purchase))
      const lost = refused === 0 ? "" : ` ${leftOut(refused)}`
      const fleeting = entries.filter(({ commitment }) => !lasts(commitment)).length
      note.replaceChildren(
        entries.length + purchases.length === 0
          ? verdict("broken", "Not restored.", lost)
          : verdict("holds", "Restored.", `${counted(entries.length)} are in the box now.${lost}`),
        ...(fleeting === 0 ? [] : [verdict("broken", "Not saved.", `${counted(fleeting)}. ${noRoom}`)]),
      )
    },
    (message) => note.replaceChildren(verdict("broken", "Not restored.", message)),
  )
  addEventListener("storage", show)
  show()
}

const show = (address: string) => location.assign(`/v2/wallets/${address}`)

const wallets = (place: HTMLElement) => {
  const payers = [...new Set(everything().flatMap(({ deed }) => deed?.payer ?? []))]
  if (payers.length > 0) {
    place.append(
      make(
        "p",
        { class: "small" },
        "Paid from this browser: ",
        ...payers.flatMap((payer, index) => [
          ...(index === 0 ? [] : [", "]),
          make("a", { href: `/v2/wallets/${payer}` }, shortOf(payer)),
        ]),
      ),
    )
  }
  one("[data-ask-wallet]", HTMLButtonElement).addEventListener("click", () => {
    const fail = (message: string) => place.replaceChildren(verdict("broken", "No wallet.", message))
    const ask = async () => {
      const ways = [
        ...(hasPlayWallet() ? [{ name: "Play wallet", address: playAddress }] : []),
        ...(await found()).map(({ name, provider }) => ({
          name,
          address: async () => {
            const accounts = await provider.request({ method: "eth_requestAccounts" })
            return Array.isArray(accounts) && typeof accounts[0] === "string" ? accounts[0] : undefined
          },
        })),
      ]
      const [first] = ways
      if (first === undefined) return fail("No wallet was found in this browser.")
      const take = async ({ address }: typeof first) => {
        const named = await address().catch(() => undefined)
        if (named === undefined) return fail("The wallet named no account.")
        show(named)
      }
      if (ways.length === 1) return take(first)
      place.replaceChildren(make("p", { class: "doors" }, ...ways.map((way) => button(way.name, () => void take(way)))))
    }
    void ask()
  })
}

export const start = () => {
  for (const place of all("[data-box]", HTMLElement)) box(place)
  for (const place of all("[data-wallets]", HTMLElement)) wallets(place)
}
