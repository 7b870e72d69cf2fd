/** Forms that seal and check words inside the page; their fields have no names, so no form can send them. */
import { recipe, saltMaximum, saltMinimum, wordsMaximum } from "../../../schema/altar/Recipe.ts"
import type { Reveal } from "../../../schema/altar/Reveal.ts"
import { type Html, html } from "../../platform/Html.ts"
import { textField, wordsField } from "./Offer.ts"
import { sample } from "./Prose.ts"
import { code } from "./RecordTable.ts"
import { sealing } from "./Glossary.ts"
import { isolated } from "./Words.ts"

type Shown = Pick<typeof Reveal.Type, "hiddenBy" | "salt" | "text">

const byHand = (id: string): Html =>
  html`<div class="unscripted notice">
    <p>
      This form needs script, because your words must not leave your machine. In a terminal, with the words as one line
      without spaces at its ends:
    </p>
    ${sample(id, "the command", `printf '%s\\0%s' "$SALT" "$WORDS" | sha256sum`)}
  </div>`

/** The field for importing a saved file, which script reads in the page. */
export const takeField = (id: string): Html =>
  html`<p class="ask take">
    <label for="${id}">Your saved file</label
    ><input class="field" id="${id}" type="file" accept=".json,application/json" data-take /><small
      >Choose it, or drop it here. It is read in this page only.</small
    >
  </p>`

/** A form that checks salt and words against the commitment; script unfolds it where this browser holds the words. */
export const checkForm = (commitment: string): Html =>
  html`<details class="fold" data-unfold>
    <summary>Check words without sending them</summary>
    <form class="seal scripted" data-check autocomplete="off" aria-label="Check words">
      <p class="small quiet">Nothing you type here is sent.</p>
      <div data-filled role="status"></div>
      ${takeField("check-file")}${textField("check-salt", "Salt", html`data-salt minlength="${saltMinimum}" maxlength="${2 * saltMaximum}" required spellcheck="false"`)}${wordsField("check-words", "Words", html`data-words maxlength="8192" required`, "White space at either end does not count.")}${textField("check-commitment", "Commitment", html`data-commitment value="${commitment}" pattern="[0-9a-f]{64}" required spellcheck="false"`, "64 lowercase hex digits")}
      <p><button class="button">Check without sending</button></p>
      <div data-result role="status"></div>
    </form>
    ${byHand("check-hand")}
    <p class="small quiet">${sealing}</p>
  </details>`

/** A form that turns words into salt and commitment. */
export const sealForm = (): Html =>
  html`<details class="fold">
    <summary>Seal words in this browser</summary>
    <form class="seal scripted" data-sealing autocomplete="off" aria-label="Seal words">
      <p class="small quiet">Nothing you type here is sent. This browser saves what you seal.</p>
      ${wordsField("seal-words", "Words", html`data-words maxlength="8192" required`, `1 to ${wordsMaximum} characters`)}${textField("seal-salt", "Salt", html`data-salt minlength="${saltMinimum}" maxlength="${saltMaximum}" spellcheck="false"`, "If empty, a random one is made")}
      <p><button class="button">Seal</button></p>
      <div data-result role="status"></div>
    </form>
    ${byHand("seal-hand")}
    <p class="small quiet">${recipe}.</p>
  </details>`

/** The data for re-hashing revealed words: the commitment, and the salt in a form that no parser changes. */
export const revealedParts = (commitment: string | null, salt: string): Html =>
  html`data-revealed="${commitment}" data-salt-shown="${encodeURIComponent(salt)}"`

const hidden = (verb: string, hiddenBy: string | undefined): Html =>
  html`<p class="words words--sealed">
    The words were ${verb} and match the commitment.
    ${
      hiddenBy === undefined
        ? "They or their salt look like a link, a wallet or an address, so neither is shown."
        : "They are hidden by the operator, and so is their salt. A reader with words and salt can still check them against the commitment."
    }
  </p>`

/** The place of the page's verdict on revealed words, and their salt. */
export const verdictOn = (salt: string): Html =>
  html`<div class="reveal__verdict scripted" data-reveal-verdict="page" role="status"></div>
    <p class="small quiet">Salt: <bdi>${code(salt)}</bdi></p>`

/** Revealed words with their salt, and a place for the page's verdict on them. */
export const revealedWords = (
  commitment: string,
  { hiddenBy, salt, text }: Shown,
  verb: "revealed" | "unsealed",
): Html =>
  text === null || salt === null
    ? hidden(verb, hiddenBy)
    : html`<div ${revealedParts(commitment, salt)}>
        <blockquote class="words"><p dir="auto" data-words-shown>${text}</p></blockquote>
        ${verdictOn(salt)}
      </div>`

/** Words in a list; script marks those that do not match their commitment. */
export const listedWords = (
  commitment: string | null,
  revealed: Shown | null,
  [sealed, verb]: readonly [sealed: string, verb: "revealed" | "unsealed"],
  kind: Html = html``,
): Html => {
  if (revealed === null) return html`<span class="mark">${sealed}</span>`
  const { hiddenBy, salt, text } = revealed
  return text === null
    ? html`<span class="mark">${verb}, words hidden${hiddenBy === undefined ? "" : " by the operator"}</span>`
    : html`<span ${revealedParts(commitment, salt ?? "")}
        ><q ${kind} data-words-shown>${isolated(text)}</q> <span data-reveal-verdict></span
      ></span>`
}

export interface Revealing {
  readonly url: string
  /** The route's name for the words. */
  readonly name: "text" | "words"
  readonly commitment: string
  /** The page that shows them afterwards. */
  readonly shown: string
}

/** Publishes sealed words after checking them here; a stone calls it reveal and a candle unseal. */
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
        <b>This publishes the words and their salt for ever,</b> so that everyone can check that these words were
        sealed. They are checked here first and sent only if they match.
      </p>
      ${textField("reveal-salt", "Salt", html`data-salt minlength="${saltMinimum}" maxlength="${2 * saltMaximum}" required spellcheck="false"`)}${wordsField("reveal-words", "Words", html`data-words maxlength="8192" required`, "Words that look like a link, a wallet or an address are kept; neither they nor their salt are shown.")}
      <p><button class="button button--alarm">Check, then reveal</button></p>
      <div data-result role="status"></div>
    </form>
  </details>`
