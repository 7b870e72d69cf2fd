/** The page of one stone: its proof, its link recomputed step by step, and its revealed words. */
import { hiddenByOperator } from "../../../schema/altar/Hidden.ts"
import { readWitnessStone, revealWitnessStone } from "../../../schema/altar/Witness.ts"
import type { Receipt } from "../../../schema/payments/Payment.ts"
import { code, evidence, receiptTable, recordTable } from "./RecordTable.ts"
import { type Html, html } from "../../platform/Html.ts"
import { filled } from "../../payments/Act.ts"
import { heading, type Page } from "./Layout.ts"
import { pebble, pebbleWords } from "./Pebble.ts"
import { nameOf, previewOf, spiritLink } from "./Plates.ts"
import type { LogIdentity } from "../../log/PublishedLog.ts"
import { checkForm, revealedParts, revealedWords, revealForm, verdictOn } from "./Seal.ts"
import { shareRow } from "./ShareRow.ts"
import { type Stone, verification } from "./Witness.ts"
import { kindWords } from "./Glossary.ts"
import { localMoment, timeWords, who } from "./Words.ts"
import { normalize } from "../../../schema/altar/Recipe.ts"

/** Computes the chain hash from the five parts of a link. */
export const linkCommand = ({ commitment, previousHash, sequence, transaction, witnessedAt }: Stone): string =>
  `printf '%s\\0%s\\0%s\\0%s\\0%s' ${[previousHash, sequence, commitment, witnessedAt, transaction].join(" ")} | sha256sum`

/** Control and format characters, which a shell's line editor would obey when pasted. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu
const utf8 = new TextEncoder()
const octal = (byte: number) => `\\${byte.toString(8).padStart(3, "0")}`

/** Escapes any text for the quoted format of `printf`, on one line. */
const inFormat = (text: string) =>
  text
    .replaceAll("\\", "\\\\")
    .replaceAll("%", "%%")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
    .replaceAll("'", `'\\''`)
    .replaceAll(unprintable, (one) => [...utf8.encode(one)].map(octal).join(""))

/** Computes the commitment from revealed words and their salt. */
export const wordsCommand = (salt: string, words: string): string =>
  `printf -- '${inFormat(salt)}\\000${inFormat(normalize(words))}' | sha256sum`

export interface StoneView {
  readonly stone: Stone
  /** Sequence of the newest stone. */
  readonly newest: number
  readonly receipt: Receipt
  readonly publicUrl: string
  /** Absent where this server has no log. */
  readonly log: LogIdentity | undefined
  /** Whether this server has receipt keys. */
  readonly isSigning: boolean
}

const reveal = (one: Stone): Html => {
  const { commitment, reveal: revealed } = one
  return revealed === null
    ? html`<p class="words words--sealed" data-while-sealed>
        The words are sealed. Only their fingerprint is public, the commitment. Their owner may reveal them, free and
        once.
      </p>`
    : html`${titleWords(one) === undefined ? revealedWords(commitment, revealed, "revealed") : verdictOn(revealed.salt ?? "")}
        <p class="small quiet">
          Revealed
          ${revealed.agentName === null ? "" : html`by ${who(revealed.agentName, "")}, `}${localMoment(revealed.revealedAt)}
        </p>`
}

/** The revealed words where they fit a title; the stone's number otherwise. */
const titleWords = ({ reveal: revealed }: Stone): string | undefined => {
  const words = revealed?.salt === null ? null : revealed?.text
  return words == null || words.length > 90 || words.includes("\n") ? undefined : words
}

const titleOf = (one: Stone): string => {
  const words = titleWords(one)
  return words === undefined ? `Witness stone ${one.sequence}` : `“${words}”`
}

/** The title is the words themselves, which the page hashes. */
const headingOf = (one: Stone): Html => {
  const words = titleWords(one)
  return words === undefined
    ? html`<h1>Witness stone ${one.sequence}</h1>`
    : html`<h1 dir="auto" class="text__words">“<span data-words-shown>${words}</span>”</h1>`
}

/** The state of a stone's words, for search results and shared links. */
const summary = ({ reveal: revealed }: Stone): string => {
  if (revealed === null) return "The words are sealed."
  return revealed.text === null ? "The words were revealed and are not shown." : `“${revealed.text}”`
}

/** The members of a stone that the log covers, and no others. */
const leafOf = ({ chainHash, commitment, previousHash, sequence, transaction, witnessedAt }: Stone) =>
  JSON.stringify({ sequence, commitment, witnessedAt, transaction, previousHash, chainHash })

const proof = (one: Stone, log: LogIdentity): Html =>
  html`<section id="proof" aria-labelledby="proof-title">
    ${heading("proof-title", "Its place in the log", "A small file that proves offline, for ever, that the log has this stone.")}
    <div data-proof="/api/witness/${one.id}/proof" data-stone="${leafOf(one)}" data-vkey="${log.vkey}">
      <p class="doors">
        <a class="button" href="/api/witness/${one.id}/proof" download="stone-${one.sequence}.tlog-proof"
          >Download the proof</a
        >
        <button class="button" type="button">Check the proof here</button>
      </p>
      <div data-log-status role="status"></div>
      <ol class="checks" role="list" data-log-list></ol>
    </div>
    <p class="small quiet">
      Checked with the verifier key of <a href="/v2/witness#log">the log</a>, which you should know from somewhere else,
      too: ${code(log.vkey)}
    </p>
  </section>`

