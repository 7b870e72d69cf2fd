/** The witness chain: its newest stones on their thread, one check of everything, and the log over them. */
import { type ChainHead, type ListedStone, readWitnessChain } from "../../../schema/altar/Witness.ts"
import type { LogIdentity } from "../../log/PublishedLog.ts"
import type { Cosigned } from "../../log/Witnesses.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, hrefOf, type Page, pager } from "./Layout.ts"
import { pebble } from "./Pebble.ts"
import { nameOf, previewOf, spiritLink } from "./Plates.ts"
import { code, recordTable } from "./RecordTable.ts"
import { listedWords } from "./Seal.ts"
import { count, moment, short, who } from "./Words.ts"

export type Stone = typeof ListedStone.Type

export interface LogView {
  readonly log: LogIdentity
  /** The newest checkpoint; absent before the first one and while the log is broken. */
  readonly published:
    | {
        readonly size: number
        readonly note: string
        /** RFC 3339. */
        readonly at: string
        readonly cosigned: ReadonlyArray<Cosigned>
        /** Whether there are as many as this server requires. */
        readonly isWitnessed: boolean
      }
    | undefined
  readonly witnesses: number
  /** Whether the log is stopped and covers nothing new. */
  readonly stopped: boolean
}

export interface WitnessView {
  readonly stones: ReadonlyArray<Stone>
  readonly head: typeof ChainHead.Type
  readonly next: number | null
  readonly before: number | undefined
  readonly log: LogView | undefined
}

const words = (stone: Stone): Html =>
  html`<p>${listedWords(stone.commitment, stone.reveal, ["sealed", "revealed"])}</p>
    <p class="ledger__facts">
      ${stone.kind} with ${spiritLink(stone.spirit)}, by ${who(stone.agentName, stone.payer)},
      ${moment(stone.witnessedAt)}
    </p>`

/** One stone on the thread; its hash is what the stone above it names. */
const link = (stone: Stone): Html =>
  html`<li class="link" data-link="${stone.sequence}" data-chain-hash="${stone.chainHash}">
    <a
      class="link__stone"
      href="/witness/${stone.id}"
      aria-label="Stone ${stone.sequence}, ${stone.kind}, with ${nameOf(stone.spirit)}"
      >${pebble(stone.commitment, "chain")}</a
    >
    <div class="link__words">
      <p class="link__head">
        <a class="link__number" href="/witness/${stone.id}">Stone ${stone.sequence}</a>
        <span class="link__hash">${short(stone.chainHash)}</span> <span class="link__verdict" data-verdict></span>
      </p>
      ${words(stone)}
    </div>
  </li>`

/** Stones with their words, if they were revealed. */
export const ledger = (stones: ReadonlyArray<Stone>, label: string): Html =>
  html`<ol class="ledger" role="list" aria-label="${label}">
    ${stones.map(
      (stone) =>
        html`<li>
          <a class="ledger__stone" href="/witness/${stone.id}"
            >${pebble(stone.commitment)}<span class="unseen">Witness stone </span
            ><span class="ledger__number">${stone.sequence}</span></a
          >
          ${words(stone)}
        </li>`,
    )}
  </ol>`

/** A button that recomputes links in the page, and the place of its verdict; `data` says which links. */
export const verification = (label: string, data: Html, door: Html = html``): Html =>
  html`<div class="verify scripted" data-verify ${data}>
      <p class="doors"><button type="button" class="button button--main">${label}</button>${door}</p>
      <div data-verify-status role="status"></div>
      <ol class="checks" role="list" data-verify-list></ol>
    </div>
    <p class="unscripted notice">
      Checking in the page needs script. <a href="/verify#yourself">How to check it from a terminal</a>, from
      <a href="${readWitnessChain.path}">${readWitnessChain.path}</a>.
    </p>`

const everything = ({ head, log }: WitnessView): Html => {
  const { cosigned = [] } = log?.published ?? {}
  const data =
    log?.published === undefined
      ? ""
      : html`data-log-vkey="${log.log.vkey}" data-witnesses="${cosigned.map(({ vkey }) => vkey).join(" ")}"`
  return verification(
    "Check everything",
    html`data-from="1" data-to="${head.sequence}" ${data}`,
    html`<a class="button" href="/v2/stone">Set a stone</a>`,
  )
}

