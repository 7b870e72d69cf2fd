/** All acts, or those of one wallet: filters that a link keeps, the last 30 days as bars, and the list. */
import type { sales } from "../../../schema/altar/Sales.ts"
import { type ActDay, daysCovered } from "../../altar/ActFilter.ts"
import { type Html, html } from "../../platform/Html.ts"
import { journal, type SettledAct } from "./ActList.ts"
import { heading, leaf, type Page } from "./Layout.ts"
import { plates, previewOf } from "./Plates.ts"
import { count, dayWords, dollars, money, short } from "./Words.ts"

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

export interface AllActsView {
  readonly acts: ReadonlyArray<SettledAct>
  readonly days: ReadonlyArray<ActDay>
  readonly kind: Kind | undefined
  readonly spirit: string | undefined
  readonly wallet: string | undefined
  /** A wallet as typed that is none. */
  readonly noWallet: string | undefined
  readonly before: string | undefined
  readonly next: string | null
  /** Whether the page is that of the wallet. */
  readonly isWallet: boolean
  readonly now: number
}

type Choice = Pick<AllActsView, "isWallet" | "kind" | "spirit" | "wallet">

/** The address of a choice, which another reader can open. */
const hrefOf = ({ isWallet, kind, spirit, wallet }: Choice, before?: string): string => {
  const query = new URLSearchParams(
    Object.entries({ kind, spirit, wallet: isWallet ? undefined : wallet, before }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  ).toString()
  return `${isWallet ? `/v2/wallets/${wallet}` : "/v2/acts"}${query === "" ? "" : `?${query}`}`
}

const option = (value: string, words: string, chosen: string | undefined): Html =>
  html`<option value="${value}" ${value === (chosen ?? "") ? html` selected` : ""}>${words}</option>`

const filters = ({ isWallet, kind, noWallet, spirit, wallet }: AllActsView): Html =>
  html`<search>
    <form class="filter" action="${isWallet ? `/v2/wallets/${wallet}` : "/v2/acts"}" method="get">
      <label class="unseen" for="acts-kind">Kind</label>
      <select class="field" id="acts-kind" name="kind">
        ${option("", "All kinds", kind)} ${Object.entries(kinds).map(([name, [words]]) => option(name, words, kind))}
      </select>
      <label class="unseen" for="acts-spirit">Spirit</label>
      <select class="field" id="acts-spirit" name="spirit">
        ${option("", "All spirits", spirit)} ${plates.map(({ id, name }) => option(id, name, spirit))}
      </select>
      ${
        isWallet
          ? ""
          : html`<label class="unseen" for="acts-wallet">Wallet</label
              ><input
                class="field"
                id="acts-wallet"
                name="wallet"
                value="${noWallet ?? wallet ?? ""}"
                maxlength="100"
                spellcheck="false"
                autocomplete="off"
                placeholder="Wallet, 0x…"
              />`
      }
      <button class="button">Filter</button>
    </form>
    ${
      noWallet === undefined
        ? ""
        : html`<p class="problem" role="alert">
            <bdi>${noWallet}</bdi> is no wallet. A wallet is written as 0x and 40 hexadecimal digits.
          </p>`
    }
  </search>`

const [wide, high] = [600, 120]

/** One bar for each day; the table below says the same in figures. */
const bars = (title: string, values: ReadonlyArray<number>, most: Html | string): Html => {
  const highest = Math.max(1, ...values)
  const step = wide / values.length
  return html`<div>
    <p class="plot__title">${title}, at most ${most}</p>
    <svg viewBox="0 0 ${wide} ${high}" role="img" aria-label="${title}" preserveAspectRatio="none">
      ${values.map((value, index) => {
        const height = value === 0 ? 0 : Math.max(3, (value / highest) * (high - 4))
        const [x, y] = [(index * step + 2).toFixed(1), (high - height).toFixed(1)]
        return html`<rect
          class="plot__bar"
          x="${x}"
          y="${y}"
          width="${(step - 4).toFixed(1)}"
          height="${height.toFixed(1)}"
        />`
      })}
    </svg>
  </div>`
}

const plot = (days: ReadonlyArray<ActDay>, now: number): Html => {
  if (days.length === 0) return html`<p class="blank">No acts in the last ${daysCovered} days.</p>`
  const known = new Map(days.map((one) => [one.day, one]))
  const all = Array.from({ length: daysCovered }, (_, index) => {
    const day = new Date(now - (daysCovered - 1 - index) * 86_400_000).toISOString().slice(0, 10)
    return known.get(day) ?? { day, acts: 0, cents: 0 }
  })
  const acts = all.map((day) => day.acts)
  const cents = all.map((day) => day.cents)
  const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
  return html`<figure class="plot">
    <div class="plot__pair">
      ${bars("Acts a day", acts, `${Math.max(...acts)}`)}${bars("Paid a day", cents, money(dollars(Math.max(...cents))))}
    </div>
    <details class="fold">
      <summary>${count(sum(acts), "act")} for ${money(dollars(sum(cents)))} in ${daysCovered} days</summary>
      <table class="figures">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">Acts</th>
            <th scope="col">Paid</th>
          </tr>
        </thead>
        <tbody>
          ${days.toReversed().map(
            (one) =>
              html`<tr>
                <th scope="row">${dayWords(one.day)}</th>
                <td>${one.acts}</td>
                <td>${money(dollars(one.cents))}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </details>
  </figure>`
}

export const allActs = (view: AllActsView): Page => {
  const { acts, before, days, isWallet, next, noWallet, now, wallet } = view
  return {
    title: isWallet ? `Wallet ${wallet}` : "All acts",
    description: isWallet
      ? `Everything that wallet ${wallet} paid for at the altar.`
      : "Every paid act of the altar, newest first, by kind, spirit and wallet.",
    path: hrefOf(view, before),
    chapter: "acts",
    preview: previewOf("guide"),
    body: html`<header class="opening">
        <h1>${isWallet ? html`Wallet ${short(wallet ?? "")}` : "All acts"}</h1>
        <p class="lead">
          ${isWallet ? html`Everything that <code class="long">${wallet}</code> paid for here.` : "All that was paid for here. Each act has a public page and a receipt."}
        </p>
        ${filters(view)}${plot(days, now)}
      </header>
      <section id="acts" data-renew="acts" aria-labelledby="acts-title">
        ${heading("acts-title", "Acts", before === undefined ? "Newest first" : "Older ones")}
        ${acts.length === 0 ? html`<p class="blank">${noWallet === undefined ? "No act fits this choice." : "Nothing was searched."}</p>` : journal(acts, now)}
        ${leaf(
          "More acts",
          before === undefined ? undefined : html`<a href="${hrefOf(view)}">The newest acts</a>`,
          next === null ? undefined : html`<a rel="next" href="${hrefOf(view, next)}">Older acts</a>`,
        )}
      </section>`,
  }
}
