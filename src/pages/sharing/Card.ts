/** What stands for an act where it is shared: our own drawing and our own words, and nothing that anybody wrote. */
import { type Html, html } from "../../platform/Html.ts"
import { isRung } from "../../web/v2/page/candleShape.ts"
import { itemImage, recordText, rungs, type SettledAct } from "../templates/ActList.ts"
import * as Candle from "../templates/Candle.ts"
import { pebble, pebbleWords } from "../templates/Pebble.ts"
import { nameOf, plateOf } from "../templates/Plates.ts"
import { capitalized, dayWords } from "../templates/Words.ts"

export interface Card {
  readonly title: string
  readonly line: string
  /** Digits by which the act is known elsewhere. */
  readonly code?: string
  /** Artwork below `/art`. */
  readonly artwork?: string
  /** What burns before it. */
  readonly candle?: Html
  /** A stone, which needs no artwork. */
  readonly stone?: Html
  /** Milliseconds since 1970 until which it looks like this; always, when absent. */
  readonly until?: number
}

/** Where the picture of an act is. */
export const previewPath = (id: string) => `/acts/${id}/preview.png`

/** A candle is drawn anew this often while it burns. */
const steps = 8

const candleOf = (act: SettledAct, now: number): Pick<Card, "candle" | "until"> => {
  const rung = recordText(act, "rung")
  const [litAt, litUntil] = [recordText(act, "litAt"), recordText(act, "litUntil")]
  const [from, end] = [Date.parse(litAt), Date.parse(litUntil)]
  if (!isRung(rung) || !(from < end)) return {}
  if (now >= end) return { candle: html`<g class="candle--out">${Candle.drawing({ rung, litAt, litUntil }, end)}</g>` }
  const step = (end - from) / steps
  const burned = Math.max(0, Math.floor((now - from) / step))
  const drawn = Candle.drawing({ rung, litAt, litUntil }, from + burned * step)
  return { candle: drawn, until: from + (burned + 1) * step }
}

/** The two ends of a hash, as pages print it. */
export const ends = (hash: string) => `${hash.slice(0, 8)} … ${hash.slice(-8)}`

const plain = (act: SettledAct): Pick<Card, "title" | "line"> => {
  const spirit = nameOf(recordText(act, "spirit"))
  switch (act.act) {
    case "setWitnessStone":
      return {
        title: `Witness stone ${recordText(act, "sequence")}`,
        line: capitalized(pebbleWords(recordText(act, "commitment"))),
      }
    case "collectMaterial": {
      const number = `Number ${recordText(act, "edition")} of ${recordText(act, "editionSize")}`
      return { title: recordText(act, "name"), line: spirit === "" ? number : `${number}, for ${spirit}` }
    }
    case "offerPrayer":
      return { title: `A prayer with ${spirit}`, line: "Sealed, and left on the altar" }
    case "takeIn":
      return { title: `The first keeper of ${spirit}`, line: "On record for good" }
    default: {
      const lasts = rungs[recordText(act, "rung")]
      if (lasts === undefined) return { title: "An act", line: "Paid once, with a receipt" }
      const what = recordText(act, "kind") === "light" ? "A light" : "A candle"
      return {
        title: `${what} with ${spirit}`,
        line: `For ${lasts}, until ${dayWords(recordText(act, "litUntil"))}`,
      }
    }
  }
}

/** The spirit, or what was collected for it. */
const artworkOf = (act: SettledAct) =>
  itemImage(act) ??
  (plateOf(recordText(act, "spirit")) === undefined ? undefined : `/art/spirits/${recordText(act, "spirit")}.svg`)

export const cardOf = (act: SettledAct, now: number): Card => {
  const commitment = act.act === "setWitnessStone" ? recordText(act, "commitment") : ""
  if (commitment !== "") return { ...plain(act), stone: pebble(commitment), code: ends(commitment) }
  const artwork = artworkOf(act)
  return {
    ...plain(act),
    ...(artwork === undefined ? {} : { artwork }),
    ...(act.act.startsWith("light") ? candleOf(act, now) : {}),
  }
}

/** The picture in words, for whoever does not see it. */
export const altOf = (act: SettledAct): string => {
  const { line, title } = plain(act)
  return `${title}: ${line}`
}
