/** Times, names and numbers in words. */
import { priceUsd } from "../../../schema/payments/Payment.ts"
import type { Sale } from "../../../schema/payments/Sale.ts"
import { centsOf } from "../../../schema/payments/Usdc.ts"
import { timeWords } from "../../web/v2/page/durations.ts"
import { html, type Html } from "../../platform/Html.ts"

export { agoWords, dayWords, leftWords, stretchWords, timeWords } from "../../web/v2/page/durations.ts"

const numerals = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII XXIV".split(
  " ",
)

export const roman = (number: number): string => numerals[number - 1] ?? String(number)

export const moment = (iso: string): Html => html`<time datetime="${iso}">${timeWords(iso)}</time>`

/** The same moment in the reader's time zone. Its line exists before script fills it, so that nothing moves. */
export const local = (iso: string): Html => html`<small class="local scripted" data-local="${iso}"></small>`

export const localMoment = (iso: string): Html => html`${moment(iso)}${local(iso)}`

export const count = (number: number, one: string, many: string = `${one}s`) =>
  `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`

/** Dollars and cents of a number of cents. */
export const dollars = (cents: number) => `$${(cents / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })}`

const smallNumbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"] as const

/** `one cent`; in figures above a few cents. */
const inWords = (priceAtomic: bigint): string => {
  const cents = Number(centsOf(priceAtomic))
  const number = smallNumbers[cents]
  return number === undefined ? priceUsd(priceAtomic) : `${number} ${cents === 1 ? "cent" : "cents"}`
}

/** A sum of money. Style adds that it is play or test money where it is. */
export const money = (words: string): Html => html`<span class="price">${words}</span>`

/** A price in figures, in words, or in words that begin a sentence. */
export const price = (priceAtomic: bigint, form: "figures" | "words" | "sentence" = "figures"): Html => {
  const words = form === "figures" ? priceUsd(priceAtomic) : inWords(priceAtomic)
  return money(form === "sentence" ? capitalized(words) : words)
}

/** The price of a sale in words. */
export const priceWords = ({ priceAtomic }: Sale): Html => price(priceAtomic, "words")

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
