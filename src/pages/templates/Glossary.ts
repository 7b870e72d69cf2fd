/** The terms of a form, explained for newcomers in two sentences each. */
import type { StoneKind } from "../../../schema/altar/Witness.ts"
import { type Html, html } from "../../platform/Html.ts"

const meanings = {
  salt: "Your words are locked with a random code, the salt. Without the salt, a reader could try guesses.",
  commitment:
    "Only a fingerprint of both is published, the commitment: 64 digits that show nothing. Show words and salt later, and anyone can see that they match.",
  wallet:
    "A wallet is a program that keeps the keys to your money. It asks you before it signs a payment. This page learns its address and one signature, for exactly the price it lists.",
  receipt:
    "A receipt says what was paid, when, by which wallet and in which transaction. Anyone can look the transaction up on its own chain, without asking us.",
} as const

export type Term = keyof typeof meanings

export const sealing: Html = html`${meanings.salt} ${meanings.commitment}`

const listed = (terms: ReadonlyArray<Term>) => `${terms.slice(0, -1).join(", ")} and ${terms.at(-1)}`

export const glossary = (...terms: ReadonlyArray<Term>): Html =>
  html`<details class="call">
    <summary>What ${listed(terms)} mean</summary>
    ${terms.map((term) => html`<p>${meanings[term]}</p>`)}
  </details>`

export const kindWords: Readonly<Record<typeof StoneKind.Type, string>> = {
  intention: "something that its author means to do",
  prediction: "something that its author expects",
  promise: "something that its author will keep",
  hash: "the fingerprint of a file or a text",
}

/** `an intention`. */
export const aKind = (kind: string) => `${/^[aeiou]/u.test(kind) ? "an" : "a"} ${kind}`

/** Each kind as its author would say it, short enough for a choice on a phone. */
export const kindChoices: typeof kindWords = {
  intention: "I mean to do it",
  prediction: "I expect it",
  promise: "I will keep it",
  hash: "of a file or a text",
}
