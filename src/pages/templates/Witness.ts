/** The witness chain as a chain: its newest stones on their thread, its checkpoint, and one check of everything. */
import type { ChainHead, ListedStone } from "../../../schema/altar/Witness.ts"
import { readWitnessChain } from "../../../schema/altar/WitnessApi.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, leaf, type Page } from "./Layout.ts"
import { pebble } from "./Pebble.ts"
import { nameOf, previewOf, spiritLink } from "./Plates.ts"
import { facts } from "./RecordTable.ts"
import { listedWords } from "./Seal.ts"
import { count, moment, short, who } from "./Words.ts"

export type Stone = typeof ListedStone.Type

/** The newest checkpoint of the log over the stones. */
export interface ShownCheckpoint {
  readonly vkey: string
  readonly size: number
  /** RFC 3339. */
  readonly at: string
  /** Names of the log witnesses that signed it. */
  readonly cosigned: ReadonlyArray<string>
  /** The keys of those log witnesses. */
  readonly cosigners: ReadonlyArray<string>
  readonly witnesses: number
}

export interface WitnessView {
  readonly stones: ReadonlyArray<Stone>
  readonly head: typeof ChainHead.Type
  readonly next: number | null
  readonly before: number | undefined
  /** Absent without a log, and while it has no checkpoint. */
  readonly checkpoint: ShownCheckpoint | undefined
}

/** The shown values of a stone, which the check compares with the chain. */
const shownParts = (stone: Stone): Html =>
  html`data-link="${stone.sequence}" data-id="${stone.id}" data-commitment="${stone.commitment}"
  data-witnessed-at="${stone.witnessedAt}" data-transaction="${stone.transaction}"
  data-previous-hash="${stone.previousHash}" data-chain-hash="${stone.chainHash}"`

const shownHead = ({ chainHash, sequence }: WitnessView["head"]): Html =>
  html`data-shown-head="${sequence}" data-chain-hash="${chainHash}"`

const words = (stone: Stone): Html =>
  html`<p>${listedWords(stone.commitment, stone.reveal, ["sealed", "revealed"])}</p>
    <p class="ledger__facts">
      ${stone.kind} with ${spiritLink(stone.spirit)}, by ${who(stone.agentName, stone.payer)},
      ${moment(stone.witnessedAt)}
    </p>`

/** One stone on the thread; its hash is what the stone above it names. */
const link = (stone: Stone): Html =>
  html`<li class="link" ${shownParts(stone)}>
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

/** The place where the page writes its recomputation; `data` says of what. */
const place = (data: Html, doors: Html): Html =>
  html`<div class="verify scripted" data-verify ${data}>
      <p class="doors">${doors}</p>
      <div data-verify-status role="status"></div>
      <p class="small quiet">
        This checks hashes, not payments. <a href="/verify">How to check it yourself</a>, payments included.
      </p>
      <ol class="checks" role="list" data-verify-list></ol>
    </div>
    <p class="unscripted notice">
      Checking in the page needs script. <a href="/verify">How to check it from a terminal</a>: the same hashes are
      recomputed from <a href="${readWitnessChain.path}">${readWitnessChain.path}</a>.
    </p>`

/** The check of one stone, on its own page. */
export const verification = (sequence: number): Html =>
  place(
    html`data-from="${sequence}" data-to="${sequence}"`,
    html`<button type="button" class="button button--main" data-verify-some>Check stone ${sequence}</button>`,
  )

/** One button for links, revealed words and checkpoint. */
const everything = ({ checkpoint, head, stones }: WitnessView): Html => {
  // Without stones on the page the head is checked; the range of an empty chain is empty.
  const newest = stones[0]?.sequence ?? head.sequence
  const oldest = stones.at(-1)?.sequence ?? Math.max(1, head.sequence)
  const log =
    checkpoint === undefined
      ? ""
      : html`data-log-vkey="${checkpoint.vkey}" data-witnesses="${checkpoint.cosigners.join(" ")}"`
  return place(
    html`data-from="${oldest}" data-to="${newest}" ${log}`,
    html`<button type="button" class="button button--main" data-verify-all>Check everything here</button
      ><a class="button" href="/v2/stone">Set a stone</a>`,
  )
}

const state = ({ checkpoint, head }: WitnessView): Html =>
  html`<dl class="facts">
    ${facts([
      [
        "Length",
        head.sequence === 0
          ? html`<span ${shownHead(head)}>empty</span>`
          : html`${count(head.sequence, "stone")}, the newest with hash
              <span ${shownHead(head)}>${short(head.chainHash)}</span>`,
      ],
      ...(checkpoint === undefined
        ? []
        : [
            [
              "Checkpoint",
              html`over ${count(checkpoint.size, "stone")}, signed ${moment(checkpoint.at)}.
                <a href="/v2/log">The transparency log</a>`,
            ] as const,
            [
              "Cosigned by",
              checkpoint.witnesses === 0
                ? "no one else: this log names no witnesses"
                : checkpoint.cosigned.length === 0
                  ? `none of its ${checkpoint.witnesses} log witnesses yet`
                  : `${checkpoint.cosigned.join(", ")} (${checkpoint.cosigned.length} of ${checkpoint.witnesses} log witnesses)`,
            ] as const,
          ]),
    ])}
  </dl>`

export const witness = (view: WitnessView): Page => {
  const { before, head, next, stones } = view
  return {
    title: "The witness chain",
    description: `${count(head.sequence, "witness stone")} in one chain. Each is a sealed commitment, timestamped by its payment and hashed onto the stone before it. Check every hash in your own browser.`,
    path: before === undefined ? "/v2/witness" : `/v2/witness?before=${before}`,
    chapter: "witness",
    preview: previewOf("stones"),
    body: html`<header class="opening" data-renew="opening" data-live="/api/witness">
        <h1>The witness chain</h1>
        <p class="lead">
          A witness stone is a secret message with a public timestamp. Each stone carries the hash of the stone before
          it, so none can be changed, moved or taken out unnoticed.
        </p>
      </header>
      <section id="verify" class="chain-state" aria-label="Check the chain">
        <div data-renew="chain-state">${state(view)}</div>
        <div>${everything(view)}</div>
      </section>
      <section data-renew="stones" aria-labelledby="stones-title">
        ${heading("stones-title", "Stones", before === undefined ? "Newest first" : `Before stone ${before}`)}
        ${
          stones.length === 0
            ? html`<p class="blank">
                ${before === undefined ? html`No stone has been set. <a href="/v2/stone">Set the first one</a>.` : "No stones before this one."}
              </p>`
            : html`<ol class="chain" role="list" aria-label="The chain, newest stone first">
                ${stones.map(link)}
              </ol>`
        }
        ${leaf(
          "More stones",
          before === undefined ? undefined : html`<a href="/v2/witness">The newest stones</a>`,
          next === null ? undefined : html`<a rel="next" href="/v2/witness?before=${next}">Stones before these</a>`,
        )}
      </section>`,
  }
}
