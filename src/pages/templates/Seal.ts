/** Sealed words: how they are shown once revealed, and the form that checks and reveals them inside the page. */
import { saltMaximum, saltMinimum } from "../../../schema/altar/Recipe.ts"
import type { Reveal } from "../../../schema/altar/Reveal.ts"
import { type Html, html } from "../../platform/Html.ts"
import { fold } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { sealing, showing, textField, wordsField } from "./Offer.ts"
import { code } from "./RecordTable.ts"
import { isolated } from "./Words.ts"

type Shown = Pick<typeof Reveal.Type, "hiddenBy" | "salt" | "text">

/** The field for importing a saved file, which script reads in the page. */
export const takeField = (id: string): Html =>
  textField(
    [id, "Your saved file", mark("take"), html`type="file" accept=".json,application/json"`],
    "Choose it, or drop it here. It is read in this page only.",
    "take",
  )

/** The route that reveals words, and its name for them: a stone calls it reveal and a candle unseal. */
export interface Revealing {
  readonly url: string
  readonly name: "text" | "words"
}

/** A sentence about sealed words. Where this browser holds them, script shows them here to their owner. */
export const sealedPlace = (says: string, ofWhat = "words"): Html =>
  html`<div ${mark("owner")}>
    <p class="words quiet">${says}</p>
    <p class="doors scripted"><a class="button" href="#check">I have the ${ofWhat}</a></p>
  </div>`

/**
 * Checks salt and words against the commitment, and reveals them on their owner's order; `on` is the time of their act.
 * Its fields have no names, so no form can send them.
 */
export const wordsForm = (commitment: string, on?: string, revealing?: Revealing, isOfFile = false): Html =>
  fold(
    isOfFile
      ? "If it was a text: check or reveal it"
      : revealing !== undefined
        ? "Check these words, or reveal them to everyone"
        : commitment === ""
          ? "Or type words and their salt"
          : "Check words without sending them",
    html`<form
        class="pay scripted"
        id="check-form"
        ${mark("check", { reveal: revealing?.url, name: revealing?.name, on })}
        autocomplete="off"
        aria-label="Check words"
      >
        <div ${mark("filled")} role="status"></div>
        ${commitment !== "" && takeField("check-file")}
        ${textField(["check-salt", "Salt", mark("salt"), html`minlength="${saltMinimum}" maxlength="${2 * saltMaximum}" required spellcheck="false"`])}
        ${wordsField(["check-words", "Words", mark("words"), html`maxlength="8192" required`], "Spaces at the start and end are ignored.")}
        ${
          commitment === ""
            ? textField(
                [
                  "check-commitment",
                  "Commitment",
                  mark("commitment"),
                  html`pattern="[0-9a-f]{64}" required spellcheck="false"`,
                ],
                "64 lowercase hex digits",
              )
            : html`<input type="hidden" ${mark("commitment")} value="${commitment}" />`
        }
        <p class="doors"><button class="button">Check without sending</button></p>
        ${
          revealing === undefined
            ? ""
            : html`<p>
                  <b>Revealing publishes the words and their salt for ever,</b> so that everyone can check that these
                  words were sealed. They are checked here first and sent only if they match. Words that look like a
                  link, a wallet or an address are stored, but neither they nor their salt are displayed.
                </p>
                <p class="doors"><button class="button button--alarm" ${mark("reveals")}>Check and reveal</button></p>`
        }
        <div ${mark("result")} role="status"></div>
      </form>
      <p class="unscripted notice">
        This form needs script, because your words must not leave your machine.
        <a href="/verify#the-words-of-a-stone">How to check them in a terminal</a>.
      </p>
      <p class="small quiet">${sealing} ${showing}</p>`,
  )

/** The data for re-hashing revealed words: the commitment, and the salt in a form that no parser changes. */
export const revealedParts = (commitment: string | null, salt: string): Html =>
  mark("revealed", { revealed: commitment, saltShown: encodeURIComponent(salt) })

const hidden = (verb: string, hiddenBy: string | undefined): Html =>
  html`<p class="words quiet">
    The words were ${verb} and match the commitment.
    ${
      hiddenBy === undefined
        ? "They or their salt look like a link, a wallet or an address, so neither is shown."
        : "They are hidden by the operator, and so is their salt. A reader with words and salt can still check them against the commitment."
    }
  </p>`

/** The place of the page's verdict on revealed words, and what it computes; `on` is the time of their act. */
export const verdictOn = (salt: string, on: string | undefined): Html =>
  html`<div class="reserved scripted" ${mark("revealVerdict", { revealVerdict: "page", on })} role="status"></div>
    <p class="small quiet">The commitment is the SHA-256 of the salt <bdi>${code(salt)}</bdi> and these words.</p>`

/** Revealed words with their salt, and a place for the page's verdict on them. */
export const revealedWords = (
  commitment: string,
  { hiddenBy, salt, text }: Shown,
  verb: "revealed" | "unsealed",
  on: string | undefined,
): Html =>
  text === null || salt === null
    ? hidden(verb, hiddenBy)
    : html`<div ${revealedParts(commitment, salt)}>
        <blockquote class="words"><p dir="auto" ${mark("wordsShown")}>${text}</p></blockquote>
        ${verdictOn(salt, on)}
      </div>`

/** Words in a list; script marks those that do not match their commitment. */
export const listedWords = (
  commitment: string | null,
  revealed: Shown | null,
  [sealed, verb]: readonly [sealed: string, verb: "revealed" | "unsealed"],
): Html => {
  if (revealed === null) return html`<span class="mark">${sealed}</span>`
  const { hiddenBy, salt, text } = revealed
  return text === null
    ? html`<span class="mark">${verb}, words hidden${hiddenBy === undefined ? "" : " by the operator"}</span>`
    : html`<span ${revealedParts(commitment, salt ?? "")}
        ><q ${mark("wordsShown")}>${isolated(text)}</q>
        <span ${mark("revealVerdict", { revealVerdict: "", on: undefined })}></span
      ></span>`
}
