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

/** The cosignatures, with the keys to check them. */
const cosignaturesOf = ({ cosigned, isWitnessed }: NonNullable<LogView["published"]>, witnesses: number): Html =>
  html`<p>
      ${count(cosigned.length, "log witness", "log witnesses")} of ${witnesses} signed this checkpoint, after checking
      that it continues the one before:
      ${isWitnessed ? "as many as this log asks for." : "fewer than this log asks for; it is published all the same, and they are asked again."}
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
  description:
    "Every witness stone is a leaf of a signed Merkle tree. Check in your own browser that the log only grew since you saw it last.",
  path: "/v2/log",
  chapter: "witness",
  preview: previewOf("guide"),
  body: html`<header class="opening">
      <h1>The transparency log</h1>
      <p class="lead">
        Every stone of <a href="/v2/witness">the witness chain</a> is also a leaf of a Merkle tree, whose state the log
        signs. One small file of it proves one stone, offline and for ever. Anyone with an old checkpoint can tell
        whether the history was rewritten since.
      </p>
      ${stopped ? html`<p class="words words--sealed">The log is stopped: it would contradict itself, so it signs nothing new until its operator resumes it. Published files stay.</p>` : ""}
    </header>
    <section aria-labelledby="check-title">
      ${heading("check-title", "Check it here", "Your browser checks the signature, and that the checkpoint continues the one it saw last.")}
      <div data-log data-vkey="${vkey}" data-witnesses="${published?.cosigned.map((one) => one.vkey).join(" ") ?? ""}">
        <p class="doors"><button class="button button--main" type="button">Check the log</button></p>
        <div data-log-status role="status"></div>
      </div>
    </section>
    <section aria-labelledby="checkpoint-title">
      ${heading("checkpoint-title", "The newest checkpoint")}
      ${
        published === undefined
          ? html`<p class="blank">No checkpoint can be shown now.</p>`
          : html`${recordTable([
                ["Stones", published.size],
                ["Signed", html`${moment(published.at)}, ${ageOf(published.at, now)} ago`],
                ["Origin", code(origin)],
                ["Verifier key", code(vkey)],
              ])}
              ${witnesses === 0 ? "" : cosignaturesOf(published, witnesses)}
              <pre class="long">${published.note}</pre>`
      }
      <p class="small quiet">
        <a href="/v2/verify">Check a receipt or a proof</a> reads a file of this or any other log. The key says who
        signed, if you know it from somewhere else than this page. The files of the log are below
        <a href="/log/checkpoint">/log/</a>. It proves that these stones are in it in this order; it does not prove who
        set them, nor that what they say is true.
      </p>
    </section>`,
})
