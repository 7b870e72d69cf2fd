/** A page of the guide: the plate and its text, the current altar, and the forms for its acts. */
import type { CandleList } from "../../../schema/altar/Candle.ts"
import type { Altar } from "../../../schema/altar/Guide.ts"
import { reasonMaximum, takeIn } from "../../../schema/altar/Keeper.ts"
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import { wordsMaximum } from "../../../schema/altar/Recipe.ts"
import type { Dedicated } from "../../altar/collectibles/Collectibles.ts"
import type { Item } from "../../altar/collectibles/Items.ts"
import { filled } from "../../payments/Act.ts"
import { type Html, html } from "../../platform/Html.ts"
import { answered } from "./Act.ts"
import { recordText, type SettledAct } from "./ActList.ts"
import { buyPath, unplaced } from "./BuyAct.ts"
import * as Candle from "./Candle.ts"
import { candleOf } from "./Candles.ts"
import { blank, fold, folio, more, type Page, section } from "./Layout.ts"
import { mark } from "./Marks.ts"
import {
  beside,
  call,
  nameField,
  notConfigured,
  offerAmong,
  type Payment,
  sealing,
  textField,
  wordsField,
} from "./Offer.ts"
import { illustration, type Plate, plateFigure, plates, spiritPath } from "./Plates.ts"
import { facts } from "./RecordTable.ts"
import { ledger, type Stone } from "./Witness.ts"
import { count, isolated, moment, priceWords, stretchWords, who } from "./Words.ts"

export interface SpiritView {
  readonly plate: Plate
  readonly altar: typeof Altar.Type
  readonly wall: typeof CandleList.Type
  readonly keeping: SettledAct | undefined
  /** Today's prayer, once it is settled. */
  readonly praying: SettledAct | undefined
  readonly dedicated: ReadonlyArray<Dedicated & { readonly item: Item }>
  /** The newest stones with this spirit, or the reason why the chain is broken. */
  readonly stones: ReadonlyArray<Stone> | string
  readonly payment: Payment
  readonly now: number
}

const untilMidnight = (now: number) => 86_400_000 - (now % 86_400_000)

const prayerPrice = priceWords(offerPrayer.sale)

const prayerOf = ({ plate }: SpiritView) => ({
  id: "prayer",
  verb: "Leave the prayer",
  title: `Prayer with ${plate.name}`,
  path: filled(offerPrayer.path, { familiarId: plate.id }),
  sale: offerPrayer.sale,
  fields: html`${wordsField(["prayer-words", "Your words", mark("seal", { seal: "intentionCommitment" }), html`maxlength="4096" placeholder="I came by, and it was quiet." required`], `1 to ${wordsMaximum} characters. They never leave this browser.`)}${nameField("prayer-name", "A visitor")}`,
})

const prayer = (view: SpiritView): Html => {
  const { altar, now, payment } = view
  const { prayer: laid, state } = altar.today
  if (state === "free") {
    if (!payment.enabled) return html`<p>Today's prayer is free.</p>`
    return html`<p class="column">The spirit answers each prayer with a line of its own.</p>
      ${beside(
        html`<div class="offer">${offerAmong(payment, prayerOf(view))}</div>`,
        "A prayer is sealed and stays sealed. Your words and their salt stay in this browser. Only their commitment is sent.",
        sealing,
        html`Each spirit takes one prayer a day, the first one. It costs ${prayerPrice} for everyone, always.`,
      )}`
  }
  return laid === null
    ? html`<p>A payment in flight holds today's prayer. If it fails, the prayer is free again. Come back later.</p>`
    : html`<p>
          Today's prayer was left by ${who(laid.agentName, "")},
          <a href="/acts/${laid.id}">${moment(laid.offeredAt)}</a>. The next one can be left in
          ${stretchWords(untilMidnight(now))}, at midnight UTC, for ${prayerPrice}.
        </p>
        ${view.praying && answered(view.praying)}`
}

const candles = (view: SpiritView): Html => {
  const { altar, now, payment, plate, wall } = view
  const shown =
    wall.candles.length === 0
      ? blank(`No candles yet.${payment.enabled ? " Yours appears here at once." : ""}`)
      : Candle.shelf(wall.candles.map((candle) => Candle.litCandle(candle, now)))
  const others = html`<p>
    <a href="/v2/candles?spirit=${altar.spirit}&amp;before=${wall.next}"
      >The others of ${count(altar.litCandles, "candle")}</a
    >
  </p>`
  return html`<div ${mark("renewed")}>${shown}${wall.next !== null && others}</div>
    ${payment.enabled && fold("Light a candle here", offerAmong(payment, candleOf(plate.id)))}`
}

const keepingOf = ({ plate }: SpiritView) => ({
  id: "keeper",
  verb: `Keep ${plate.name}`,
  path: filled(takeIn.path, { familiarId: plate.id }),
  sale: takeIn.sale,
  fields: html`${nameField("keeper-name")}${textField(["keeper-reason", "Why, if you like", mark("body", { body: "reason" }), html`maxlength="${reasonMaximum}"`], `Public, up to ${reasonMaximum} characters.`)}`,
})