/** Hashes a file here and compares it with the commitment. */
const fileCheck = (commitment: string): Html =>
  html`<div class="ask take scripted" data-file-check="${commitment}">
    <label for="stone-file">The file</label><input class="field" id="stone-file" type="file" data-file /><small
      >Choose it, or drop it here. It is hashed in this browser and not sent.</small
    >
    <div data-file-said role="status"></div>
  </div>`

/** The link as facts, each marked for the check in the page. */
const link = (one: Stone): Html =>
  html`<section aria-labelledby="link-title">
    ${heading("link-title", "The link")}${recordTable([
      ["Sequence", one.sequence],
      ["Commitment", code(one.commitment)],
      ["Witnessed", code(one.witnessedAt)],
      ["Transaction", code(one.transaction)],
      [
        "Hash before",
        one.sequence === 1
          ? html`${code(one.previousHash)} <small>64 zeros: the first stone</small>`
          : code(one.previousHash),
      ],
      ["Chain hash", code(one.chainHash)],
    ])}
    <p class="small quiet">${one.verify.recipe}</p>
    <p>This command computes the chain hash from the other five parts:</p>
    <pre class="long command">${linkCommand(one)}</pre>
    ${
      one.reveal?.text == null || one.reveal.salt === null
        ? ""
        : html`<p>And this one the commitment from the salt and the words:</p>
            <pre class="long command">${wordsCommand(one.reveal.salt, one.reveal.text)}</pre>`
    }
  </section>`

const paid = (receipt: Receipt): Html =>
  html`<section aria-labelledby="receipt-title">
    ${heading("receipt-title", "Receipt")}${receiptTable(receipt)}
  </section>`

export const stone = ({ isSigning, log, newest, publicUrl, receipt, stone: one }: StoneView): Page => {
  return {
    title: titleOf(one),
    description: `${one.kind[0]?.toUpperCase()}${one.kind.slice(1)} with ${nameOf(one.spirit)}, witnessed ${timeWords(one.witnessedAt)}. ${summary(one)}`,
    path: `/witness/${one.id}`,
    chapter: "witness",
    preview: previewOf("stones"),
    body: html`<article class="folio folio--stone">
        <div class="folio__plate">
          <figure class="plate plate--stone" data-link="${one.sequence}" data-chain-hash="${one.chainHash}">
            ${pebble(one.commitment)}
            <figcaption>
              <span class="plate__number">Stone ${one.sequence}</span>
              <span class="plate__kin">${pebbleWords(one.commitment)}</span>
              <span class="link__verdict" data-verdict></span>
            </figcaption>
          </figure>
        </div>
        <div class="text" ${titleWords(one) === undefined ? "" : revealedParts(one.commitment, one.reveal?.salt ?? "")}>
          <p class="text__over">Witness stone ${one.sequence}, ${one.kind}: ${kindWords[one.kind]}</p>
          ${headingOf(one)}
          <p class="text__epithet">
            Set by ${who(one.agentName, one.payer)} with ${spiritLink(one.spirit)}, ${localMoment(one.witnessedAt)}
          </p>
          ${reveal(one)}
          <p class="small quiet">
            The stone proves that this commitment existed no later than its payment. It is not notarized and does not
            prove who wrote the words.
          </p>
          ${shareRow(`${publicUrl}/witness/${one.id}`)}
        </div>
      </article>
      <section aria-labelledby="check-title">
        ${heading("check-title", "Check it here", "Your browser recomputes this link of the chain.")}
        ${verification(`Check stone ${one.sequence}`, html`data-from="${one.sequence}"`)}
        <div id="check" class="column">
          ${one.kind === "hash" ? fileCheck(one.commitment) : ""}${checkForm(one.commitment)}${one.reveal === null ? revealForm({ url: filled(revealWitnessStone.path, { witnessId: one.id }), name: "text", commitment: one.commitment, shown: `/witness/${one.id}` }) : ""}
        </div>
      </section>
      ${evidence(receipt, log === undefined ? "link and receipt" : "link, place in the log, receipt", link(one), log === undefined ? html`` : proof(one, log), paid(receipt))}
      <nav class="leaf" aria-label="The chain">
        ${one.sequence === 1 ? "" : html`<a rel="prev" href="/v2/acts?q=${one.sequence - 1}">Previous: stone ${one.sequence - 1}</a>`}
        ${one.sequence < newest ? html`<a rel="next" href="/v2/acts?q=${one.sequence + 1}">Next: stone ${one.sequence + 1}</a>` : html`<span>The newest stone</span>`}<a
          href="/v2/witness"
          >The whole chain</a
        ><a href="${filled(readWitnessStone.path, { witnessId: one.id })}">This stone as JSON, for programs</a
        >${isSigning && one.agentName !== hiddenByOperator ? html`<a href="/witness/${one.id}.receipt.json" download="stone-${one.sequence}.receipt.json">Its receipt file</a>` : ""}<a
          href="/verify"
          >Check a receipt or proof</a
        >
      </nav>`,
  }
}
