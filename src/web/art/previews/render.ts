/** Draws the pictures of shared pages: 1200 by 630, a plate and its name. */
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import { catalogs } from "../../../altar/collectibles/Items.ts"
import { spirits } from "../../../altar/Spirits.ts"
import { glyphs } from "../../signals/glyphs.ts"
import { encode } from "./Palette.ts"

const art = new URL("../", import.meta.url)

interface Preview {
  readonly name: string
  readonly title: string
  readonly line: string
  /** Files below the artwork folder, or markup. */
  readonly drawings: ReadonlyArray<string>
}

const spiritOf = (id: string) => `spirits/${id}.svg`

/** A drawing of the signal room in its daytime colour. */
const glyphOf = (glyph: string, color: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" color="${color}">${new Map(glyphs).get(glyph) ?? ""}</svg>`

const previews: ReadonlyArray<Preview> = [
  {
    name: "guide",
    title: "Spirit Altar",
    line: "A field guide of 24 spirits, with living altars",
    drawings: ["moss-hare", "lantern-axolotl", "moon-gecko", "brass-cicada"].map(spiritOf),
  },
  {
    name: "catalog",
    title: "The catalog",
    line: "Materials, crabs and pixels in numbered editions",
    drawings: [
      "elements/sea-glass.svg",
      "companions/pea-crab-in-residence.svg",
      "pixels/pixel-bit-frog.png",
      "elements/beeswax.svg",
    ],
  },
  {
    name: "signals",
    title: "A signal room",
    line: "Short signals of light and sound, behind an invite link",
    drawings: [
      glyphOf("calm", "#1b6a73"),
      glyphOf("spark", "#8f5300"),
      glyphOf("ping", "#474cb0"),
      glyphOf("celebrate", "#a12c68"),
    ],
  },
  ...spirits.map(({ epithet, id, name }) => ({ name: id, title: name, line: epithet, drawings: [spiritOf(id)] })),
  ...Object.entries(catalogs).flatMap(([folder, { editionSize, ending, entries, title }]) =>
    entries.map(({ id, name }) => ({
      name: id,
      title: name,
      line: `${title}, ${editionSize} numbered editions`,
      drawings: [`${folder}/${id}.${ending}`],
    })),
  ),
]

const dataOf = (drawing: string) => {
  if (drawing.startsWith("<svg")) return `data:image/svg+xml;base64,${Buffer.from(drawing).toString("base64")}`
  const type = drawing.endsWith(".png") ? "image/png" : "image/svg+xml"
  return `data:${type};base64,${readFileSync(new URL(drawing, art)).toString("base64")}`
}

const pageOf = ({ drawings, line, title }: Preview) => {
  const many = drawings.length > 1
  const pictures = drawings.map((drawing) => `<img src="${dataOf(drawing)}">`).join("")
  return `<style>
    body { margin: 0; width: 1200px; height: 630px; display: grid; grid-template-columns: 600px 1fr; align-items: center;
      background: #f6f1e4; color: #1c1a15; font-family: "DejaVu Serif Condensed", "DejaVu Serif", serif }
    main { padding: 0 60px 0 10px } h1 { font-size: 74px; font-weight: 500; line-height: 1.05; margin: 0 0 22px }
    p { font-size: 32px; font-style: italic; line-height: 1.3; margin: 0; color: #5c5545 }
    figure { margin: 50px; height: 528px; border: 2px solid #d8cdb4; outline: 2px solid #d8cdb4; outline-offset: 6px;
      background: #fffaf0; display: grid; grid-template-columns: repeat(${many ? 2 : 1}, 1fr); align-items: center;
      justify-items: center; box-sizing: border-box }
    img { width: ${many ? 200 : 420}px; height: ${many ? 200 : 420}px; image-rendering: pixelated }
    </style><figure>${pictures}</figure><main><h1>${title}</h1><p>${line}</p></main>`
}

const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
})
const page = await browser.newPage({ viewport: { width: 1200, height: 630 } })
for (const preview of previews) {
  await page.setContent(pageOf(preview), { waitUntil: "load" })
  const picture = (await page.screenshot({ type: "png" })).toString("base64")
  const pixels = await page.evaluate(async (png) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob())
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d")
    if (context === null) throw new Error("No canvas")
    context.drawImage(image, 0, 0)
    const { data } = context.getImageData(0, 0, image.width, image.height)
    return new Promise<string>((resolve) => {
      const reader = new FileReader()
      reader.addEventListener("load", () => resolve(String(reader.result).split(",")[1] ?? ""))
      reader.readAsDataURL(new Blob([data]))
    })
  }, picture)
  const file = fileURLToPath(new URL(`${preview.name}.png`, import.meta.url))
  writeFileSync(file, encode(Buffer.from(pixels, "base64"), 1200, 630))
}
await browser.close()