const keeper = (view: SpiritView): Html => {
  const { altar, keeping, payment } = view
  if (altar.keeper !== null) {
    const reason = keeping === undefined ? "" : recordText(keeping, "reason")
    return html`<p ${mark("renewed")}>
        Kept by ${who(altar.keeper.agentName, altar.keeper.keeper)} since
        <a href="/acts/${altar.keeper.id}">${moment(altar.keeper.keptAt)}</a>.
      </p>
      ${reason === "" ? "" : html`<blockquote><p>${isolated(reason)}</p></blockquote>`}`
  }
  return html`<p ${mark("renewed")}>This spirit has no keeper yet. The first keeper stays on this page for ever.</p>
    ${payment.enabled && fold("Become the first keeper", offerAmong(payment, keepingOf(view)))}`
}

const offering = ({ agentName, edition, id, item, keeper: wallet }: SpiritView["dedicated"][number]): Html =>
  html`<li class="offering">
    <a href="/acts/${id}"
      ><img src="${item.image}" alt="" width="256" height="256" loading="lazy" decoding="async" /><b>${item.name}</b></a
    ><span class="small quiet">No. ${edition} of ${item.editionSize}, from ${who(agentName, wallet)}</span>
  </li>`

const offerings = ({ altar, dedicated, plate }: SpiritView): Html =>
  dedicated.length === 0
    ? blank(
        html`Nothing from <a href="/v2/catalog">the catalog</a> is here yet. Every dedication to ${plate.name} stays for
          ever.`,
      )
    : html`<ul class="offerings" role="list">
          ${dedicated.map(offering)}
        </ul>
        ${altar.dedicated > dedicated.length && html`<p class="quiet">The newest ${dedicated.length} of ${altar.dedicated}.</p>`}`

const stones = ({ now, plate, stones: set }: SpiritView): Html => {
  if (typeof set === "string")
    return html`<p class="notice"><b>The chain is broken.</b> ${set} Its stones are not shown until it is mended.</p>`
  return set.length === 0
    ? blank(html`No stones with ${plate.name} yet. <a href="/v2/stone?spirit=${plate.id}">Set the first one</a>.`)
    : ledger(set, "The newest stones of this spirit", now)
}

const neighbour = (plate: Plate | undefined, rel: string, label: string) =>
  plate &&
  html`<a class="neighbour" rel="${rel}" href="${spiritPath(plate.id)}"
    >${illustration(plate.id, "", "lazy")}<span><small>${label}</small><br />${plate.name}</span></a
  >`

/** The first acts that the altar takes now. */
const doors = ({ altar, plate }: SpiritView): Html => {
  const isFree = altar.today.state === "free"
  return html`<p class="doors">
    ${isFree && html`<a class="button button--main" href="#prayer">Leave today's prayer</a>`}
    <a class="button" href="#candle-dedication">Light a candle</a>
    <a class="button" href="/v2/stone?spirit=${plate.id}">Set a stone</a>
    ${unplaced.map((act) => html`<a class="button" href="${buyPath(act, plate.id)}">${act.sale.title}</a>`)}
  </p>`
}

/** The purchases that this altar takes now, for a buyer without a wallet here. */
const calls = (view: SpiritView): Html => {
  const { altar, payment, plate } = view
  return html`<section aria-label="Without a wallet">
    ${call(
      payment,
      ...(altar.today.state === "free" ? [prayerOf(view)] : []),
      { ...candleOf(plate.id), verb: "Light a candle for a day" },
      ...(altar.keeper === null ? [keepingOf(view)] : []),
    )}
  </section>`
}

export const spirit = (view: SpiritView): Page => {
  const { altar, payment, plate } = view
  const lit = altar.litCandles === 0 ? "None lit" : `${count(altar.litCandles, "candle")} lit`
  const set = payment.enabled ? html`; <a href="/v2/stone?spirit=${plate.id}">set one</a>` : ""
  return {
    title: plate.name,
    description: `${plate.epithet}. ${plate.description}`,
    path: spiritPath(plate.id),
    chapter: "guide",
    preview: plate.id,
    body: html`${folio(
      plateFigure(plate),
      html`<h1>${plate.name}</h1>
        <p class="text__epithet">${plate.epithet}</p>
        ${payment.enabled && doors(view)}
        <p class="text__body">${plate.description}</p>`,
      facts([
        ["Habitat", plate.habitat],
        ["Habit", plate.habit],
        ["Altar", plate.altarLine],
      ]),
    )}
    ${!payment.enabled && notConfigured(payment)}
    ${section("prayer", "Today's prayer", html`One for each UTC day, ${prayerPrice}.`, prayer(view))}
    ${section("candles", "Candles", lit, candles(view))}
    ${section("keeper", "Keeper", "The first one stays on record for ever.", keeper(view))}
    ${payment.enabled && calls(view)}
    ${section("altar", "On the altar", html`Dedicated from <a href="/v2/catalog">the catalog</a>`, offerings(view))}
    ${section("stones", "Stones", html`Set with this spirit${set}`, stones(view))}
    ${more(
      "Neighbouring plates",
      neighbour(plates[plate.number - 2], "prev", "Previous"),
      neighbour(plates[plate.number], "next", "Next"),
    )}`,
  }
}
