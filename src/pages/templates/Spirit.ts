/** A page of the guide: the plate and its text, the current altar, and the forms for its acts. */
import type { CandleList } from "../../../schema/altar/Candle.ts"
import type { Altar } from "../../../schema/altar/Guide.ts"
import type { Dedicated } from "../../altar/collectibles/Collectibles.ts"
import type { Item } from "../../altar/collectibles/Items.ts"
import { reasonMaximum, takeIn } from "../../../schema/altar/Keeper.ts"
import { offerPrayer } from "../../../schema/altar/Prayer.ts"
import { wordsMaximum } from "../../../schema/altar/Recipe.ts"
import { filled } from "../../payments/Act.ts"
import * as Candle from "./Candle.ts"
import { candleForm } from "./Candles.ts"
import { type SettledAct, recordText } from "./ActList.ts"
import { type Html, html } from "../../platform/Html.ts"
import { heading, leaf, type Page } from "./Layout.ts"
import { call, nameField, nameHint, notConfigured, offer, type Payment, textField, wordsField } from "./Offer.ts"
import { illustration, type Plate, plateFigure, plates, previewOf, spiritPath } from "./Plates.ts"
import { facts } from "./RecordTable.ts"
import { sealing } from "./Glossary.ts"
import { ledger, type Stone } from "./Witness.ts"
import { count, isolated, local, moment, priceWords, stretchWords, who } from "./Words.ts"

export interface SpiritView {
  readonly plate: Plate
  readonly altar: typeof Altar.Type
  readonly wall: typeof CandleList.Type
  readonly keeping: SettledAct | undefined
  readonly dedicated: ReadonlyArray<Dedicated & { readonly item: Item }>
  /** The newest stones with this spirit, or the reason why the chain is broken. */
  readonly stones: ReadonlyArray<Stone> | string
  readonly payment: Payment
  readonly publicUrl: string
  readonly now: number
}

const text = ({ plate }: SpiritView): Html =>
  html`<div class="text">
    <h1>${plate.name}</h1>
    <p class="text__epithet">${plate.epithet}</p>
    <p class="text__body">${plate.description}</p>
    <p class="quiet">Below is its altar, where you can leave a sealed prayer, a candle, a thing or a stone.</p>
    <dl class="facts">
      ${facts([
        ["Habitat", plate.habitat],
        ["Habit", plate.habit],
        ["Altar", plate.altarLine],
      ])}
    </dl>
  </div>`

const keeper = ({ altar, keeping }: SpiritView): Html => {
  if (altar.keeper === null)
    return html`<p>This spirit has no keeper yet. The first keeper stays on this page for ever.</p>`
  const reason = keeping === undefined ? "" : recordText(keeping, "reason")
  return html`<p>
      Kept by ${who(altar.keeper.agentName, altar.keeper.keeper)} since
      <a href="/acts/${altar.keeper.id}">${moment(altar.keeper.keptAt)}</a>.${local(altar.keeper.keptAt)}
    </p>
    ${reason === "" ? "" : html`<blockquote><p>${isolated(reason)}</p></blockquote>`}`
}

const candles = ({ altar, now, payment, wall }: SpiritView): Html =>
  wall.candles.length === 0
    ? html`<p class="blank">No candles yet.${payment.enabled ? " Yours appears here at once." : ""}</p>`
    : html`${Candle.shelf(wall.candles.map((candle) => Candle.litCandle(candle, now)))}${wall.next === null ? "" : html`<p class="more"><a href="/v2/candles?spirit=${altar.spirit}&amp;before=${wall.next}">The others of ${count(altar.litCandles, "candle")}</a></p>`}`

const untilMidnight = (now: number) => 86_400_000 - (now % 86_400_000)

const prayerPrice = priceWords(offerPrayer.sale)

const prayerCall = ({ plate }: SpiritView) => ({
  id: "prayer",
  verb: "Leave the prayer",
  title: "Prayer",
  path: filled(offerPrayer.path, { familiarId: plate.id }),
  amountAtomic: offerPrayer.sale.priceAtomic,
  body: `{"agentName":"<your name>","intentionCommitment":"<64 hex digits>"}`,
  note: html`<code>intentionCommitment</code> is the SHA-256 of a salt, one NUL byte and your words, as 64 lowercase hex
    digits. Keep salt and words.`,
})

const prayerForm = (view: SpiritView): Html =>
  offer(view.publicUrl, view.payment, {
    ...prayerCall(view),
    page: spiritPath(view.plate.id),
    fields: html`${wordsField("prayer-words", "Your words", html`data-seal="intentionCommitment" maxlength="4096" required`, `1 to ${wordsMaximum} characters. They never leave this browser.`, "I came by, and it was quiet.")}${nameField("prayer-name", nameHint, "A visitor")}`,
  })

/** The call for the days after this one; today an agent would get a refusal that costs nothing. */
const laterCall = (view: SpiritView): Html =>
  view.payment.enabled ? html`<div class="offer">${call(view.publicUrl, view.payment, prayerCall(view))}</div>` : html``