/** Log witnesses are other parties that sign what they saw; each is listed with its key. */
const cosignaturesOf = ({ cosigned, isWitnessed }: NonNullable<LogView["published"]>, witnesses: number): Html =>
  html`<p>
      ${cosigned.length} of ${count(witnesses, "log witness", "log witnesses")} signed this checkpoint,
      ${isWitnessed ? "as many as this log asks for." : "fewer than this log asks for. The log asks them again."}
    </p>
    <ul>
      ${cosigned.map(
        ({ name, seconds, vkey }) =>
          html`<li>${name}, ${moment(new Date(seconds * 1000).toISOString())}<br />${code(vkey)}</li>`,
      )}
    </ul>`

const theLog = ({ log: { origin, vkey }, published, stopped, witnesses }: LogView): Html =>
  html`<section id="log" aria-labelledby="log-title">
    ${heading("log-title", "The transparency log", "A list that can only grow, which others can watch.")}
    ${stopped ? html`<p class="words words--sealed">The log is stopped: it would contradict itself, so it signs nothing new until its operator resumes it. Published files stay.</p>` : ""}
    <p class="column">
      The log signs a <b>checkpoint</b>: the number of stones, and one fingerprint of them all. Your browser compares it
      with the links that it hashes. A stone that was changed, removed or inserted will show. A stone's page has its
      <b>proof</b>: a small file that shows offline that the log has this stone.
    </p>
    ${
      published === undefined
        ? html`<p class="blank">No checkpoint can be shown now.</p>`
        : html`${recordTable([
              ["Stones", published.size],
              ["Signed", moment(published.at)],
              ["Name of the log", code(origin)],
              ["Its key", code(vkey)],
            ])}
            ${witnesses === 0 ? html`<p>This log has no witnesses.</p>` : cosignaturesOf(published, witnesses)}
            <details class="fold">
              <summary>The signed text, for programs</summary>
              <pre class="long">${published.note}</pre>
            </details>`
    }
    <p class="small quiet">
      The log uses a public format (C2SP tlog-tiles), which other tools read from
      <a href="/log/checkpoint">/log/checkpoint</a>. Compare its key with a copy from elsewhere.
    </p>
  </section>`

export const witness = (view: WitnessView): Page => {
  const { before, head, log, next, stones } = view
  return {
    title: "The witness chain",
    description: `${count(head.sequence, "witness stone")} in one chain. Each is a sealed commitment, timestamped by its payment and hashed onto the stone before it. Check every hash in your own browser.`,
    path: hrefOf("/v2/witness", { before }),
    chapter: "witness",
    preview: previewOf("stones"),
    body: html`<header class="opening">
        <h1>The witness chain</h1>
        <p class="lead">
          A witness stone is a secret message with a public timestamp. Each stone carries the hash of the stone before
          it, so none can be changed, moved or removed unnoticed.
        </p>
      </header>
      <section
        id="verify"
        aria-label="Check the chain"
        ${head.sequence === 0 ? "" : html`data-link="${head.sequence}" data-chain-hash="${head.chainHash}"`}
      >
        <p>
          ${head.sequence === 0 ? "The chain is empty." : html`${count(head.sequence, "stone")}, the newest with hash ${short(head.chainHash)}.`}
        </p>
        ${everything(view)}
      </section>
      <section aria-labelledby="stones-title">
        ${heading("stones-title", "Stones", before === undefined ? "Newest first" : `Before stone ${before}`)}
        ${
          stones.length === 0
            ? html`<p class="blank">
                ${before === undefined ? html`No stones yet. <a href="/v2/stone">Set the first one</a>.` : "No stones before this one."}
              </p>`
            : html`<ol class="chain" role="list" aria-label="The chain, newest stone first">
                ${stones.map(link)}
              </ol>`
        }
        ${pager("stones", { path: "/v2/witness", before, next })}
      </section>
      ${log === undefined ? "" : theLog(log)}`,
  }
}
