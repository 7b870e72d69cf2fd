/** A page with sealed words: its list, the browser's data, and the saved files. */
import { join } from "node:path"
import type { Page, Request } from "playwright-core"
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
  JSON.parse((await page.locator(".keepsake code").textContent()) ?? "")

/** The file that a link saves. The browser may run apart from the test: it is copied. */
export const savedBy = async (page: Page, link: string) => {
  const saving = page.waitForEvent("download")
  await page.getByRole("link", { name: link }).click()
  const path = join(newFolder(), "words.json")
  await (await saving).saveAs(path)
  return path
}

/** Checks salt and words on the page of their act, and reveals them there. */
export const reveal = async (page: Page, salt: string, words: string) => {
  await page.getByText(/^(?:Check these words|If it was a text)/u).click()
  await page.locator("#check-salt").fill(salt)
  await page.locator("#check-words").fill(words)
  await page.getByRole("button", { name: "Check and reveal" }).click()
}

export const file = (kept: object) => ({
  name: "stone.json",
  mimeType: "application/json",
  buffer: Buffer.from(JSON.stringify(kept)),
})
