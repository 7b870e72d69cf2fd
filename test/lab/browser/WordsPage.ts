/** A page with sealed words: its list, the browser's data, and the saved files. */
import { join } from "node:path"
import type { Download, Page, Request } from "playwright-core"
import { take } from "./GuidePage.ts"
import { newFolder } from "../Folders.ts"

export interface Kept {
  readonly salt: string
  readonly words: string
  readonly commitment: string
  readonly revealed?: boolean
}

/** Everything that a server could have learned from these requests. */
export const sentBy = (requests: ReadonlyArray<Request>) =>
  requests.map((request) => `${request.url()} ${request.postData() ?? ""}`).join("\n")

export const held = (page: Page): Promise<ReadonlyArray<Kept>> =>
  page.evaluate(() =>
    Object.keys(localStorage)
      .filter((slot) => slot.startsWith("altar:words:"))
      .map((slot) => JSON.parse(localStorage.getItem(slot) ?? "null")),
  )

export const layStone = async (page: Page, words: string) => {
  await page.locator("#stone-words").fill(words)
  await page.getByRole("button", { name: "Set the stone for $0.01" }).click()
}

export const setStone = async (page: Page, words: string) => {
  await take(page, "Set the stone")
  await layStone(page, words)
}

export const keepsakeOf = async (page: Page): Promise<Kept> =>
  JSON.parse(await page.locator(".keepsake code").innerText())

/** The browser may run apart from the test: its saved file is copied. */
export const keep = async (download: Download) => {
  const path = join(newFolder(), "words.json")
  await download.saveAs(path)
  return path
}

export const file = (kept: object) => ({
  name: "stone.json",
  mimeType: "application/json",
  buffer: Buffer.from(JSON.stringify(kept)),
})
