/** The promise of the home page: three steps with their drawings, and words whose check runs in the page. */
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import { seal } from "../../altar/Hashes.ts"
import { Html, html } from "../../platform/Html.ts"
import { aKind } from "./Glossary.ts"
import { pebble } from "./Pebble.ts"
import type { Stone } from "./Witness.ts"
import { moment, price, who } from "./Words.ts"

const drawing = (shapes: string): Html =>
  html`<svg class="step__drawing" viewBox="0 0 120 88" aria-hidden="true" focusable="false">${new Html(shapes)}</svg>`

const outlined = `stroke="#3b2b20" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"`

/** A sheet, folded and closed with wax. */
const sealed = drawing(
  `<g ${outlined}><path d="M14 24h92v50H14z" fill="#fffaf0"/><path d="M14 24l46 29 46-29" fill="#f1e6c9"/><path d="M14 74l34-28M106 74L72 46" fill="none"/><path d="M60 40c8-2 14 4 14 11 0 8-6 14-14 13-8 1-14-5-14-13 0-7 6-13 14-11z" fill="#b8442c"/></g><path d="M55 51l4 5 7-9" fill="none" stroke="#fdf6ea" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>`,
)

/** A coin that is laid on the newest of three linked stones. */
const paid = drawing(
  `<path d="M22 66h76" stroke="#8c8168" stroke-width="3"/><g ${outlined}><path d="M6 66c0-10 6-16 15-16s14 6 14 14-6 12-15 12S6 74 6 66z" fill="#7b8b9c"/><path d="M43 65c0-11 7-17 17-17s16 7 16 15-7 13-17 13-16-3-16-11z" fill="#3f9275"/><path d="M85 64c0-10 6-17 16-17 9 0 13 7 13 15s-5 14-15 14-14-4-14-12z" fill="#b85d42"/><circle cx="99" cy="23" r="16" fill="#efc15a"/><circle cx="99" cy="23" r="10" fill="#f8dc92" stroke-width="2"/></g><path d="M99 17v12" stroke="#3b2b20" stroke-width="3" stroke-linecap="round"/>`,
)

/** The same sheet, open, beside its fingerprint. */
const revealed = drawing(
  `<g ${outlined}><path d="M10 14h56v62H10z" fill="#fffaf0"/><path d="M20 30h36M20 42h36M20 54h24" fill="none" stroke="#8c8168"/><circle cx="88" cy="44" r="22" fill="#dfeeda"/><path d="M77 44l8 9 15-18" fill="none" stroke="#2c6a3a" stroke-width="5"/></g>`,
)

const step = (picture: Html, name: string, words: Html): Html =>
  html`<li class="step">
    ${picture}
    <div>
      <h3>${name}</h3>
      <p>${words}</p>
    </div>
  </li>`

export const steps: Html = html`<section class="why" id="how" aria-labelledby="how-title">
  <h2 id="how-title" class="unseen">How it works</h2>
  <ol class="steps-of-three" role="list">
    ${step(
      sealed,
      "Write",
      html`Your browser locks your words with a random code, the <dfn>salt</dfn>. Only a fingerprint of both leaves this
        machine: the <dfn>commitment</dfn>.`,
    )}
    ${step(
      paid,
      "Pay",
      html`${price(offerPrayer.sale.priceAtomic, "sentence")} records the commitment. The payment is public, with its
      time, and each record names the one before. Nobody can move yours to an earlier day.`,
    )}
    ${step(
      revealed,
      "Reveal, if you like",
      html`Show words and salt on any later day. Anyone can compute the fingerprint again and see that it matches.`,
    )}
  </ol>
</section>`

/** Shown until a stone of this altar is revealed. */
const sample = { words: "The heron will return by May.", salt: "5f0c9a1be27d4438" }

const source = (stone: Stone | undefined): Html =>
  stone === undefined
    ? html`An example, not yet set here. Yours could be the first <a href="/v2/stone">witness stone</a> whose words are
        shown on this page.`
    : html`From <a href="/witness/${stone.id}">witness stone ${stone.sequence}</a>, ${aKind(stone.kind)} that
        ${who(stone.agentName, stone.payer)} sealed on ${moment(stone.witnessedAt)} and revealed later.`

/** Words, salt and commitment; script computes the fingerprint of what stands in the field. */
export const example = (stone: Stone | undefined): Html => {
  const words = stone?.reveal?.text ?? sample.words
  const salt = stone?.reveal?.salt ?? sample.salt
  const commitment = stone === undefined ? seal(salt, words) : stone.commitment
  return html`<section class="example" aria-labelledby="example-title">
    <div class="example__words">
      <h2 id="example-title">Try to change it</h2>
      <p>Change one letter. Your browser computes the fingerprint again and compares it with the recorded one.</p>
      <form
        class="example__form"
        data-example="${commitment}"
        data-salt-shown="${encodeURIComponent(salt)}"
        autocomplete="off"
      >
        <p class="ask">
          <label for="example-words">Words</label
          ><textarea class="field" id="example-words" rows="2" data-words dir="auto">${words}</textarea>
        </p>
        <dl class="facts">
          <div>
            <dt>Salt</dt>
            <dd><code class="long">${salt}</code></dd>
          </div>
          <div>
            <dt>Recorded</dt>
            <dd><code class="long">${commitment}</code></dd>
          </div>
          <div class="scripted">
            <dt>Computed</dt>
            <dd><code class="long" data-computed>${commitment}</code></dd>
          </div>
        </dl>
        <div class="example__verdict scripted" data-verdict-shown role="status"></div>
      </form>
      <p class="small quiet">${source(stone)}</p>
    </div>
    <figure class="example__stone">
      ${pebble(commitment)}
      <figcaption>Each commitment draws its own stone.</figcaption>
    </figure>
  </section>`
}
