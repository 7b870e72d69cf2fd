/** How a stone comes to be, in three pictures. They stand in the page, since three more requests would cost more. */
import { setWitnessStone } from "../../../schema/altar/Witness.ts"
import { type Html, html } from "../../platform/Html.ts"
import { price } from "./Words.ts"

const pictures = {
  write: html`<g stroke="#3b2b20" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
      <path d="M14 24h92v50H14z" fill="#fffaf0" />
      <path d="M14 24l46 29 46-29" fill="#f1e6c9" />
      <path d="M14 74l34-28M106 74L72 46" fill="none" />
      <path d="M60 40c8-2 14 4 14 11 0 8-6 14-14 13-8 1-14-5-14-13 0-7 6-13 14-11z" fill="#b8442c" />
    </g>
    <path
      d="M55 51l4 5 7-9"
      fill="none"
      stroke="#fdf6ea"
      stroke-width="3"
      stroke-linecap="round"
      stroke-linejoin="round"
    />`,
  pay: html`<path d="M22 66h76" stroke="#8c8168" stroke-width="3" />
    <g stroke="#3b2b20" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
      <path d="M6 66c0-10 6-16 15-16s14 6 14 14-6 12-15 12S6 74 6 66z" fill="#7b8b9c" />
      <path d="M43 65c0-11 7-17 17-17s16 7 16 15-7 13-17 13-16-3-16-11z" fill="#3f9275" />
      <path d="M85 64c0-10 6-17 16-17 9 0 13 7 13 15s-5 14-15 14-14-4-14-12z" fill="#b85d42" />
      <circle cx="99" cy="23" r="16" fill="#efc15a" />
      <circle cx="99" cy="23" r="10" fill="#f8dc92" stroke-width="2" />
    </g>
    <path d="M99 17v12" stroke="#3b2b20" stroke-width="3" stroke-linecap="round" />`,
  reveal: html`<g stroke="#3b2b20" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
    <path d="M10 14h56v62H10z" fill="#fffaf0" />
    <path d="M20 30h36M20 42h36M20 54h24" fill="none" stroke="#8c8168" />
    <circle cx="88" cy="44" r="22" fill="#dfeeda" />
    <path d="M77 44l8 9 15-18" fill="none" stroke="#2c6a3a" stroke-width="5" />
  </g>`,
}

const step = (picture: keyof typeof pictures, name: string, words: Html | string): Html =>
  html`<li>
    <svg viewBox="0 0 120 88" width="120" height="88" aria-hidden="true">${pictures[picture]}</svg>
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
      html`${price(setWitnessStone.sale.priceAtomic)} records the commitment. The payment is public, with its time, and
      each record names the one before. Nobody can move yours to an earlier day.`,
    )}
    ${step(
      "reveal",
      "Reveal, if you like",
      "Show words and salt on any later day. Anyone can compute the fingerprint again and see that it matches.",
    )}
  </ol>
</section>`
