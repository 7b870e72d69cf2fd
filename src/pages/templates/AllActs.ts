/** All acts, those of one wallet, or those that a search found: filters that a link keeps, and the list. */
import { kinds } from "../../../schema/altar/Sales.ts"
import { type Html, html, type Value } from "../../platform/Html.ts"
import { journal, recordText, type SettledAct } from "./ActList.ts"
import { blank, hrefOf, opening, type Page, pager, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { option, spiritOptions } from "./Plates.ts"
import { count, short } from "./Words.ts"

interface Choice {
  /** A name of `kinds`. */
  readonly kind: string | undefined
  readonly spirit: string | undefined
}

export interface AllActsView extends Choice {
  readonly acts: ReadonlyArray<SettledAct>
  /** The search as typed; empty without one. */
  readonly search: string
  /** The wallet that was asked for. */
  readonly wallet: string | undefined
  readonly before: string | undefined
  readonly next: string | null
  readonly now: number
}

/** The names of the acts of a kind. */
export const actNamesOf = (kind: string): ReadonlyArray<string> => kinds.get(kind)?.map(({ sale }) => sale.name) ?? []

/** Whether an act is of the chosen kind and spirit. */
export const fits =
  ({ kind, spirit }: Choice) =>
  (act: SettledAct): boolean =>
    (kind === undefined || actNamesOf(kind).includes(act.act)) &&
    (spirit === undefined || recordText(act, "spirit") === spirit)

const filters = ({ search, kind, spirit }: AllActsView): Html =>
  html`<search>
    <form class="filter" action="/v2/acts" method="get">
      <label class="unseen" for="acts-search">Number, hash, name, wallet, transaction or words</label
      ><input
        class="field"
        id="acts-search"
        name="q"
        type="search"
        value="${search}"
        maxlength="300"
        spellcheck="false"
        autocomplete="off"
        placeholder="Number, hash, wallet or words"
      />
      <select class="field" aria-label="Kind" name="kind">
        ${option("", "All kinds", kind)}
        ${[...kinds].map(([name, [first]]) => option(name, first?.sale.plural ?? name, kind))}
      </select>
      <select class="field" aria-label="Spirit" name="spirit">
        ${spiritOptions("All spirits", spirit)}
      </select>
      <button class="button">Search</button>
    </form>
  </search>`

const lead = ({ acts, search, wallet }: AllActsView): Value => {
  if (wallet !== undefined)
    return html`Everything that this wallet paid for here.
      <a href="/v2/wallets/${wallet}">Its stones, opened and closed</a>`
  if (search === "") return "Everything that was paid for here. Each act has a public page and a receipt."
  return html`<span role="status" ${mark("found", { found: acts.length })}
    >${acts.length === 0 ? "Nothing found" : `${count(acts.length, "act")} found`} for
    <code class="long">${search}</code>. <a href="/v2/acts">All acts</a></span
  >`
}

const hint = html`Search takes a stone's number, a whole id, hash, wallet or transaction, a spirit, a public name, or
  words of one of the newest 10,000 public texts of a kind. <a href="/verify">Check a file</a> finds the stone of a
  file.`

export const allActs = (view: AllActsView): Page => {
  const { acts, search, before, kind, next, now, spirit, wallet } = view
  const isSearch = search !== "" && wallet === undefined
  const place = { path: "/v2/acts", query: { q: wallet, kind, spirit }, before }
  const order = before === undefined ? "Newest first" : "Older acts"
  return {
    title: wallet !== undefined ? `Wallet ${wallet}` : isSearch ? `Search: ${search}` : "All acts",
    description:
      wallet === undefined
        ? "Every paid act of the altar, newest first, by kind, spirit, wallet and words."
        : `Everything that wallet ${wallet} paid for at the altar.`,
    path: isSearch ? place.path : hrefOf(place.path, { ...place.query, before }),
    chapter: "acts",
    body: html`${opening(wallet === undefined ? "Acts" : html`Wallet ${short(wallet)}`, lead(view), filters(view))}
    ${section(
      "acts",
      !isSearch ? order : acts.length === 0 ? "How to search" : "Found",
      "",
      acts.length > 0
        ? journal(acts, now)
        : blank(
            isSearch
              ? hint
              : html`No such acts yet. <a href="/v2/acts">Look at all acts</a>, or
                  <a href="/v2/stone">set a stone</a>.`,
          ),
      pager("acts", { ...place, next }),
    )}`,
  }
}
