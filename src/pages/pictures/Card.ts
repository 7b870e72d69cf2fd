/** The picture of an act for shared links, in the site's own words: no text of a visitor is on it. */
import { hash } from "node:crypto"
import type { Node } from "@takumi-rs/wasm"
import { sales } from "../../../schema/altar/Sales.ts"
import type { Html } from "../../platform/Html.ts"
import { inWords, itemImage, recordText, type SettledAct } from "../templates/ActList.ts"
import { burning, drawing } from "../templates/Candle.ts"
import { article, pebble, pebbleWords } from "../templates/Pebble.ts"
import { nameOf, plateOf } from "../templates/Plates.ts"
import { capitalized, dayWords } from "../templates/Words.ts"

/** Styled boxes with text, and in them a drawing in SVG and an artwork, by its path. */
export interface Picture {
  readonly node: Node
  readonly css: string
  readonly drawing: string
  readonly artwork: string
}

/** An act, or a stone as an act. */
export type Pictured = Pick<SettledAct, "act" | "actText" | "record" | "reveal" | "settledAt">

const css = `
.card { display: flex; width: 1200px; height: 630px; background: #f6f1e4; color: #1c1a15; font-family: Vollkorn }
.frame, .plate { display: flex; flex-grow: 1; box-sizing: border-box; border: 2px solid #d8cdb4 }
.frame { flex-grow: 0; width: 514px; height: 542px; margin: 44px 0 44px 44px; padding: 6px }
.plate { align-items: flex-end; justify-content: center; padding-bottom: 34px; background: #fffaf0 }
.plate.candle { background: radial-gradient(circle at 21% 38%, #fbe3b4, #fffaf0 42%) }
.stone .drawing { width: 474px; height: 474px }
.candle .drawing { width: 136px; height: 449px }
.artwork { width: 440px; height: 440px; image-rendering: pixelated }
.candle .artwork { width: 316px; height: 316px }
.column, .words { display: flex; flex-direction: column }
.column { width: 642px; padding: 50px 50px 46px 56px; box-sizing: border-box; color: #5c5545 }
.words { flex-grow: 1; justify-content: center; font-size: 42px }
.heading { font-size: 84px; font-weight: 600; line-height: 1.08; margin-bottom: 14px; color: #1c1a15 }
.sealed, .opened { font-size: 52px; font-weight: 600; margin-bottom: 8px; color: #8a3b12 }
.opened { color: #2c6a3a }
.foot { font-size: 32px }`

/** A drawing of the pages with the colours of their style sheets. */
const svg = (wide: number, high: number, { text }: Html) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${wide} ${high}"><style>.pebble__edge{fill:none;stroke:#3b2b20;stroke-width:1.2}.wax{fill:#efdfb2;stroke:#7d6330}.pool{fill:#ffe9a8;stroke:#7d6330}.wick{fill:none;stroke:#1c1a15;stroke-width:1.5}.fire{fill:#e0861c}.heart{fill:#ffe9a8}</style>${text}</svg>`

const box = (className: string, ...children: Array<Node>): Node => ({ type: "container", className, children })
const text = (className: string, words: string): Node => ({ type: "text", className, text: words })

/** A member in words, unless a visitor wrote it. */
const ours = (act: Pictured, name: string) => (name in act.actText.hideable.texts ? "" : inWords(act, name))

/** `A prediction`, or the name of an item. */
const headingOf = (act: Pictured): string => {
  if (itemImage(act) !== undefined) return ours(act, "name")
  const kind = ours(act, "kind") || (sales.find(({ identifier }) => identifier === act.act)?.sale.kind ?? "act")
  const noun = kind === "hash" ? "fingerprint" : kind
  return capitalized(`${article(noun)} ${noun}`)
}

/** The state of its words, if it has any; its measures, its day and its spirit. */
const factsOf = (act: Pictured) => {
  const isSealing = (recordText(act, "commitment") || recordText(act, "intentionCommitment")) !== ""
  const measures = Object.entries(act.actText.labels).map(([name, label]) =>
    Array.isArray(label) && typeof label[1] === "function" ? `${label[0]} ${ours(act, name)}` : "",
  )
  const lines = [...measures, dayWords(act.settledAt), nameOf(recordText(act, "spirit"))]
  return { state: isSealing ? (act.reveal === null ? "Sealed" : "Opened") : "", lines: lines.filter(Boolean) }
}

const artOf = (act: Pictured) => {
  const [commitment, spirit, candle] = [recordText(act, "commitment"), recordText(act, "spirit"), burning(act.record)]
  if (commitment !== "") return { plate: "plate stone", drawing: svg(100, 100, pebble(commitment)), artwork: "" }
  const artwork = itemImage(act) ?? (plateOf(spirit) === undefined ? "" : `/art/spirits/${spirit}.svg`)
  if (candle === undefined) return { plate: "plate", drawing: "", artwork }
  return { plate: "plate candle", drawing: svg(40, 132, drawing(candle, Date.parse(candle.litAt))), artwork }
}

/** A picture as JSON, its address, which names its content, and its text for readers. */
export const pictureOf = (id: string, act: Pictured) => {
  const { plate, ...art } = artOf(act)
  const [heading, { lines, state }, sequence] = [headingOf(act), factsOf(act), recordText(act, "sequence")]
  const images = (["drawing", "artwork"] as const)
    .filter((src) => art[src] !== "")
    .map((src): Node => ({ type: "image", className: src, src }))
  const words = [text("heading", heading), text(state.toLowerCase(), state), ...lines.map((line) => text("line", line))]
  const foot = sequence === "" ? "Spirit Altar" : `Spirit Altar · stone ${Number(sequence).toLocaleString("en-US")}`
  const column = box("column", box("words", ...words), text("foot", foot))
  const node = box("card", box("frame", box(plate, ...images)), column)
  const json = JSON.stringify({ ...art, css, node } satisfies Picture)
  const stone = recordText(act, "commitment")
  const alt = [stone && capitalized(pebbleWords(stone)), heading, state, ...lines].filter(Boolean).join(". ")
  return { json, path: `/acts/${id}/${hash("sha256", json, "base64url").slice(0, 16)}.png`, alt }
}

/** The picture that is always there: of stones, of the spirit, or of the guide. */
export const previewOf = (act: Pictured): string => {
  if (recordText(act, "commitment") !== "") return "stones"
  const spirit = recordText(act, "spirit")
  return itemImage(act) === undefined && plateOf(spirit) !== undefined ? spirit : "guide"
}
