/** The witness chain as a strip of stones, with its check, its search and the form that sets a stone. */
import { wordsMaximum } from "../../../schema/altar/Recipe.ts"
import { type ChainHead, type ListedStone, setWitnessStone, StoneKind } from "../../../schema/altar/Witness.ts"
import { readWitnessChain } from "../../../schema/altar/WitnessApi.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, leaf, type Page } from "./Layout.ts"
import { nameField, notConfigured, offer, type Payment, wordsField } from "./Offer.ts"
import { pebble, pebbleAgain } from "./Pebble.ts"
import { plates, nameOf, previewOf, spiritLink } from "./Plates.ts"
import { checkForm, listedWords, sealForm } from "./Seal.ts"
import { kindsHint, sealing } from "./Glossary.ts"
import { count, moment, price, short, who } from "./Words.ts"

export type Stone = typeof ListedStone.Type

export interface Found {
  readonly asked: string
  /** The scope of the search and its limits. */
  readonly scope: string
  readonly hits: ReadonlyArray<{ readonly path: string; readonly words: string; readonly at: string }>
}

export interface WitnessView {
  readonly stones: ReadonlyArray<Stone>
  readonly head: typeof ChainHead.Type
  readonly next: number | null
  readonly before: number | undefined
  readonly found: Found | undefined
  readonly payment: Payment
  readonly publicUrl: string
}

/** The shown values of a stone, which the check compares with the chain. */
const shownParts = (stone: Stone): Html =>
  html`data-link="${stone.sequence}" data-id="${stone.id}" data-commitment="${stone.commitment}"
  data-witnessed-at="${stone.witnessedAt}" data-transaction="${stone.transaction}"
  data-previous-hash="${stone.previousHash}" data-chain-hash="${stone.chainHash}"`

const shownHead = ({ chainHash, sequence }: WitnessView["head"]): Html =>
  html`data-shown-head="${sequence}" data-chain-hash="${chainHash}"`

const strip = (stones: ReadonlyArray<Stone>): Html =>
  html`<div class="strip" data-renew="strip" role="region" aria-label="The chain, newest stone first" tabindex="0">
    <ol role="list">
      ${stones.map(
        (stone) =>
          html`<li class="link" ${shownParts(stone)}>
            <a href="/witness/${stone.id}"
              >${pebble(stone.commitment, "strip")}<span class="link__number">${stone.sequence}</span
              ><span class="unseen">, ${stone.kind}, with ${nameOf(stone.spirit)}</span></a
            ><span class="link__hash" aria-hidden="true">${stone.chainHash.slice(0, 6)}</span
            ><span class="link__verdict" data-verdict></span>
          </li>`,
      )}
    </ol>
  </div>`

/** Stones with their words, if they were revealed. */
export const ledger = (
  stones: ReadonlyArray<Stone>,
  label: string,
  drawing: (commitment: string) => Html = pebble,
): Html =>
  html`<ol class="ledger" role="list" aria-label="${label}">
    ${stones.map(
      (stone) =>
        html`<li>
          <a class="ledger__stone" href="/witness/${stone.id}"
            >${drawing(stone.commitment)}<span class="unseen">Witness stone </span
            ><span class="ledger__number">${stone.sequence}</span></a
          >
          <p>${listedWords(stone.commitment, stone.reveal, ["sealed", "revealed"])}</p>
          <p class="ledger__facts">
            ${stone.kind} with ${spiritLink(stone.spirit)}, by ${who(stone.agentName, stone.payer)},
            ${moment(stone.witnessedAt)}
          </p>
        </li>`,
    )}
  </ol>`

