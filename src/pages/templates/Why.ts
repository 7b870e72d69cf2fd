/** The promise of the home page: its uses, three steps, and words whose check runs in the page. */
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import { seal } from "../../altar/Hashes.ts"
import { type Html, html } from "../../platform/Html.ts"
import { wordsField } from "./Offer.ts"
import { pebble } from "./Pebble.ts"
import { code, facts } from "./RecordTable.ts"
import { price } from "./Words.ts"

/** Why anyone seals words. */
export const uses: Html = html`<ul class="thirds" role="list" aria-label="What for">
  <li><b>Predict an election.</b> Seal your prediction today, and show after the count that you made it before.</li>
  <li><b>Date an idea.</b> Seal it before you tell anyone. The payment is its public timestamp.</li>
  <li><b>Bind an agent.</b> Make it commit to its plan before it acts, and compare the two afterwards.</li>
</ul>`

const step = (picture: string, name: string, words: Html | string): Html =>
  html`<li>
    <img src="/art/steps/${picture}.svg" alt="" width="120" height="88" />
    <h3>${name}</h3>
    <p>${words}</p>
  </li>`

export const steps: Html = html`<section id="how" aria-labelledby="how-title">
  <h2 id="how-title" class="unseen">How it works</h2>
  <ol class="thirds" role="list">
    ${step(
      "write",
      "Write",
      html`Your browser locks your words with a random code, the <dfn>salt</dfn>. Only a fingerprint of both leaves this
        machine: the <dfn>commitment</dfn>.`,
    )}
    ${step(
      "pay",
      "Pay",
      html`${price(offerPrayer.sale.priceAtomic)} records the commitment. The payment is public, with its time, and each
      record names the one before. Nobody can move yours to an earlier day.`,
    )}
    ${step(
      "reveal",
      "Reveal, if you like",
      "Show words and salt on any later day. Anyone can compute the fingerprint again and see that it matches.",
    )}
  </ol>
</section>`

const words = "The heron will return by May."
const salt = "5f0c9a1be27d4438"
const commitment = seal(salt, words)

/** Words, salt and commitment; script computes the fingerprint of what stands in the field. */
export const example = html`<section class="example" aria-labelledby="example-title">
  <div class="example__words">
    <h2 id="example-title">Try to change it</h2>
    <p>Change one letter. Your browser computes the fingerprint again and compares it with the recorded one.</p>
    <form data-example="${commitment}" data-salt-shown="${encodeURIComponent(salt)}" autocomplete="off">
      ${wordsField("example-words", "Words", html`data-words dir="auto"`, "", words)}
      ${facts([
        ["Salt", code(salt)],
        ["Recorded", code(commitment)],
        ["Computed", html`<code class="long" data-computed>${commitment}</code>`],
      ])}
      <div class="reserved scripted" data-verdict-shown role="status"></div>
    </form>
    <p class="small quiet">An example. Yours could be the next <a href="/v2/stone">witness stone</a>.</p>
  </div>
  <figure>
    ${pebble(commitment)}
    <figcaption class="mark">Each commitment draws its own stone.</figcaption>
  </figure>
</section>`
