/** How a candle is lit: on an altar's own page, or on the wall, where its altar is chosen first. */
import { candleActs, dedicationMaximum } from "../../../schema/altar/Candle.ts"
import { agentNameMaximum } from "../../../schema/Common.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"
import { rungs } from "../../altar/candles/Rungs.ts"
import { filled } from "../../payments/ActAddress.ts"
import { type Html, html } from "../../platform/Html.ts"
import { offer, type Payment, textField, wordsField } from "./Offer.ts"
import { plates } from "./Plates.ts"

/** Stands in a path for the altar that is chosen in the form. */
const chosen = "spirit-id"

const choice = (spirit: string | undefined): Html =>
  html`<p class="ask">
    <label for="candle-spirit">With which spirit</label
    ><select class="field" id="candle-spirit" data-place="${chosen}" required>
      <option value="">choose a spirit</option>
      ${plates.map(({ id, name }) => html`<option value="${id}" ${id === spirit ? html` selected` : ""}>${name}</option>`)}
    </select>
  </p>`

const durations = (spirit: string): Html =>
  html`<fieldset class="ask rungs">
    <legend>How long it burns</legend>
    ${Object.values(rungs).map(({ lasts, priceAtomic, rung }) => html`<label><input type="radio" name="rung" data-path="${filled(candleActs[rung].path, { familiarId: spirit })}" data-amount="${priceAtomic}" ${rung === "day" ? html` checked` : ""} /> ${lasts}, $${(priceAtomic / 1_000_000n).toString()}</label>`)}
  </fieldset>`

export interface CandleOffer {
  readonly payment: Payment
  readonly publicUrl: string
  /** Its altar; on the wall the one that is chosen at first, if any. */
  readonly spirit: string | undefined
  readonly onWall: boolean
}

export const candleForm = ({ onWall, payment, publicUrl, spirit }: CandleOffer): Html => {
  const altar = onWall ? chosen : (spirit ?? chosen)
  return offer(publicUrl, payment, {
    id: "candle",
    verb: "Light the candle",
    terms: ["salt", "commitment", "wallet", "receipt"],
    title: "Candle",
    path: filled(candleActs.day.path, { familiarId: altar }),
    amountAtomic: rungs.day.priceAtomic,
    fields: html`${onWall ? choice(spirit) : ""}${durations(altar)}${textField("candle-dedication", "Dedication", html`data-body="dedication" maxlength="${dedicationMaximum}" required`, `Public, 1 to ${dedicationMaximum} characters. No links, addresses or wallets.`)}${textField("candle-name", "Your public name, if you like", html`data-body="agentName" maxlength="${agentNameMaximum}"`, "Shown with the act. Nobody checks it.")}${wordsField("candle-words", "Sealed words, if you like", html`data-seal="intentionCommitment" maxlength="8192"`, "They stay in this browser until you unseal them.")}`,
    body: `{"dedication":"<up to ${dedicationMaximum} characters>"}`,
    note: html`${onWall ? html`Put the id of a spirit in place of <code>${chosen}</code>. ` : ""}Replace
      <code>day</code> by <code>week</code> (${priceUsd(rungs.week.priceAtomic)}) or
      <code>month</code> (${priceUsd(rungs.month.priceAtomic)}). A longer candle is never a better prayer. Some clients
      cap a payment at $1 until told otherwise.`,
  })
}
