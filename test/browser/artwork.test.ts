/** Every drawing loads, paints, and keeps a silhouette of its own at 48 pixels. */
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { folder, prefix } from "../../src/altar/Artwork.ts"
import { browser } from "../lab/browser/Browser.ts"
import { assert, assertNone } from "../lab/Suites.ts"

const kinds = { spirits: 24, elements: 12, companions: 8, pixels: 6 } as const

const drawings = Object.keys(kinds).flatMap((kind) =>
  readdirSync(fileURLToPath(new URL(`${kind}/`, folder)))
    .filter((file) => /\.(?:svg|png)$/u.test(file))
    .sort()
    .map((file) => `${prefix}/${kind}/${file}`),
)

/** Share of the square that a drawing must cover to be seen. */
const leastPaint = 0.08

/**
 * How alike two silhouettes may be: pixels that both cover by those that either covers (the Jaccard index of the two
 * alpha masks at 48 × 48, a pixel counting as covered from half its opacity). 1 is the same shape.
 */
const mostAlike = 0.85

interface Drawn {
  readonly path: string
  readonly width: number
  readonly height: number
  /** Pixels of 256 × 256 that are not wholly transparent. */
  readonly painted: number
  /** "1" for every covered pixel of 48 × 48, row by row. */
  readonly mask: string
}

const draw = async (paths: ReadonlyArray<string>): Promise<ReadonlyArray<Drawn>> => {
  const alphaOf = (image: HTMLImageElement, size: number) => {
    const canvas = new OffscreenCanvas(size, size)
    const context = canvas.getContext("2d")
    if (context === null) throw new Error("No canvas")
    context.drawImage(image, 0, 0, size, size)
    return context.getImageData(0, 0, size, size).data.filter((_, index) => index % 4 === 3)
  }
  return Promise.all(
    paths.map(async (path) => {
      const image = new Image()
      image.src = path
      await image.decode()
      return {
        path,
        width: image.naturalWidth,
        height: image.naturalHeight,
        painted: alphaOf(image, 256).filter((alpha) => alpha > 0).length,
        mask: [...alphaOf(image, 48)].map((alpha) => (alpha >= 128 ? "1" : "0")).join(""),
      }
    }),
  )
}

const alike = (one: Drawn, other: Drawn) => {
  const pixels = [...one.mask].map((pixel, index) => Number(pixel) + Number(other.mask[index]))
  return pixels.filter((sum) => sum === 2).length / Math.max(1, pixels.filter((sum) => sum > 0).length)
}

browser("the artwork", (it) => {
  it("is complete, visible, and clearly different for every spirit", async ({ visit }) => {
    for (const [kind, count] of Object.entries(kinds)) {
      assert.strictEqual(drawings.filter((path) => path.startsWith(`${prefix}/${kind}/`)).length, count, kind)
    }
    const { page } = await visit("/signals/", { bypassCSP: true, viewport: { width: 2736, height: 1000 } })
    const drawn = await page.evaluate(draw, drawings)
    for (const { height, painted, path, width } of drawn) {
      assert.isAbove(Math.min(width, height), 0, path)
      assert.isAtLeast(painted, leastPaint * 256 * 256, path)
    }
    const pairs = drawn.flatMap((one, index) =>
      drawn.slice(index + 1).map((other) => ({ pair: `${one.path} ${other.path}`, alike: alike(one, other) })),
    )
    assertNone(pairs, (pair) => pair.alike >= mostAlike)
  })
})
