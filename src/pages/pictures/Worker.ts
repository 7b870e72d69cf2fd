/** Draws pictures in a thread of its own, so that no other request waits for one. */
import { readFile } from "node:fs/promises"
import { parentPort, workerData } from "node:worker_threads"
import { Renderer } from "@takumi-rs/wasm/node"
import { packageRoot } from "../../platform/PackageRoot.ts"
import type { Picture } from "./Card.ts"

const renderer = new Renderer()
await renderer.registerFont({ name: "Vollkorn", data: await readFile(new URL(workerData)) })

const draw = async ({ artwork, css, drawing, node }: Picture) => {
  const served = artwork === "" ? Buffer.of() : await readFile(new URL(`src/web${artwork}`, packageRoot))
  const images = Object.entries({ drawing: Buffer.from(drawing), artwork: served })
    .filter(([, data]) => data.length > 0)
    .map(([src, data]) => ({ src, data, cache: "none" as const }))
  return renderer.render(node, { width: 1200, height: 630, css: [css], images })
}

parentPort?.on("message", async (picture: string) => {
  const png = await draw(JSON.parse(picture))
  parentPort?.postMessage(png, [png.buffer])
})
