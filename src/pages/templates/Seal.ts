/** Sealing and checking words in the page alone: the fields have no names, so no form can send them anywhere. */
import { recipe, saltMaximum, saltMinimum, wordsMaximum } from "../../../schema/altar/Recipe.ts"
import { type Html, html } from "../../platform/Html.ts"
import { copyable, textField, wordsField } from "./Offer.ts"
import { sealing } from "./Terms.ts"

const byHand = (id: string): Html =>
  html`<div class="unscripted notice">
    <p>
      This form needs script, because your words must not leave your machine. In a terminal, with the words as one line
      without spaces at its ends:
    </p>
    ${copyable(id, `printf '%s\\0%s' "$SALT" "$WORDS" | sha256sum`, "the command")}
  </div>`

/** A file that was saved here once is taken back; script reads it in the page. */
export const takeField = (id: string): Html =>
  html`<p class="ask take">
    <label for="${id}">Your saved file</label
    ><input class="field" id="${id}" type="file" accept=".json,application/json" data-take /><small
      >Choose it, drop it here, or paste its text. It is read in this page only.</small
    >
  </p>`

/** Does this salt and these words hash to that commitment? */
export const checkForm = (commitment: string): Html =>
  html`<form class="seal scripted" data-check autocomplete="off" aria-labelledby="check-title">
      <p class="small quiet">Nothing you type here is sent.</p>
      <div data-filled role="status"></div>
      ${takeField("check-file")}${textField("check-salt", "Salt", html`data-salt minlength="${saltMinimum}" maxlength="${2 * saltMaximum}" required spellcheck="false"`)}${wordsField("check-words", "Words", html`data-words maxlength="8192" required`, "White space at either end does not count.")}${textField("check-commitment", "Commitment", html`data-commitment value="${commitment}" pattern="[0-9a-f]{64}" required spellcheck="false"`, "64 lowercase hex digits")}
      <p><button class="button">Check without sending</button></p>
      <div data-result role="status"></div>
    </form>
    ${byHand("check-hand")}
    <p class="small quiet">${sealing}</p>`

/** Words in, salt and commitment out. */
export const sealForm = (): Html =>
  html`<form class="seal scripted" data-sealing autocomplete="off" aria-labelledby="seal-title">
      <p class="small quiet">Nothing you type here is sent. What you seal is kept in this browser.</p>
      ${wordsField("seal-words", "Words", html`data-words maxlength="8192" required`, `1 to ${wordsMaximum} characters`)}${textField("seal-salt", "Salt", html`data-salt minlength="${saltMinimum}" maxlength="${saltMaximum}" spellcheck="false"`, "Left empty, a random one is made")}
      <p><button class="button">Seal</button></p>
      <div data-result role="status"></div>
    </form>
    ${byHand("seal-hand")}
    <p class="small quiet">${recipe}.</p>`

export interface Revealing {
  readonly url: string
  /** What the route calls the words. */
  readonly name: "text" | "words"
  readonly commitment: string
  /** The page that shows them afterwards. */
  readonly shown: string
}

/** Publishes sealed words, after they were checked here: what a stone calls reveal and a candle unseal. */
export const revealForm = ({ commitment, name, shown, url }: Revealing): Html =>
  html`<details class="fold scripted">
    <summary>Reveal these words to everyone</summary>
    <form
      class="seal"
      data-reveal="${url}"
      data-name="${name}"
      data-against="${commitment}"
      data-shown="${shown}"
      autocomplete="off"
      aria-label="Reveal the words"
    >
      <div data-filled role="status"></div>
      <p>
        <b>This sends salt and words, and publishes the words for good.</b> They are checked here first and sent only if
        they match.
      </p>
      ${textField("reveal-salt", "Salt", html`data-salt minlength="${saltMinimum}" maxlength="${2 * saltMaximum}" required spellcheck="false"`)}${wordsField("reveal-words", "Words", html`data-words maxlength="8192" required`, "Words that look like a link, a wallet or an address are kept but not shown.")}
      <p><button class="button button--alarm">Check, then reveal</button></p>
      <div data-result role="status"></div>
    </form>
  </details>`