/** The place where the page writes its recomputation. */
export const verification = (from: number, to: number, head: number): Html =>
  html`<div class="verify scripted" data-verify data-from="${from}" data-to="${to}" data-head="${head}">
      <p class="doors">
        <button type="button" class="button button--main" data-verify-some>
          Check ${to < from ? "the empty chain" : from === to ? `stone ${from}` : `stones ${from} to ${to}`}</button
        >${head > to - from + 1 ? html`<button type="button" class="button" data-verify-all>Check all from stone 1 to ${head}</button>` : ""}
      </p>
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

const results = ({ asked, hits, scope }: Found): Html =>
  html`<div class="found" role="status">
    <p>
      ${hits.length === 0 ? html`Nothing found for <code class="asked">${asked}</code>.` : html`${count(hits.length, "act")} found for <code class="asked">${asked}</code>.`}
    </p>
    ${
      hits.length === 0
        ? ""
        : html`<ul>
            ${hits.map((hit) => html`<li><a href="${hit.path}">${hit.words}</a>, ${moment(hit.at)}</li>`)}
          </ul>`
    }
    <p class="small quiet">${scope}</p>
  </div>`

const search = (found: Found | undefined): Html =>
  html`<search class="column">
    <form class="filter" action="/v2/witness#search" method="get">
      <label class="unseen" for="q">Number, hash, name, wallet, transaction or link</label
      ><input
        class="field"
        id="q"
        name="q"
        value="${found?.asked ?? ""}"
        required
        maxlength="300"
        spellcheck="false"
        autocomplete="off"
        placeholder="#3, a hash, a name, a wallet, a link"
      />
      <button class="button">Search</button>
    </form>
    ${found === undefined ? html`<p class="small quiet">All settled acts are searched, by whatever this site prints: a stone's number, a hash or its ends, a spirit, a public name, a wallet, a transaction, or a pasted link.</p>` : results(found)}
  </search>`

const setForm = ({ payment, publicUrl }: WitnessView): Html =>
  offer(publicUrl, payment, {
    id: "stone",
    verb: "Set the stone",
    title: "Witness stone",
    path: setWitnessStone.path,
    amountAtomic: setWitnessStone.sale.priceAtomic,
    fields: html`${wordsField("stone-words", "Your words", html`data-seal="commitment" maxlength="8192" required`, `1 to ${wordsMaximum} characters. They never leave this browser until you reveal them.`)}
      <p class="ask">
        <label for="stone-kind">What they are</label
        ><select class="field" id="stone-kind" data-body="kind">
          ${StoneKind.literals.map((kind) => html`<option>${kind}</option>`)}</select
        ><small>${kindsHint}</small>
      </p>
      <p class="ask">
        <label for="stone-spirit">With</label
        ><select class="field" id="stone-spirit" data-body="spirit">
          <option value="">the commitment's choice</option>
          ${plates.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}
        </select>
      </p>
      ${nameField("stone-name")}`,
    body: `{"commitment":"<64 hex digits>","kind":"prediction"}`,
    note: html`<code>commitment</code> is the SHA-256 of a salt, one NUL byte and your words. Keep both: the reveal is
      free, once.`,
  })

const aside = html`<div class="aside">
  <p>Your words are sealed here: only their commitment is sent and paid for. ${sealing}</p>
  <p>The payment is the timestamp: nobody can set a stone yesterday.</p>
  <p>
    Salt and words are kept in this browser; save them as a file too. You may reveal them, free and once: both become
    public, and everyone can check that these are the words you sealed.
  </p>
</div>`

export const witness = (view: WitnessView): Page => {
  const { before, found, head, next, payment, stones } = view
  // Without stones on the page the head is checked; the range of an empty chain is empty.
  const newest = stones[0]?.sequence ?? head.sequence
  const oldest = stones.at(-1)?.sequence ?? Math.max(1, head.sequence)
  return {
    title: "The witness chain",
    description: `${count(head.sequence, "witness stone")} in one chain. Each is a sealed commitment, timestamped by its payment and hashed onto the stone before it. Check every hash in your own browser.`,
    path: before === undefined ? "/v2/witness" : `/v2/witness?before=${before}`,
    chapter: "witness",
    preview: previewOf("guide"),
    body: html`<header class="opening" data-renew="opening">
        <h1>The witness chain</h1>
        <p class="lead">
          A witness stone is a sealed commitment, timestamped by its payment and hashed onto the stone before it.
          ${head.sequence === 0 ? html`The chain is <span ${shownHead(head)}>empty</span>.` : html`The chain is ${count(head.sequence, "stone")} long; its head is <span ${shownHead(head)}>${short(head.chainHash)}</span>.`}
          It is not legal notarization, and no proof of authorship or identity.
        </p>
      </header>
      ${
        stones.length === 0
          ? html`<p class="blank" data-renew="strip">
              ${before === undefined ? "No stone has been set. The first one follows 64 zeros." : "No stones before this one."}
            </p>`
          : strip(stones)
      }
      <section id="verify" data-renew="verify" aria-labelledby="verify-title">
        ${heading("verify-title", "Check it here", "Your browser computes each hash anew, and compares the chain with this page and with what it saw before.")}${verification(oldest, newest, head.sequence)}
      </section>
      <section id="search" aria-labelledby="search-title">${heading("search-title", "Search")}${search(found)}</section>
      <section ${stones.length === 0 ? html`hidden` : ""} data-renew="stones" aria-labelledby="stones-title">
        ${heading("stones-title", "Stones", before === undefined ? "Newest first" : `Before stone ${before}`)}${ledger(stones, "Stones, newest first", (commitment) => pebbleAgain(commitment, "strip"))}
        ${leaf(
          "More stones",
          before === undefined ? undefined : html`<a href="/v2/witness">The newest stones</a>`,
          next === null ? undefined : html`<a rel="next" href="/v2/witness?before=${next}">Stones before these</a>`,
        )}
      </section>
      <section id="set" aria-labelledby="set-title">
        ${heading("set-title", "Set a stone", html`${price(setWitnessStone.sale.priceAtomic, "sentence")}.`)}
        ${payment.enabled ? html`<div class="beside">${setForm(view)}${aside}</div>` : notConfigured(payment)}
      </section>
      <div class="pair">
        <section id="seal" aria-labelledby="seal-title">${heading("seal-title", "Seal words")}${sealForm()}</section>
        <section id="check" aria-labelledby="check-title">
          ${heading("check-title", "Check words")}${checkForm("")}
        </section>
      </div>`,
  }
}
