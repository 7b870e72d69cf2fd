/** The record of a wallet: how many of its stones are opened, a picture of them in their order, and their words. */
import type { ListedStone } from "../../../schema/altar/Witness.ts"
import { readWallet, type WalletRecord } from "../../../schema/altar/Wallet.ts"
import { filled } from "../../payments/Act.ts"
import { type Html, html } from "../../platform/Html.ts"
import { blank, hrefOf, more, opening, type Page, pager, section } from "./Layout.ts"
import { code, facts, type Row } from "./RecordTable.ts"
import { count, dayWords, moment, short, timeWords } from "./Words.ts"
import { ledger } from "./Witness.ts"

export interface WalletView {
  readonly record: WalletRecord
  readonly before: number | undefined
  readonly publicUrl: string
  readonly now: number
}

type State = "opened" | "closed" | "hidden"

const stateOf = ({ reveal }: typeof ListedStone.Type): State =>
  reveal === null ? "closed" : reveal.text === null ? "hidden" : "opened"

/** Filled when opened, hollow while closed, and hollow with a point where the words are not shown. */
const bead = (state: State): Html =>
  html`<svg class="bead" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <circle cx="10" cy="10" r="7.5" fill="${state === "opened" ? "currentColor" : "none"}" />
    ${state === "hidden" && html`<circle cx="10" cy="10" r="1.5" fill="currentColor" />`}
  </svg>`

const stateWords = { opened: "opened", closed: "closed", hidden: "opened, and not shown" } as const

/** `28 Nov`, with the year where it differs from that of the day before. */
const dayLabel = (day: string, before: string | undefined): Html => {
  const [number = "", month = "", year = ""] = dayWords(day).split(" ")
  return html`<small class="quiet" aria-hidden="true">
    ${number} ${month.slice(0, 3)} ${before?.startsWith(year) !== true && html`<br />${year}`}
  </small>`
}

/** The stones of this page from left to right, oldest first, with the day where it changes. */
const timeline = ({ stones }: WalletRecord): Html => {
  const oldestFirst = stones.toReversed()
  const dayOf = (index: number) => oldestFirst[index]?.witnessedAt.slice(0, 10)
  return html`<ol class="timeline" role="list" aria-label="Its stones, oldest first">
    ${oldestFirst.map((stone, index) => {
      const words = `Stone ${stone.sequence}, ${stone.kind}, ${timeWords(stone.witnessedAt)}: ${stateWords[stateOf(stone)]}`
      const day = dayOf(index)
      return html`<li>
        <a href="/witness/${stone.id}" title="${words}">${bead(stateOf(stone))}<span class="unseen">${words}</span></a>
        ${day !== undefined && day !== dayOf(index - 1) && dayLabel(day, dayOf(index - 1))}
      </li>`
    })}
  </ol>`
}

const totalsOf = ({ closed, hidden, opened, sealed }: WalletRecord): string =>
  `${count(sealed, "stone")} sealed: ${opened} opened, ${closed} still closed${hidden === 0 ? "" : `, ${hidden} opened and not shown`}`

const rowsOf = ({ asOf, first, kinds, last, sealed, wallet }: WalletRecord): ReadonlyArray<Row> => {
  const ofKinds = Object.entries(kinds).filter(([, stones]) => stones > 0)
  const rows: ReadonlyArray<Row | false> = [
    ["Wallet", code(wallet)],
    sealed > 0 && ["Kinds", ofKinds.map(([kind, stones]) => `${kind} ${stones}`).join(", ")],
    first !== null && ["First", html`Stone ${first.sequence}, ${moment(first.witnessedAt)}`],
    last !== null && ["Newest", html`Stone ${last.sequence}, ${moment(last.witnessedAt)}`],
    ["Counted", `In the chain of ${count(asOf.head.sequence, "stone")}`],
    ["Hash there", code(asOf.head.chainHash)],
    asOf.checkpoint !== null && ["Signed log", `Covers the first ${count(asOf.checkpoint.size, "stone")}`],
  ]
  return rows.filter((row) => row !== false)
}

export const wallet = ({ before, now, publicUrl, record }: WalletView): Page => {
  const { next, sealed, stones, wallet: address } = record
  const path = `/v2/wallets/${address}`
  return {
    title: `The record of wallet ${address.slice(0, 6)}…${address.slice(-4)}`,
    description: `${totalsOf(record)}, as of stone ${record.asOf.head.sequence} of the chain.`,
    path: hrefOf(path, { before }),
    chapter: "witness",
    preview: "stones",
    body: html`${opening(
      html`Wallet ${short(address)}`,
      `${totalsOf(record)}, as of stone ${record.asOf.head.sequence}.`,
    )}
    ${section(
      "record",
      before === undefined ? "Its stones in order" : "Older stones in order",
      "",
      sealed === 0
        ? blank(
            html`This wallet has set no stone. <a href="/v2/witness">Look at all stones</a>, or
              <a href="/v2/stone">set one</a>.`,
          )
        : html`<p class="small quiet">
              ${bead("opened")} opened ${bead("closed")} still closed
              ${record.hidden > 0 && html`${bead("hidden")} opened, and not shown`}
            </p>
            ${timeline(record)}`,
      html`<p>
        The chain has no gaps and names the payer of every stone, so no stone of this wallet is missing. But one person
        can hold many wallets. Stones of another wallet are not counted here, so trust a record only if its wallet was
        named before the outcome.
      </p>`,
    )}
    ${stones.length > 0 && section("stones", "Their words", "Newest first.", ledger(stones, "Stones of this wallet", now), pager("stones", { path, before, next }))}
    ${section(
      "counted",
      "What was counted",
      "",
      facts(rowsOf(record)),
      html`<p>This command counts again, by the chain and by every payment of the wallet:</p>
        <pre class="long command">spirit-altar verify --url ${publicUrl} --wallet ${address} --rpc URL-OF-A-NODE</pre>`,
    )}
    ${more(
      "This wallet",
      html`<a href="/v2/acts?q=${address}">Everything that this wallet paid for</a>`,
      html`<a href="${filled(readWallet.path, { wallet: address })}">This record as JSON, for programs</a>`,
    )}`,
  }
}
