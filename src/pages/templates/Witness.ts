/** The witness chain: its newest stones on their thread, one check of everything, and the log over them. */
import { Option } from "effect"
import { type ChainHead, type ListedStone, readWitnessChain } from "../../../schema/altar/Witness.ts"
import type { LogIdentity } from "../../log/PublishedLog.ts"
import type { Published } from "../../log/LogStore.ts"
import { isCosigned, type Cosigners } from "../../log/Cosigners.ts"
import { type Html, html } from "../../platform/Html.ts"
import { blank, fold, hrefOf, opening, type Page, pager, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import { pebble } from "./Pebble.ts"
import { pebblePath } from "./PebblePath.ts"
import { spiritLink } from "./Plates.ts"
import { code, facts } from "./RecordTable.ts"
import { listedWords } from "./Seal.ts"
import { age, count, moment, short, who } from "./Words.ts"

export type Stone = typeof ListedStone.Type

/** The log over the stones; without a checkpoint before the first one and while the log is broken. */
interface LogView {
  readonly log: LogIdentity
  readonly checkpoint: Published | undefined
  readonly cosigners: Cosigners["Service"]
  readonly isStopped: boolean
}

const cosignedIn = ({ checkpoint, cosigners }: LogView) =>
  Option.getOrElse(cosigners.cosigned(checkpoint?.note ?? ""), () => [])

export interface WitnessView {
  readonly stones: ReadonlyArray<Stone>
  readonly head: typeof ChainHead.Type
  readonly next: number | null
  readonly before: number | undefined
  readonly log: LogView | undefined
  readonly now: number
}

/** `A sealed prediction`, or `An opened promise`; a hash is of a file or a text. */
export const kindOf = ({ kind, reveal }: Stone): string =>
  `${reveal === null ? "A sealed" : "An opened"} ${kind === "hash" ? "file or text" : kind}`

const kindWords = (stone: Stone, now: number): string => `${kindOf(stone)}, ${age(stone.witnessedAt, now)}`

/** One stone with its words, if they were revealed. On the thread its hash is what the stone above it names. */
const row = (stone: Stone, place: "chain" | "ledger", now: number): Html =>
  html`<li class="link" ${mark("link", { link: stone.sequence, chainHash: stone.chainHash })}>
    <a href="/witness/${stone.id}" tabindex="-1" aria-hidden="true">${pebble(stone.commitment, place)}</a>
    <div>
      <p>
        <a class="name" href="/witness/${stone.id}"
          >${stone.reveal === null ? kindWords(stone, now) : listedWords(stone.commitment, stone.reveal, ["", "revealed"])}</a
        >
      </p>
      <p class="small quiet">
        ${stone.reveal !== null && html`${kindWords(stone, now)}, `}with ${spiritLink(stone.spirit)}, by
        ${who(stone.agentName, stone.payer)}, ${moment(stone.witnessedAt)}
      </p>
      <p class="small quiet">
        Stone ${stone.sequence}, ${short(stone.chainHash)} <span class="link__verdict" ${mark("verdict")}></span>
      </p>
    </div>
  </li>`

/** Stones that are no neighbours in the chain. */
export const ledger = (stones: ReadonlyArray<Stone>, label: string, now: number): Html =>
  html`<ol class="ledger" role="list" aria-label="${label}">
    ${stones.map((stone) => row(stone, "ledger", now))}
  </ol>`

/** The links to check: one, or all up to `to` with the log over them. */
interface Links {
  readonly from: number
  readonly to?: number
  readonly logVkey?: string
  readonly cosigners?: string
}

/** A button that recomputes links in the page, and the place of its verdict. */
export const verification = (label: string, links: Links, door: Html = html``): Html =>
  html`<div
      class="verify scripted"
      ${mark("verify", { to: undefined, logVkey: undefined, cosigners: undefined, ...links })}
    >
      <p class="doors"><button type="button" class="button button--main">${label}</button>${door}</p>
      <div role="status"></div>
      <ol class="checks" role="list"></ol>
    </div>
    <p class="unscripted notice">
      Checking in the page needs script. <a href="/verify#yourself">How to check it from a terminal</a>, from
      <a href="${readWitnessChain.path}">${readWitnessChain.path}</a>.
    </p>`

const everything = ({ head, log }: WitnessView): Html => {
  const keys = log?.checkpoint && {
    logVkey: log.log.vkey,
    cosigners: cosignedIn(log)
      .map(({ vkey }) => vkey)
      .join(" "),
  }
  return verification(
    "Check everything",
    { from: 1, to: head.sequence, ...keys },
    html`<a class="button" href="/v2/stone">Set a stone</a>`,
  )
}

/** Cosigners are other parties that sign what they saw; each is listed with its key. */
const cosignatures = (view: LogView, { note }: Published): Html => {
  const cosigned = cosignedIn(view)
  const total = Option.match(view.cosigners.policy, { onNone: () => 0, onSome: ({ cosigners }) => cosigners.length })
  if (total === 0) return html`<p>No independent cosigner signs this log yet.</p>`
  return html`<p>
      ${cosigned.length} of ${count(total, "cosigner", "cosigners")} signed this checkpoint,
      ${isCosigned(view.cosigners, note) ? "as many as this log asks for." : "fewer than this log asks for. The log asks them again."}
    </p>
    <ul>
      ${cosigned.map(
        ({ name, seconds, vkey }) =>
          html`<li>${name}, ${moment(new Date(seconds * 1000).toISOString())}<br />${code(vkey)}</li>`,
      )}
    </ul>`
}

const theLog = (view: LogView): Html => {
  const { checkpoint, isStopped, log } = view
  return section(
    "log",
    "The transparency log",
    "A list that can only grow, which others can watch.",
    isStopped &&
      html`<p class="notice">
        The log is stopped: it would contradict itself, so it signs nothing new until its operator resumes it. Published
        files stay.
      </p>`,
    html`<p>
      The log signs a <b>checkpoint</b>: the number of stones, and one fingerprint of them all. Your browser compares it
      with the links that it hashes. A stone that was changed, removed or inserted will show. A stone's page has its
      <b>proof</b>: a small file that shows offline that the log has this stone.
    </p>`,
    checkpoint === undefined
      ? blank("No checkpoint can be shown now.")
      : html`${facts([
          ["Stones", checkpoint.size],
          ["Signed", moment(checkpoint.at.toISOString())],
          ["Name of the log", code(log.origin)],
          ["Its key", code(log.vkey)],
        ])}
        ${cosignatures(view, checkpoint)} ${fold("The signed text, for programs", html`<pre>${checkpoint.note}</pre>`)}`,
    html`<p class="small quiet">
      The log uses a public format (C2SP tlog-tiles), which other tools read from
      <a href="/log/checkpoint">/log/checkpoint</a>. Compare its key with a copy from elsewhere.
    </p>`,
  )
}

export const witness = (view: WitnessView): Page => {
  const { before, head, log, next, now, stones } = view
  const isEmpty = head.sequence === 0
  const none = html`No stones yet. <a href="/v2/stone">Set the first one</a>.`
  return {
    title: "The witness chain",
    description: `${count(head.sequence, "witness stone")} in one chain. Each is a sealed commitment, timestamped by its payment and hashed onto the stone before it. Check every hash in your own browser.`,
    path: hrefOf("/v2/witness", { before }),
    chapter: "witness",
    preview: "stones",
    body: html`${opening(
        "The witness chain",
        "A witness stone is a secret message with a public timestamp. Each stone carries the hash of the stone before it, so none can be changed, moved or removed unnoticed.",
      )}
      <section
        id="verify"
        aria-label="Check the chain"
        ${isEmpty ? "" : mark("link", { link: head.sequence, chainHash: head.chainHash })}
      >
        <p>
          ${isEmpty ? "The chain is empty." : html`${count(head.sequence, "stone")}, the newest with hash ${short(head.chainHash)}.`}
        </p>
        ${everything(view)}
      </section>
      ${section(
        "stones",
        "Stones",
        before === undefined ? "Newest first" : `Before stone ${before}`,
        stones.length === 0
          ? blank(before === undefined ? none : "No stones before this one.")
          : html`${pebblePath(stones, "chain", next !== null)}
              <ol class="chain" role="list" aria-label="The chain, newest stone first">
                ${stones.map((stone) => row(stone, "chain", now))}
              </ol>`,
        pager("stones", { path: "/v2/witness", before, next }),
      )}
      ${log && theLog(log)}`,
  }
}
