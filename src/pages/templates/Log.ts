/** The page of the log: its size, its signatures, and whether it only grew since this browser saw it last. */
import type { LogIdentity } from "../../log/PublishedLog.ts"
import type { Cosigned } from "../../log/Witnesses.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, type Page } from "./Layout.ts"
import { previewOf } from "./Plates.ts"
import { code, recordTable } from "./RecordTable.ts"
import { count, moment } from "./Words.ts"

export interface LogView {
  readonly log: LogIdentity
  /** The newest checkpoint; absent before the first one and while the log is broken. */
  readonly published:
    | {
        readonly size: number
        readonly note: string
        readonly at: string
        readonly cosigned: ReadonlyArray<Cosigned>
        /** Whether there are as many as this server requires. */
        readonly isWitnessed: boolean
      }
    | undefined
  readonly witnesses: number
  /** Whether the log is stopped and covers nothing new. */
  readonly stopped: boolean
  readonly now: number
}

const ageOf = (at: string, now: number) => {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1000))
  return seconds < 120 ? count(seconds, "second") : count(Math.round(seconds / 60), "minute")
}

/** Log witnesses are other parties that sign what they saw; each is listed with its key. */
const cosignaturesOf = ({ cosigned, isWitnessed }: NonNullable<LogView["published"]>, witnesses: number): Html =>
  html`<p>
      Log witnesses are other parties that check that a checkpoint continues the one before, and sign it too. Of
      ${witnesses}, ${cosigned.length} signed this one:
      ${isWitnessed ? "as many as this log asks for." : "fewer than this log asks for. It is published all the same, and they are asked again."}
    </p>
    ${
      cosigned.length === 0
        ? ""
        : html`<ul>
            ${cosigned.map(
              ({ name, seconds, vkey }) =>
                html`<li>${name}, ${moment(new Date(seconds * 1000).toISOString())}<br />${code(vkey)}</li>`,
            )}
          </ul>`
    }`

export const log = ({ log: { origin, vkey }, now, published, stopped, witnesses }: LogView): Page => ({
  title: "The transparency log",
  description: "Find out whether this altar ever changes its past: your browser checks that the log only grew.",
  path: "/v2/log",
  chapter: "witness",
  preview: previewOf("guide"),
  body: html`<header class="opening">
      <h1>The transparency log</h1>
      <p class="lead">
        Find out whether this altar ever changes its past. Check the log here today, and your browser remembers what it
        saw. Check it again on a later day: a stone that was changed, removed or slipped in between shows at once.
      </p>
      ${stopped ? html`<p class="words words--sealed">The log is stopped: it would contradict itself, so it signs nothing new until its operator resumes it. Published files stay.</p>` : ""}
    </header>
    <section aria-labelledby="check-title">
      ${heading("check-title", "Check it here", "In your own browser, against what it saw last.")}
      <div data-log data-vkey="${vkey}" data-witnesses="${published?.cosigned.map((one) => one.vkey).join(" ") ?? ""}">
        <p class="doors"><button class="button button--main" type="button">Check the log</button></p>
        <div data-log-status role="status"></div>
      </div>
    </section>
    <section aria-labelledby="how-title">
      ${heading("how-title", "How it works")}
      <p>
        A transparency log is a list that can only grow. Its entries are the stones of
        <a href="/v2/witness">the witness chain</a>, in their order. The log signs a <b>checkpoint</b>: the number of
        its stones, and one fingerprint of them all. Two checkpoints that do not fit together prove that the past was
        rewritten.
      </p>
      <p>
        A stone's page has its <b>proof</b>: a small file that shows, offline and for ever, that the log has this stone.
        <a href="/v2/verify">Check a proof or a receipt</a> reads the file of this or any other log.
      </p>
      <p>
        The log proves that these stones are in it, in this order. It does not prove who set them, nor that their words
        are true.
      </p>
    </section>
    <section aria-labelledby="checkpoint-title">
      ${heading("checkpoint-title", "The newest checkpoint")}
      ${
        published === undefined
          ? html`<p class="blank">No checkpoint can be shown now.</p>`
          : html`${recordTable([
                ["Stones", published.size],
                ["Signed", html`${moment(published.at)}, ${ageOf(published.at, now)} ago`],
                ["Name of the log", code(origin)],
                ["Its key", code(vkey)],
              ])}
              <p class="small quiet">
                The key checks the signature. It proves more when you know it from somewhere else than this page.
              </p>
              ${witnesses === 0 ? "" : cosignaturesOf(published, witnesses)}
              <details class="fold">
                <summary>The signed text, for programs</summary>
                <pre class="long">${published.note}</pre>
              </details>`
      }
      <p class="small quiet">
        The log stands in a public format (C2SP tlog-tiles, a Merkle tree of hashes), which other tools read from
        <a href="/log/checkpoint">/log/checkpoint</a>, as text.
      </p>
    </section>`,
})
