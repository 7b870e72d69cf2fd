/** The page that sets a witness stone: of words that are sealed here, or of a file that is hashed here. */
import { wordsMaximum } from "../../../schema/altar/Recipe.ts"
import type { SpiritId } from "../../../schema/altar/Spirit.ts"
import { setWitnessStone, StoneKind } from "../../../schema/altar/Witness.ts"
import { type Html, html } from "../../platform/Html.ts"
import { kindChoices, sealing } from "./Glossary.ts"
import type { Page } from "./Layout.ts"
import { nameField, notConfigured, offer, type Payment, wordsField } from "./Offer.ts"
import { nameOf, previewOf, spiritOptions } from "./Plates.ts"
import { capitalized, price } from "./Words.ts"

export interface SetStoneView {
  readonly payment: Payment
  readonly publicUrl: string
  /** The spirit that the form names at first. */
  readonly spirit: SpiritId | undefined
}

/** Hashes a file in the browser; the form then sends that hash as its commitment. */
const fileField: Html = html`<div class="ask take scripted" data-file-sealed>
  <label for="stone-file">Or a file</label><input class="field" id="stone-file" type="file" data-file /><small
    >Choose it, or drop it here. It is hashed in this browser and never sent. Keep it: later, it is the proof.</small
  >
  <input type="hidden" data-body="commitment" data-file-hash />
  <div data-file-said role="status"></div>
</div>`

const form = ({ payment, publicUrl, spirit }: SetStoneView): Html =>
  offer(publicUrl, payment, {
    id: "stone",
    verb: "Set the stone",
    title: "Witness stone",
    page: "/v2/stone",
    path: setWitnessStone.path,
    amountAtomic: setWitnessStone.sale.priceAtomic,
    fields: html`${wordsField("stone-words", "Your words", html`data-seal="commitment" maxlength="8192" required`, `1 to ${wordsMaximum} characters. They stay in this browser until you reveal them.`)}
      <details class="more">
        <summary>More: a file, kind, spirit, name</summary>
        ${fileField}
        <div class="asks">
          <p class="ask">
            <label for="stone-kind">Kind, shown to everyone</label
            ><select class="field" id="stone-kind" data-body="kind">
              ${StoneKind.literals.map((kind) => html`<option value="${kind}">${capitalized(kind)}: ${kindChoices[kind]}</option>`)}
            </select>
          </p>
          <p class="ask">
            <label for="stone-spirit">Spirit</label
            ><select class="field" id="stone-spirit" data-body="spirit">
              ${spiritOptions("picked by the commitment", spirit)}
            </select>
          </p>
        </div>
        ${nameField("stone-name")}
      </details>`,
    body: `{"commitment":"<64 hex digits>","kind":"prediction"}`,
    note: html`<code>commitment</code> is the SHA-256 of a salt, one NUL byte and your words. Keep both: the reveal is
      free, once.`,
  })

const aside = html`<div class="aside">
  <p>${sealing}</p>
  <p>The payment is the timestamp. Nobody can backdate a stone.</p>
  <p>
    Words you seal are saved in this browser before you pay. Save them as a file, too. Revealing them later is free,
    once.
  </p>
  <p>It is not notarized and does not prove who wrote the words.</p>
</div>`

export const setStone = (view: SetStoneView): Page => ({
  title: "Set a witness stone",
  description:
    "Seal a prediction, a promise or a file in your browser, and pay one cent for a public timestamp that nobody can move.",
  path: "/v2/stone",
  chapter: "stone",
  preview: previewOf("stones"),
  body: html`<header class="opening opening--close">
      <h1>Set a witness stone</h1>
      <p class="lead">
        Timestamp a secret message${view.spirit === undefined ? "" : ` with ${nameOf(view.spirit)}`} for
        ${price(setWitnessStone.sale.priceAtomic, "words")}. Show it on any later day, and anyone can see that it
        existed today.
      </p>
    </header>
    <section id="set" aria-label="Set a stone">
      ${view.payment.enabled ? html`<div class="beside">${form(view)}${aside}</div>` : notConfigured(view.payment)}
    </section>
    <nav class="leaf" aria-label="More">
      <a href="/v2/witness">The witness chain: all stones in order</a
      ><a href="/verify#words-title">Seal or check words without a stone</a>
    </nav>`,
})
