/** Reads a QR code that a page shows. */
import jsQr from "jsqr"
import { assert } from "@effect/vitest"
import type { Locator } from "playwright-core"

/** The text of the code that `drawn` shows; the browser that drew it also takes its picture apart. */
export const readQrCode = async (drawn: Locator): Promise<string | undefined> => {
  const picture = `data:image/png;base64,${(await drawn.screenshot()).toString("base64")}`
  const { pixels, width } = await drawn.page().evaluate(async (source) => {
    const image = new Image()
    image.src = source
    await image.decode()
    const { height, width } = image
    const context = new OffscreenCanvas(width, height).getContext("2d")
    context?.drawImage(image, 0, 0)
    return { width, pixels: [...(context?.getImageData(0, 0, width, height).data ?? [])] }
  }, picture)
  assert.isNotEmpty(pixels)
  return jsQr.default(Uint8ClampedArray.from(pixels), width, pixels.length / 4 / width)?.data
}
