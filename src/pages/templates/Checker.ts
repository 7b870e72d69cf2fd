/** The page that checks a dropped receipt file or log proof in the browser, by keys and without a request. */
import type { LogIdentity } from "../../log/PublishedLog.ts"
import { type Html, html } from "../../platform/Html.ts"
import type { Page } from "./Layout.ts"
import { previewOf } from "./Plates.ts"
import { facts } from "./RecordTable.ts"

export interface CheckerView {
  /** This server's logs, over the stones and over all acts; empty without one. */
  readonly logs: ReadonlyArray<LogIdentity>
  /** The keys that sign or signed receipts of this server, by their DID URL. */
  readonly keys: ReadonlyArray<{ readonly kid: string; readonly vkey: string }>
}

const field = (name: string, label: string, note: string, input: Html): Html =>
  html`<p class="ask">
    <label for="checker-${name}">${label}</label>${input}<small id="checker-${name}-note">${note}</small>
  </p>`

const line = (name: string, label: string, note: string, placeholder: string): Html =>
  field(
    name,
    label,
    note,
    html`<input
      class="field"
      id="checker-${name}"
      data-given="${name}"
      aria-describedby="checker-${name}-note"
      placeholder="${placeholder}"
      maxlength="3000"
      spellcheck="false"
      autocomplete="off"
    />`,
  )

const area = (name: string, label: string, note: string): Html =>
  field(
    name,
    label,
    note,
    html`<textarea
      class="field"
      id="checker-${name}"
      data-given="${name}"
      aria-describedby="checker-${name}-note"
      rows="4"
      spellcheck="false"
      autocomplete="off"
    ></textarea>`,
  )

const ofReceipt: Html = html`<div data-of="receipt">
  ${line("key", "Key of the receipts", "As its shop publishes it; compare it with a copy from elsewhere.", "receipts-1+6e596319+AepK…")}
  ${line("payTo", "Or the address that was paid", "Then the key counts that this address authorized in the file.", "0x…")}
</div>`

const ofProof: Html = html`<div data-of="proof">
  ${field(
    "kind",
    "What the log holds",
    "A proof shows that an entry is in a log. Say which entry you have.",
    html`<select class="field" id="checker-kind" data-given="kind" aria-describedby="checker-kind-note">
      <option value="stone">A stone of an altar</option>
      <option value="text">A text</option>
      <option value="file">A file</option>
      <option value="leaf">Only its leaf hash</option>
    </select>`,
  )}
  <div data-kind="stone text leaf">
    ${area("entry", "The entry", "A stone as JSON: its record, its receipt file, or what /api/witness/{id} answers. A text as it is. A leaf hash as 64 digits or Base64.")}
  </div>
  <div class="take" data-kind="stone file">
    ${field("entry-file", "The entry's file", "Read in this browser, and not sent.", html`<input class="field" id="checker-entry-file" type="file" data-entry-file aria-describedby="checker-entry-file-note" />`)}
  </div>
</div>`

const ofLog: Html = html`${line("vkey", "Key of the log", "Its verifier key, from elsewhere than the log.", "log.example/2026+0c3a9d11+AW…")}
${line("origin", "Origin of the log", "The first line of its checkpoints, where that is not the name of the key.", "log.example/2026")}
${area("policy", "Or a policy", "The text of a policy (C2SP tlog-policy): its log, its witnesses, and how many must have signed.")}`

export const checker = ({ keys, logs }: CheckerView): Page => ({
  title: "Check a receipt or a proof",
  description:
    "Drop a receipt file or a log proof, of this altar or of any other log. Your browser checks it, line by line and offline.",
  path: "/v2/verify",
  chapter: "witness",
  preview: previewOf("guide"),
  body: html`<header class="opening">
      <h1>Check a receipt or a proof</h1>
      <p class="lead">
        Drop the receipt file of an act (<code>.receipt.json</code>), or a <code>.tlog-proof</code> of any transparency
        log. Your browser checks each part of it, offline, and sends nothing.
      </p>
    </header>
    <section
      id="checker"
      class="chain-state"
      aria-label="Check a file"
      data-checker
      data-keys="${JSON.stringify(keys)}"
      data-logs="${JSON.stringify(logs.map((log, at) => ({ ...log, entries: at === 0 ? "stone" : "text" })))}"
    >
      <p class="unscripted">
        Without script, the command checks the same: <code>spirit-altar verify --receipt FILE</code> or
        <code>spirit-altar verify-proof FILE</code>.
      </p>
      <div class="scripted">
        <div class="ask take">
          <label for="checker-file">The file</label
          ><input class="field" id="checker-file" type="file" data-file aria-describedby="checker-file-note" /><small
            id="checker-file-note"
            >Choose it, or drop it anywhere on this page.</small
          >
        </div>
        <p class="ask">
          <label for="checker-text">Or its text</label
          ><textarea
            class="field"
            id="checker-text"
            data-text
            rows="4"
            spellcheck="false"
            autocomplete="off"
            placeholder="Paste a receipt file or a proof"
          ></textarea>
        </p>
        <form class="ask" data-asked hidden aria-label="What it is checked with">
          <details class="fold" data-with>
            <summary>What it is checked with</summary>
            ${ofReceipt}${ofProof}${ofLog}
          </details>
          <p><button class="button button--main">Check it</button></p>
        </form>
      </div>
      <div class="scripted verdicts">
        <div data-found role="status"></div>
        <div data-outcome role="status"></div>
        <ul class="steps" data-lines role="list" aria-label="The checks"></ul>
      </div>
    </section>
    <section aria-label="How to read the checks">
      <details class="fold">
        <summary>What checked, failed and unchecked mean</summary>
        <dl class="facts">
          ${facts([
            ["Checked", "Computed in this browser from the file and the keys above, and right."],
            ["Failed", "Computed, and wrong. Do not rely on the file."],
            [
              "Unchecked",
              "Neither. The file, the keys or this browser lack what the check needs, or a key is of another log; the line says what.",
            ],
          ])}
        </dl>
      </details>
      <p class="small quiet">
        The keys of this altar are filled in by this server. They prove more when you know them from elsewhere. How to
        check without this page: <a href="/verify">the manual</a>.
      </p>
    </section>`,
})
