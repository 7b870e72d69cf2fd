/** Encodes a flat drawing as an indexed PNG of at most 64 of its own colours, without visible loss. */
import { deflateSync } from "node:zlib"
import { png } from "../Png.ts"

const size = 64

type Rgb = readonly [number, number, number]

/** Five bits of each channel, so that shades of one edge count as one colour. */
const keyOf = (red: number, green: number, blue: number) => ((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3)

/** The most frequent colours, each as the mean of its shades. */
const paletteOf = (rgba: Uint8Array): ReadonlyArray<Rgb> => {
  const sums = new Map<number, [number, number, number, number]>()
  for (let at = 0; at < rgba.length; at += 4) {
    const [red = 0, green = 0, blue = 0] = rgba.subarray(at, at + 3)
    const key = keyOf(red, green, blue)
    const sum = sums.get(key) ?? [0, 0, 0, 0]
    sums.set(key, [sum[0] + red, sum[1] + green, sum[2] + blue, sum[3] + 1])
  }
  return [...sums.values()]
    .sort((a, b) => b[3] - a[3])
    .slice(0, size)
    .map(([red, green, blue, count]) => [Math.round(red / count), Math.round(green / count), Math.round(blue / count)])
}

const nearest = (palette: ReadonlyArray<Rgb>, red: number, green: number, blue: number) => {
  let [best, index] = [Infinity, 0]
  for (const [at, [r, g, b]] of palette.entries()) {
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2
    if (distance < best) [best, index] = [distance, at]
  }
  return index
}

/** `rgba` is opaque, row by row. */
export const encode = (rgba: Uint8Array, width: number, height: number): Uint8Array => {
  const palette = paletteOf(rgba)
  const known = new Map<number, number>()
  const lines = Buffer.alloc((width + 1) * height)
  for (let pixel = 0; pixel < width * height; pixel++) {
    const [red = 0, green = 0, blue = 0] = rgba.subarray(pixel * 4, pixel * 4 + 3)
    const color = (red << 16) | (green << 8) | blue
    const index = known.get(color) ?? nearest(palette, red, green, blue)
    known.set(color, index)
    lines[pixel + Math.floor(pixel / width) + 1] = index
  }
  return png(width, height, 8, [
    ["PLTE", Uint8Array.from(palette.flat())],
    ["IDAT", deflateSync(lines, { level: 9 })],
  ])
}
