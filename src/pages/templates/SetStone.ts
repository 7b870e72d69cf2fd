/** The page that sets a witness stone: of words that are sealed here, or of a file that is hashed here. */
import { wordsMaximum } from "../../../schema/altar/Recipe.ts"
import type { SpiritId } from "../../../schema/altar/Spirit.ts"
import { setWitnessStone, StoneKind } from "../../../schema/altar/Witness.ts"
import { priceWords as wordsOf } from "../../../schema/payments/Usdc.ts"
import { type Html, html } from "../../platform/Html.ts"
import { more, opening, type Page } from "./Layout.ts"
import { mark } from "./Marks.ts"
import {
  beside,
  nameField,
  notConfigured,
  offer,
  type Payment,
  sealing,
  choiceField,
  selectField,
  showing,
  textField,
  wordsField,
} from "./Offer.ts"
import { nameOf, spiritOptions } from "./Plates.ts"
import { priceWords } from "./Words.ts"

export interface SetStoneView {
  readonly payment: Payment
  /** The spirit that the form names at first. */
  readonly spirit: SpiritId | undefined
}

/** Each kind as its author would say it, short enough for a choice on a phone. */
const kinds: Readonly<Record<typeof StoneKind.Type, string>> = {
  intention: "Intention: I mean to do it",
  prediction: "Prediction: I expect it",
  promise: "Promise: I will keep it",
  hash: "File or text: it exists",
}

/** Files that script hashes; the form then sends their hash as its commitment. */
export const fileField = (label: string, hint: string): Html =>
  html`${textField(["stone-file", label, mark("file"), html`type="file" multiple`], `Choose one or several, or drop them here. They are hashed in this browser and never sent.${hint}`, "take")}
    <div ${mark("fileSaid")} role="status"></div>`

const form = ({ payment, spirit }: SetStoneView): Html =>
  offer(payment, {
    id: "stone",
    verb: "Set the stone",
    title: "Witness stone",
    path: setWitnessStone.path,
    sale: setWitnessStone.sale,
    fields: html`${wordsField(["stone-words", "Your words", mark("seal", { seal: "commitment" }), html`maxlength="8192" required`], `1 to ${wordsMaximum} characters. They stay in this browser until you reveal them.`)}
      ${choiceField(
        ["stone-kind", "Kind, shown to everyone", mark("body", { body: "kind" })],
        StoneKind.literals.map((kind) => [kind, kinds[kind]] as const),
        "intention",
      )}
      <figure class="drawn scripted" ${mark("drawn")}>
        <span class="mark">Your stone takes shape here as you write.</span>
      </figure>
      <details class="more">
        <summary>More: a file, spirit, name</summary>
        <div ${mark("fileSealed")}>
          ${fileField("Or a file", " Keep them: later, they are the proof.")}
          <input type="hidden" ${mark("body", { body: "commitment" })} ${mark("fileHash")} />
        </div>
        ${selectField(["stone-spirit", "Spirit", mark("body", { body: "spirit" })], spiritOptions("Any spirit", spirit))}
        ${nameField("stone-name")}
      </details>`,
  })

export const setStone = (view: SetStoneView): Page => ({
  title: "Set a witness stone",
  description: `Seal a prediction, a promise or a file in your browser, and pay ${wordsOf(setWitnessStone.sale.priceAtomic)} for a public timestamp that nobody can move.`,
  path: "/v2/stone",
  chapter: "stone",
  preview: "stones",
  body: html`${opening(
      "Set a witness stone",
      html`Timestamp a secret message${view.spirit === undefined ? "" : ` with ${nameOf(view.spirit)}`} for
      ${priceWords(setWitnessStone.sale)}. Show it on any later day, and anyone can see that it existed today.`,
    )}
    <section id="set" aria-label="Set a stone">
      ${
        view.payment.enabled
          ? beside(
              form(view),
              html`${sealing} ${showing}`,
              "The payment is the timestamp. Nobody can backdate a stone.",
              "Words you seal are saved in this browser before you pay. Save them as a file, too. Revealing them later is free, once.",
              "It is not notarized and does not prove who wrote the words.",
            )
          : notConfigured(view.payment)
      }
    </section>
    ${more("More", html`<a href="/v2/witness">The witness chain: all stones in order</a>`, html`<a href="/verify">Check a stone, a receipt or words</a>`)}`,
})
