/** Times, names and numbers in words. */
import { priceUsd } from "../../../schema/payments/Payment.ts"
import type { Sale } from "../../../schema/payments/Sale.ts"
import { priceWords as wordsOf } from "../../../schema/payments/Usdc.ts"
import { html, type Html } from "../../platform/Html.ts"
import { count, timeWords } from "../../web/v2/page/durations.ts"

export { count, dayWords, timeWords } from "../../web/v2/page/durations.ts"

const numerals = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII XXIV".split(
  " ",
)

export const roman = (number: number): string => numerals[number - 1] ?? String(number)

export const moment = (iso: string): Html => html`<time datetime="${iso}">${timeWords(iso)}</time>`

/** A sum of money. Style adds that it is play or test money where it is. */
export const money = (words: string): Html => html`<span class="price">${words}</span>`

/** A price in figures. */
export const price = (priceAtomic: bigint): Html => money(priceUsd(priceAtomic))

/** The prices of sales in words. */
export const priceWords = (...sales: ReadonlyArray<Sale>): Html =>
  money([...new Set(sales.map(({ priceAtomic }) => wordsOf(priceAtomic)))].join(" or "))

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** `2 days and 3 hours`, of milliseconds; two units at most, rounded down. */
export const stretchWords = (millis: number): string => {
  if (millis < minute) return "less than a minute"
  if (millis < hour) return count(Math.floor(millis / minute), "minute")
  const [large, small, largeUnit, smallUnit] =
    millis < day ? [hour, minute, "hour", "minute"] : [day, hour, "day", "hour"]
  const rest = Math.floor((millis % large) / small)
  return `${count(Math.floor(millis / large), largeUnit)}${rest === 0 ? "" : ` and ${count(rest, smallUnit)}`}`
}

export const leftWords = (millis: number): string => (millis <= 0 ? "burned down" : `${stretchWords(millis)} left`)

/** The time since a moment, in one unit before a word: `3 hours ago`. */
const since = (iso: string, now: number, word: string): string => {
  const millis = now - Date.parse(iso)
  const [unit, name] = millis < hour ? [minute, "minute"] : millis < day ? [hour, "hour"] : [day, "day"]
  return millis < minute ? "just now" : `${count(Math.floor(millis / unit), name)} ${word}`
}

export const ago = (iso: string, now: number): Html => html`<time datetime="${iso}">${since(iso, now, "ago")}</time>`

export const age = (iso: string, now: number): string => since(iso, now, "old")

export const capitalized = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`

/** The two ends of an address or a hash; the title has all of it. */
export const short = (hex: string): Html => {
  const head = hex.startsWith("0x") ? 6 : 4
  return html`<code class="hash" title="${hex}">${hex.slice(0, head)}…${hex.slice(-4)}</code>`
}

/** A visitor's text in its own direction, without turning the sentence around it. */
export const isolated = (text: string): Html => html`<bdi>${text}</bdi>`

/** The self-declared name, otherwise the wallet. */
export const who = (name: string | null | undefined, wallet: string | null): Html =>
  name === null || name === undefined
    ? wallet === null
      ? html`somebody`
      : short(wallet)
    : html`<b class="name">${isolated(name)}</b>`
