/** All acts, those of one wallet, or those that a search found: filters that a link keeps, and the list. */
import type { sales } from "../../../schema/altar/Sales.ts"
import { type Html, html } from "../../platform/Html.ts"
import { journal, recordText, type SettledAct } from "./ActList.ts"
import { heading, hrefOf, type Page, pager } from "./Layout.ts"
import { option, previewOf, spiritOptions } from "./Plates.ts"
import { count, short } from "./Words.ts"

/** Kinds that a reader chooses from, with the names of their acts. */
export const kinds = {
  prayer: ["Prayers", ["offerPrayer"]],
  stone: ["Witness stones", ["setWitnessStone"]],
  candle: ["Candles", ["lightDay", "lightWeek", "lightMonth"]],
  keeper: ["Keepers", ["takeIn"]],
  collectible: ["Collectibles", ["collectMaterial"]],
} as const satisfies Record<string, readonly [string, ReadonlyArray<(typeof sales)[number]["identifier"]>]>

export type Kind = keyof typeof kinds

export const isKind = (name: string): name is Kind => Object.hasOwn(kinds, name)

interface Choice {
  readonly kind: Kind | undefined
  readonly spirit: string | undefined
  /** The wallet of the page. */
  readonly wallet: string | undefined
}

export interface AllActsView extends Choice {
  readonly acts: ReadonlyArray<SettledAct>
  /** The search as typed; empty without one. */
  readonly asked: string
  readonly before: string | undefined
  readonly next: string | null
  readonly now: number
}

/** Whether an act is of the chosen kind and spirit. */
export const fits =
  ({ kind, spirit }: Choice) =>
  (act: SettledAct): boolean =>
    (kind === undefined || kinds[kind][1].some((name) => name === act.act)) &&
    (spirit === undefined || recordText(act, "spirit") === spirit)

/** The path of the list, and the choice in its query, which another reader can open. */
const placeOf = ({ kind, spirit, wallet }: Choice) => ({
  path: wallet === undefined ? "/v2/acts" : `/v2/wallets/${wallet}`,
  query: { kind, spirit },
})

/** The address of a choice. */
export const addressOf = (choice: Choice, before?: string): string => {
  const { path, query } = placeOf(choice)
  return hrefOf(path, { ...query, before })
}

const filters = ({ asked, kind, spirit, wallet }: AllActsView): Html =>
  html`<search>
    <form class="filter" action="${placeOf({ kind, spirit, wallet }).path}" method="get">
      ${
        wallet === undefined
          ? html`<label class="unseen" for="acts-search">Number, hash, name, wallet, transaction or words</label
              ><input
                class="field filter__words"
                id="acts-search"
                name="q"
                type="search"
                value="${asked}"
                maxlength="300"
                spellcheck="false"
                autocomplete="off"
                placeholder="Number, hash, name, wallet or words"
              />`
          : ""
      }
      <label class="unseen" for="acts-kind">Kind</label>
      <select class="field" id="acts-kind" name="kind">
        ${option("", "All kinds", kind)} ${Object.entries(kinds).map(([name, [words]]) => option(name, words, kind))}
      </select>
      <label class="unseen" for="acts-spirit">Spirit</label>
      <select class="field" id="acts-spirit" name="spirit">
        ${spiritOptions("All spirits", spirit)}
      </select>
      <button class="button">Show</button>
    </form>
  </search>`

const lead = ({ asked, acts, wallet }: AllActsView): Html => {
  if (asked !== "")
    return html`<span role="status"
      >${acts.length === 0 ? "Nothing found" : `${count(acts.length, "act")} found`} for
      <code class="long">${asked}</code>. <a href="/v2/acts">All acts</a></span
    >`
  return wallet === undefined
    ? html`Everything that was paid for here. Each act has a public page and a receipt.`
    : html`Everything that <code class="long">${wallet}</code> paid for here.`
}

export const allActs = (view: AllActsView): Page => {
  const { acts, asked, before, next, now, wallet } = view
  const title = wallet !== undefined ? `Wallet ${wallet}` : asked === "" ? "All acts" : `Search: ${asked}`
  return {
    title,
    description:
      wallet === undefined
        ? "Every paid act of the altar, newest first, by kind, spirit, wallet and words."
        : `Everything that wallet ${wallet} paid for at the altar.`,
    path: asked === "" ? addressOf(view, before) : "/v2/acts",
    chapter: "acts",
    preview: previewOf("guide"),
    body: html`<header class="opening">
        <h1>${wallet === undefined ? "Acts" : html`Wallet ${short(wallet)}`}</h1>
        <p class="lead">${lead(view)}</p>
        ${filters(view)}
      </header>
      <section id="acts" aria-labelledby="acts-title">
        ${heading("acts-title", asked === "" ? (before === undefined ? "Newest first" : "Older acts") : "Found")}
        ${acts.length > 0 ? journal(acts, now) : asked === "" ? html`<p class="blank">No acts here yet.</p>` : hint}
        ${pager("acts", { ...placeOf(view), before, next })}
      </section>`,
  }
}

const hint = html`<p class="blank">
  Search takes exactly what this site prints: a stone's number, an id, a hash, a spirit, a public name, a wallet, a
  transaction, or words of a public text. <a href="/verify">Check a file</a> finds the stone of a file.
</p>`
