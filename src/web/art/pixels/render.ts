// Renders a pixel's PNG from its text source without compression, so that every byte is the same on every machine.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { png, uint32 } from "../Png.ts"

/** Pixels along one side of a drawing, and how often each is repeated along one side of the image. */
const side = 32
const scale = 8

interface Drawing {
  /** RGBA of each palette entry; entry 0 is transparent. At most 16, because a pixel takes four bits. */
  readonly palette: ReadonlyArray<readonly [number, number, number, number]>
  /** Palette index of each of the 32 × 32 pixels, row by row. */
  readonly pixels: ReadonlyArray<number>
}

/** Parses a source: a comment line, one `key colour name` line for each colour, an empty line, 32 rows of 32 keys. */
export const parse = (source: string): Drawing => {
  const [header = "", body = ""] = source.trimEnd().split("\n\n")
  const entries = header
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.split(" "))
  const keys = entries.map(([key]) => key)
  const palette = entries.map(([, color = ""]): readonly [number, number, number, number] => {
    if (color === "transparent") return [0, 0, 0, 0]
    if (!/^#[0-9a-f]{6}$/.test(color)) throw new Error(`not a colour: ${color}`)
    const rgb = Number.parseInt(color.slice(1), 16)
    return [rgb >> 16, (rgb >> 8) & 255, rgb & 255, 255]
  })
  const rows = body.split("\n")
  if (palette.length > 16 || keys[0] !== "." || rows.length !== side || rows.some((row) => row.length !== side)) {
    throw new Error(`expected "." first, at most 16 colours and ${side} rows of ${side} keys`)
  }
  const pixels = [...rows.join("")].map((key) => {
    const index = keys.indexOf(key)
    if (index < 0) throw new Error(`"${key}" is not in the palette`)
    return index
  })
  return { palette, pixels }
}

const adler32 = (data: Uint8Array): number => {
  let a = 1
  let b = 0
  for (const byte of data) {
    a = (a + byte) % 65521
    b = (b + a) % 65521
  }
  return ((b << 16) | a) >>> 0
}

/** One stored deflate block in a zlib frame: a compressor's output may change between versions. */
const stored = (data: Uint8Array): Uint8Array => {
  if (data.length > 0xffff) throw new Error("a stored block holds at most 65535 bytes")
  const block = new Uint8Array(5)
  const view = new DataView(block.buffer)
  view.setUint8(0, 1)
  view.setUint16(1, data.length, true)
  view.setUint16(3, ~data.length & 0xffff, true)
  return Buffer.concat([Uint8Array.of(0x78, 0x01), block, data, uint32(adler32(data))])
}

/** Encodes a drawing as a 256 × 256 PNG with a 16-colour palette; `scale` is even, so two equal pixels fill a byte. */
export const encode = ({ palette, pixels }: Drawing): Uint8Array => {
  const scanlines: Array<number> = []
  for (let y = 0; y < side * scale; y++) {
    scanlines.push(0)
    const row = Math.floor(y / scale) * side
    for (const index of pixels.slice(row, row + side)) {
      for (let pair = 0; pair < scale / 2; pair++) scanlines.push((index << 4) | index)
    }
  }
  return png(side * scale, side * scale, 4, [
    ["PLTE", Uint8Array.from(palette.flatMap(([red, green, blue]) => [red, green, blue]))],
    ["tRNS", Uint8Array.from(palette.map(([, , , alpha]) => alpha))],
    ["IDAT", stored(Uint8Array.from(scanlines))],
  ])
}

if (import.meta.main) {
  const check = process.argv.includes("--check")
  const sources = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".txt"))
  for (const source of sources.sort()) {
    const png = encode(parse(readFileSync(join(import.meta.dirname, source), "utf8")))
    const target = join(import.meta.dirname, source.replace(/\.txt$/, ".png"))
    if (!check) {
      writeFileSync(target, png)
    } else if (!existsSync(target) || !readFileSync(target).equals(png)) {
      console.error(`${source}: the PNG is not what the source renders; run render.ts`)
      process.exitCode = 1
    }
  }
}