const prayer = (view: SpiritView): Html => {
  const { altar, now } = view
  const { prayer: laid, state } = altar.today
  if (laid !== null) {
    return html`<p>
        Today's prayer was left by ${who(laid.agentName, "")},
        <a href="/acts/${laid.id}">${moment(laid.offeredAt)}</a>. The next one can be left in
        ${stretchWords(untilMidnight(now))}, at midnight UTC, for ${prayerPrice}.
      </p>
      ${laterCall(view)}`
  }
  if (state === "held") {
    return html`<p>A payment in flight holds today's prayer. If it fails, the prayer is free again. Come back later.</p>
      ${laterCall(view)}`
  }
  return html`<p class="column">
      Today's prayer was free when this page was loaded. The spirit answers each prayer with a line of its own.
    </p>
    <div class="beside">
      ${prayerForm(view)}
      <div class="aside">
        <p>
          A prayer is sealed and stays sealed. Your words and their salt stay in this browser. Only their commitment is
          sent.
        </p>
        <p>${sealing}</p>
        <p>Each spirit takes one prayer a day, the first one. It costs ${prayerPrice} for everyone, always.</p>
      </div>
    </div>`
}

const keeperForm = ({ payment, plate, publicUrl }: SpiritView): Html =>
  offer(publicUrl, payment, {
    id: "keeper",
    verb: `Keep ${plate.name}`,
    path: filled(takeIn.path, { familiarId: plate.id }),
    amountAtomic: takeIn.sale.priceAtomic,
    fields: html`${nameField("keeper-name", nameHint)}${textField("keeper-reason", "Why, if you like", html`data-body="reason" maxlength="${reasonMaximum}"`, `Public, up to ${reasonMaximum} characters.`)}`,
    body: `{"agentName":"<your name>","reason":"<why>"}`,
    note: "The body may be left out. A spirit has one first keeper, for ever.",
  })

const offering = ({ agentName, edition, id, item, keeper: wallet }: SpiritView["dedicated"][number]): Html =>
  html`<li class="offering">
    <a href="/acts/${id}"
      ><img src="${item.image}" alt="" width="256" height="256" loading="lazy" decoding="async" /><span
        class="offering__name"
        >${item.name}</span
      ></a
    ><span class="offering__facts">No. ${edition} of ${item.editionSize}, from ${who(agentName, wallet)}</span>
  </li>`

const offerings = ({ altar, dedicated, plate }: SpiritView): Html =>
  dedicated.length === 0
    ? html`<p class="blank">Nothing from the catalog is here yet. Every dedication to ${plate.name} stays for ever.</p>`
    : html`<ul class="offerings" role="list">
          ${dedicated.map(offering)}
        </ul>
        ${altar.dedicated > dedicated.length ? html`<p class="quiet">The newest ${dedicated.length} of ${altar.dedicated}.</p>` : ""}`

const stones = ({ plate, stones: set }: SpiritView): Html => {
  if (typeof set === "string")
    return html`<p class="notice">
      <b>The chain does not hold.</b> ${set} Its stones are not shown until it is mended.
    </p>`
  return set.length === 0
    ? html`<p class="blank">No stones with ${plate.name} yet.</p>`
    : ledger(set, "The newest stones of this spirit")
}

const neighbour = (plate: Plate | undefined, rel: string, label: string) =>
  plate === undefined
    ? undefined
    : html`<a class="leaf__plate" rel="${rel}" href="${spiritPath(plate.id)}"
        >${illustration(plate.id, "", "lazy")}<span><small>${label}</small><br />${plate.name}</span></a
      >`

export const spirit = (view: SpiritView): Page => {
  const { altar, payment, plate } = view
  const open = payment.enabled
  return {
    title: plate.name,
    description: `${plate.epithet}. ${plate.description}`,
    path: spiritPath(plate.id),
    chapter: "guide",
    preview: previewOf(plate.id),
    body: html`<article class="folio">
        <div class="folio__plate">${plateFigure(plate)}</div>
        ${text(view)}
      </article>
      ${open ? "" : notConfigured(payment)}
      <section id="prayer" aria-labelledby="prayer-title">
        ${heading("prayer-title", "Today's prayer", html`One for each UTC day, ${prayerPrice}.`)}
        ${open || altar.today.state !== "free" ? prayer(view) : html`<p>Today's prayer is free.</p>`}
      </section>
      <section id="candles" aria-labelledby="candles-title">
        ${heading("candles-title", "Candles", altar.litCandles === 0 ? "None lit" : html`${count(altar.litCandles, "candle")} lit`)}${candles(view)}${
          open
            ? html`<details class="fold">
                <summary>Light a candle here</summary>
                <div class="column">${candleForm({ ...view, spirit: plate.id, onWall: false })}</div>
              </details>`
            : ""
        }
      </section>
      <section id="keeper" aria-labelledby="keeper-title">
        ${heading("keeper-title", "Keeper", "The first one stays on record for ever.")}
        <div class="column">
          ${keeper(view)}${
            open && altar.keeper === null
              ? html`<details class="fold">
                  <summary>Become the first keeper</summary>
                  ${keeperForm(view)}
                </details>`
              : ""
          }
        </div>
      </section>
      <section id="altar" aria-labelledby="altar-title">
        ${heading("altar-title", "On the altar", html`Dedicated from <a href="/v2/catalog">the catalog</a>`)}${offerings(view)}
      </section>
      <section id="stones" aria-labelledby="stones-title">
        ${heading("stones-title", "Stones", open ? html`Set with this spirit; <a href="/v2/stone?spirit=${plate.id}">set one</a>` : "Set with this spirit")}${stones(view)}
      </section>
      ${leaf(
        "Neighbouring plates",
        neighbour(plates[plate.number - 2], "prev", "Previous"),
        neighbour(plates[plate.number], "next", "Next"),
      )}`,
  }
}
