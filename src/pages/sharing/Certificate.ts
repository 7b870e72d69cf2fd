/** A printable certificate that proves a stone without this server: the link, its payment, and its place in the log. */
import { normalize } from "../../../schema/altar/Recipe.ts"
import { assetPath, preload } from "../../platform/Assets.ts"
import { type Html, html } from "../../platform/Html.ts"
import type { Receipt } from "../../../schema/payments/Payment.ts"
import { pebble, pebbleWords } from "../templates/Pebble.ts"
import type { Surroundings } from "../templates/Layout.ts"
import { code, recordTable, receiptTable } from "../templates/RecordTable.ts"
import { qrCode } from "./QrCode.ts"
import type { Stone } from "../templates/Witness.ts"
import { moment } from "../templates/Words.ts"

export interface CertificateView extends Pick<Surroundings, "money" | "publicUrl"> {
  readonly stone: Stone
  readonly receipt: Receipt
  /** The log's verifier key, and its `.tlog-proof` of the stone or why there is none; absent without a log. */
  readonly log: { readonly vkey: string; readonly proof: string | undefined } | undefined
}

export const certificatePath = (id: string) => `/witness/${id}/certificate`

/** A shell command with coreutils that computes the chain hash from the five parts. */
export const shellCheck = ({ commitment, previousHash, sequence, transaction, witnessedAt }: Stone): string =>
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

/** The same command for the commitment of revealed words and their salt. */
export const shellReveal = (salt: string, words: string): string =>
  `printf -- '${inFormat(salt)}\\000${inFormat(normalize(words))}' | sha256sum`

const reveal = ({ reveal: revealed }: Stone): Html =>
  revealed === null || revealed.text === null || revealed.salt === null
    ? html``
    : html`<section aria-labelledby="words">
        <h2 id="words">The revealed words</h2>
        ${recordTable([
          ["Words", html`<bdi>${revealed.text}</bdi>`],
          ["Salt", code(revealed.salt)],
        ])}
        <p>Revealed ${moment(revealed.revealedAt)}. The commitment is the SHA-256 of both:</p>
        <pre class="shell">${shellReveal(revealed.salt, revealed.text)}</pre>
      </section>`

const logProof = ({ proof, vkey }: NonNullable<CertificateView["log"]>, id: string, publicUrl: string): Html =>
  html`<section aria-labelledby="log">
    <h2 id="log">Its place in the transparency log</h2>
    ${recordTable([["Verifier key", code(vkey)]])}
    ${
      proof === undefined
        ? html`<p>The log's newest checkpoint does not cover this stone yet. Print this sheet again in a minute.</p>`
        : html`<pre>${proof}</pre>
            <p>
              The lines above are the file <code>stone.tlog-proof</code>:
              <code>spirit-altar verify-proof stone.tlog-proof --stone ${id} --vkey '…'</code>, or drop it at
              ${code(`${publicUrl}/v2/verify`)}.
            </p>`
    }
  </section>`

/** Without script, and in the colours of paper at any hour. */
export const certificate = ({ log, money, publicUrl, receipt, stone }: CertificateView): string => {
  const address = `${publicUrl}/witness/${stone.id}`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>Certificate of witness stone ${stone.sequence} · Spirit Altar</title>
        <meta
          name="description"
          content="A sheet to print: what witness stone ${stone.sequence} proves, and how to check it."
        />
        <link rel="canonical" href="${publicUrl}${certificatePath(stone.id)}" />
        <link rel="icon" href="/style/icon.svg" type="image/svg+xml" />
        ${preload("/type/vollkorn-roman.woff2")}
        <link rel="stylesheet" href="${assetPath("/certificate/page.css")}" />
      </head>
      <body data-money="${money}">
        <nav aria-label="Site">
          <a href="/witness/${stone.id}">Back to the stone</a>
          <p>One page of A4 or Letter: print it from your browser's menu.</p>
        </nav>
        <main class="sheet">
          <header>
            ${pebble(stone.commitment)}
            <div>
              <p>Spirit Altar</p>
              <h1>Certificate of witness stone ${stone.sequence}</h1>
              <p>${pebbleWords(stone.commitment)}, drawn from its commitment</p>
            </div>
            ${qrCode(address, "QR code of the address of this stone")}
          </header>
          <p class="statement">
            The commitment below existed no later than <strong>${moment(stone.witnessedAt)}</strong>.
            ${
              stone.reveal?.text == null
                ? "The owner of the sealed words and their salt can prove that they match."
                : "The words below were sealed: with their salt they give this commitment."
            }
            It is not legal notarization, and no proof of authorship or identity.
          </p>
          <section aria-labelledby="link">
            <h2 id="link">The link in the chain</h2>
            ${recordTable([
              ["Sequence", stone.sequence],
              ["Commitment", code(stone.commitment)],
              ["Witnessed", code(stone.witnessedAt)],
              ["Transaction", code(stone.transaction)],
              ["Hash before", code(stone.previousHash)],
              ["Chain hash", code(stone.chainHash)],
            ])}
            <p>
              The chain hash is the SHA-256 of the other five, in the order of this command and with a zero byte between
              them; the commitment is that of the salt, a zero byte and the words.
            </p>
            <pre class="shell">${shellCheck(stone)}</pre>
          </section>
          ${reveal(stone)}
          <section aria-labelledby="payment">
            <h2 id="payment">The payment</h2>
            ${receiptTable(receipt)}
          </section>
          ${log === undefined ? "" : logProof(log, stone.id, publicUrl)}
          <footer>${code(address)}</footer>
        </main>
      </body>
    </html> `.text
}
