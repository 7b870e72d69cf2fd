/** Renders drawings in a thread of its own, because each blocks for a tenth of a second. */
import { readFile } from "node:fs/promises"
import { parentPort } from "node:worker_threads"
import { initWasm, Resvg } from "@resvg/resvg-wasm"

// `src/build/build.ts` puts them beside this module.
const [engine, ...fontBuffers] = await Promise.all(
  ["resvg.wasm", "book-400.ttf", "book-600.ttf"].map((file) => readFile(new URL(file, import.meta.url))),
)
if (engine !== undefined) await initWasm(engine)

const render = (svg: string): Uint8Array => {
  const drawing = new Resvg(svg, { font: { fontBuffers, serifFamily: "Vollkorn", defaultFontFamily: "Vollkorn" } })
  const image = drawing.render()
  const png = image.asPng()
  // The engine's memory is not garbage-collected.
  image.free()
  drawing.free()
  return png
}

parentPort?.on("message", (svg: string) => parentPort?.postMessage(render(svg), []))
