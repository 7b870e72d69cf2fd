/** Times, names and numbers as a reader says them. */
import { priceUsd } from "../../../schema/payments/Payment.ts"
import type { Sale } from "../../../schema/payments/Sale.ts"
import { centsOf } from "../../../schema/payments/Usdc.ts"
import { timeWords } from "../../web/v2/page/durations.ts"
import { html, type Html } from "../../platform/Html.ts"

export { agoWords, dayWords, leftWords, stretchWords, timeWords } from "../../web/v2/page/durations.ts"

const numerals = "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII XXIV".split(
  " ",
)

/** Plate numbers: 1 to 24. */
export const roman = (number: number): string => numerals[number - 1] ?? String(number)

/** A moment, written out. */
export const moment = (iso: string): Html => html`<time datetime="${iso}">${timeWords(iso)}</time>`

/** The same where the reader is: on a line of its own, which is there before script fills it, so that nothing moves. */
export const local = (iso: string): Html => html`<small class="local scripted" data-local="${iso}"></small>`

export const localMoment = (iso: string): Html => html`${moment(iso)}${local(iso)}`

export const count = (number: number, one: string, many: string = `${one}s`) =>
  `${number.toLocaleString("en-US")} ${number === 1 ? one : many}`

/** Dollars and cents of a number of cents. */
export const dollars = (cents: number) => `$${(cents / 100).toLocaleString("en-US", { minimumFractionDigits: 2 })}`

const smallNumbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"] as const

/** A price in words: `one cent`; in figures where it is more than a few cents. */
export const priceWords = ({ priceAtomic }: Sale): string => {
  const cents = Number(centsOf(priceAtomic))
  const number = smallNumbers[cents]
  return number === undefined ? priceUsd(priceAtomic) : `${number} ${cents === 1 ? "cent" : "cents"}`
}

/** The same words at the beginning of a sentence. */
export const capitalized = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`

/** The two ends of an address or a hash; the whole of it is in the title. */
export const short = (hex: string): Html => {
  const head = hex.startsWith("0x") ? 6 : 4
  return html`<code class="hash" title="${hex}">${hex.slice(0, head)}…${hex.slice(-4)}</code>`
}

/** What a visitor wrote, in the direction it is written in, without turning the sentence around it. */
export const isolated = (text: string): Html => html`<bdi>${text}</bdi>`

/** Who did it: the self-declared name, else the wallet. */
export const who = (name: string | null | undefined, wallet: string | null): Html =>
  name === null || name === undefined
    ? wallet === null
      ? html`somebody`
      : short(wallet)
    : html`<b class="name">${isolated(name)}</b>`
