/** The page of one stone: its proof, its link recomputed step by step, and its revealed words. */
import { hiddenByOperator } from "../../../schema/altar/Hidden.ts"
import type { StoneDate } from "../../../schema/altar/StoneDate.ts"
import { normalize } from "../../../schema/altar/Recipe.ts"
import { readWitnessStone, revealWitnessStone, setWitnessStone } from "../../../schema/altar/Witness.ts"
import type { Receipt } from "../../../schema/payments/Payment.ts"
import { witnessing } from "../../altar/witness/StoneRow.ts"
import type { LogIdentity } from "../../log/PublishedLog.ts"
import { filled } from "../../payments/Act.ts"
import { type Html, html } from "../../platform/Html.ts"
import { pictureOf } from "../pictures/Card.ts"
import { receiptLinks, shareRow } from "./Act.ts"
import { folio, more, type Page, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { pebble, pebbleWords } from "./Pebble.ts"
import { nameOf, spiritLink } from "./Plates.ts"
import { code, evidence, facts, isUndone, receiptTable, transactionOf } from "./RecordTable.ts"
import { revealedParts, revealedWords, sealedPlace, verdictOn, wordsForm } from "./Seal.ts"
import { fileField } from "./SetStone.ts"
import { kindOf, type Stone, verification } from "./Witness.ts"
import { capitalized, dayWords, moment, timeWords, who } from "./Words.ts"

/** Computes the chain hash from the five parts of a link. */
const linkCommand = ({ commitment, previousHash, sequence, transaction, witnessedAt }: Stone): string =>
  `printf '%s\\0%s\\0%s\\0%s\\0%s' ${[previousHash, sequence, commitment, witnessedAt, transaction].join(" ")} | sha256sum`

/** Characters that a shell's line editor or the format of `printf` would not keep. */
const special = /[\p{C}\p{Zl}\p{Zp}\\%']/gu
const utf8 = new TextEncoder()
const octal = (byte: number) => `\\${byte.toString(8).padStart(3, "0")}`

/** Escapes any text for the quoted format of `printf`, on one line. */
const inFormat = (text: string) => text.replaceAll(special, (sign) => [...utf8.encode(sign)].map(octal).join(""))

/** Computes the commitment from revealed words and their salt. */
const wordsCommand = (salt: string, words: string): string =>
  `printf -- '${inFormat(salt)}\\000${inFormat(normalize(words))}' | sha256sum`

export interface StoneView {
  readonly stone: Stone
  readonly dated: typeof StoneDate.Type
  /** Sequence of the newest stone. */
  readonly newest: number
  readonly receipt: Receipt
  readonly publicUrl: string
  /** Absent where this server has no log. */
  readonly log: LogIdentity | undefined
  /** Whether this server has receipt keys. */
  readonly isSigning: boolean
}

/** The revealed words where they fit a title; the stone's number otherwise. */
const titleWords = ({ reveal }: Stone): string | undefined => {
  const words = reveal?.salt === null ? null : reveal?.text
  return words == null || words.length > 90 || words.includes("\n") ? undefined : words
}

/** When the words existed at the latest; undefined where their payment was lost. */
const existedOn = ({ dated, receipt, stone }: StoneView) =>
  receipt.finality === "lost" ? undefined : (dated.time ?? stone.witnessedAt)

const reveal = (view: StoneView): Html => {
  const { stone } = view
  const { commitment, reveal: revealed } = stone
  if (revealed === null)
    return stone.kind === "hash"
      ? sealedPlace(
          "The fingerprint of a file or a text is sealed. The same file, or the text with its salt, shows at any later time that it existed then.",
          "file or text",
        )
      : sealedPlace(
          "The words are sealed. Only their fingerprint, the commitment, is public. Their owner can reveal them, free and once.",
        )
  const by = revealed.agentName === null ? "" : html`by ${who(revealed.agentName, "")}, `
  return html`${titleWords(stone) === undefined ? revealedWords(commitment, revealed, "revealed", existedOn(view)) : verdictOn(revealed.salt ?? "", existedOn(view))}
    <p class="small quiet">Revealed ${by}${moment(revealed.revealedAt)}</p>`
}

/** The state of a stone's words, for search results and shared links. */
const summary = (stone: Stone): string => {
  const { reveal: revealed } = stone
  if (revealed === null) return "Its words are sealed."
  if (revealed.text === null) return "The words were revealed and are not shown."
  return titleWords(stone) === undefined ? `“${revealed.text}”` : `Opened ${dayWords(revealed.revealedAt)}.`
}

/** The title is the words themselves, which the page hashes. */
const textOf = (view: StoneView): Html => {
  const { dated, publicUrl, receipt, stone } = view
  const title = titleWords(stone)
  return html`<div ${title === undefined ? "" : revealedParts(stone.commitment, stone.reveal?.salt ?? "")}>
    <p class="text__over">${kindOf(stone)}${title === undefined ? "" : `, stone ${stone.sequence}`}</p>
    ${title === undefined ? html`<h1>Witness stone ${stone.sequence}</h1>` : html`<h1 dir="auto">“<span ${mark("wordsShown")}>${title}</span>”</h1>`}
    <p class="text__epithet">
      Set by ${who(stone.agentName, stone.payer)} with ${spiritLink(stone.spirit)}, ${moment(stone.witnessedAt)}
    </p>
    ${reveal(view)}
    ${facts([
      ["Commitment", code(stone.commitment)],
      ["Transaction", transactionOf(receipt.explorerUrl, stone.transaction)],
    ])}
    <p class="small quiet">${dated.says} The stone is not notarized and does not prove who wrote the words.</p>
    ${shareRow(`${publicUrl}/witness/${stone.id}`)}
  </div>`
}

const proof = (stone: Stone, log: LogIdentity): Html =>
  section(
    "proof",
    "Its place in the log",
    "A small file that proves offline, for ever, that the log has this stone.",
    html`<p class="doors">
        <a class="button" href="/api/witness/${stone.id}/proof" download="stone-${stone.sequence}.tlog-proof"
          >Download the proof</a
        >
        <a class="button" href="/verify">Check the downloaded file</a>
      </p>
      <p class="small quiet">
        The verifier key of <a href="/v2/witness#log">the log</a>, to compare with a copy from an independent source:
        ${code(log.vkey)}
      </p>`,
  )

/** The link as facts, with the commands that compute its hashes. */
const link = (stone: Stone): Html =>
  section(
    "link",
    "The link",
    "",
    facts([
      ["Sequence", stone.sequence],
      ["Commitment", code(stone.commitment)],
      ["Witnessed", code(stone.witnessedAt)],
      ["Transaction", code(stone.transaction)],
      ["Hash before", html`${code(stone.previousHash)}${stone.sequence === 1 ? " 64 zeros: the first stone" : ""}`],
      ["Chain hash", code(stone.chainHash)],
    ]),
    html`<p class="small quiet">${stone.verify.recipe}</p>
      <p>This command computes the chain hash from the other five parts:</p>
      <pre class="long command">${linkCommand(stone)}</pre>
      ${
        stone.reveal?.text == null || stone.reveal.salt === null
          ? ""
          : html`<p>And this one the commitment from the salt and the words:</p>
              <pre class="long command">${wordsCommand(stone.reveal.salt, stone.reveal.text)}</pre>`
      }`,
  )

const stoneAct = { act: setWitnessStone.identifier, actText: witnessing }

const revealing = (stone: Stone) =>
  stone.reveal === null
    ? ({ url: filled(revealWitnessStone.path, { witnessId: stone.id }), name: "text" } as const)
    : undefined

export const stone = (view: StoneView): Page => {
  const { isSigning, log, newest, receipt, stone } = view
  const { commitment, id, kind, sequence } = stone
  const words = titleWords(stone)
  const mayBeFile = kind === "hash" && stone.reveal === null
  return {
    title: words === undefined ? `Witness stone ${sequence}` : `“${words}”`,
    description: `${capitalized(kind)} with ${nameOf(stone.spirit)}, witnessed ${timeWords(stone.witnessedAt)}. ${summary(stone)}`,
    path: `/witness/${id}`,
    chapter: "witness",
    preview: "stones",
    picture:
      !isUndone(receipt) &&
      pictureOf(id, { ...stoneAct, record: stone, reveal: stone.reveal, settledAt: stone.witnessedAt }),
    body: html`${folio(
      html`<figure class="plate plate--stone" ${mark("link", { link: sequence, chainHash: stone.chainHash })}>
        ${pebble(commitment)}
        <figcaption>
          <span class="mark">${pebbleWords(commitment)}</span>
          <span class="link__verdict" ${mark("verdict")}></span>
        </figcaption>
      </figure>`,
      textOf(view),
    )}
    ${section(
      "check",
      "Check it here",
      "Your browser recomputes this link of the chain.",
      verification(`Check stone ${sequence}`, { from: sequence }),
      mayBeFile &&
        html`<div class="scripted" ${mark("fileCheck", { fileCheck: commitment })}>${fileField("The file", "")}</div>`,
      wordsForm(commitment, existedOn(view), revealing(stone), mayBeFile),
    )}
    ${evidence(
      isUndone(receipt),
      log === undefined ? "link and receipt" : "link, place in the log, receipt",
      link(stone),
      log && proof(stone, log),
      section("receipt", "Receipt", "", receiptTable(receipt)),
    )}
    ${more(
      "The chain",
      sequence > 1 && html`<a rel="prev" href="/v2/acts?q=${sequence - 1}">Previous: stone ${sequence - 1}</a>`,
      sequence < newest
        ? html`<a rel="next" href="/v2/acts?q=${sequence + 1}">Next: stone ${sequence + 1}</a>`
        : html`<span>The newest stone</span>`,
      html`<a href="/v2/witness">The whole chain</a>`,
      html`<a href="/v2/wallets/${stone.payer.toLowerCase()}">The record of its wallet</a>`,
      html`<a href="${filled(readWitnessStone.path, { witnessId: id })}">This stone as JSON, for programs</a>`,
      isSigning && stone.agentName !== hiddenByOperator && receiptLinks(`/witness/${id}`, `stone-${sequence}`),
    )}`,
  }
}
