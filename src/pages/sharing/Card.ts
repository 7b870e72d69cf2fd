/** The content of an act's preview: our own drawing and words, and nothing that a visitor wrote. */
import { type Html, html } from "../../platform/Html.ts"
import { isRung } from "../../web/v2/page/candleShape.ts"
import { itemImage, recordText, saidOf, type SettledAct } from "../templates/ActList.ts"
import * as Candle from "../templates/Candle.ts"
import { pebble, pebbleWords } from "../templates/Pebble.ts"
import { plateOf } from "../templates/Plates.ts"
import { capitalized } from "../templates/Words.ts"

export interface Card {
  readonly title: string
  readonly line: string
  /** Digits that identify the act elsewhere. */
  readonly code?: string
  /** Artwork below `/art`. */
  readonly artwork?: string
  /** The candle in front of it. */
  readonly candle?: Html
  /** A stone, which needs no artwork. */
  readonly stone?: Html
  /** Milliseconds since 1970 until which it looks like this; always, when absent. */
  readonly until?: number
}

export const previewPath = (id: string) => `/acts/${id}/preview.png`

/** Redraws of a candle while it burns. */
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
  const { line = capitalized(pebbleWords(recordText(act, "commitment"))), title } = act.actText.card(saidOf(act))
  return { title, line }
}

const artworkOf = (act: SettledAct) =>
  itemImage(act) ??
  (plateOf(recordText(act, "spirit")) === undefined ? undefined : `/art/spirits/${recordText(act, "spirit")}.svg`)

export const cardOf = (act: SettledAct, now: number): Card => {
  const commitment = recordText(act, "commitment")
  if (commitment !== "") return { ...plain(act), stone: pebble(commitment), code: ends(commitment) }
  const artwork = artworkOf(act)
  return {
    ...plain(act),
    ...(artwork === undefined ? {} : { artwork }),
    ...candleOf(act, now),
  }
}

export const altOf = (act: SettledAct): string => {
  const { line, title } = plain(act)
  return `${title}: ${line}`
}
