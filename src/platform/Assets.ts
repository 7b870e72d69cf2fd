/** Where the build put what pages load: names that change with the content, so that a browser may keep it for ever. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { typefaces } from "./AssetNames.ts"
import { type Html, html } from "./Html.ts"
import { packageRoot } from "./PackageRoot.ts"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

/** Read when the first page is written, because what does not serve pages runs without a build. */
let known: Readonly<Record<string, string>> | undefined

/** The path of an asset as the build named it; `/v2/page.css` is `/v2/page-1A2B3C4D.css`. */
export const assetPath = (plain: string): string => {
  known ??= decode(readFileSync(new URL("dist/web/assets.json", packageRoot), "utf8"))
  const path = known[plain]
  if (path === undefined) throw new Error(`The build made no ${plain}`)
  return path
}

/** Asks for a face before the style that uses it is there; nothing moves when it comes. */
export const preload = (face: string): Html =>
  html`<link rel="preload" href="${assetPath(face)}" as="font" type="font/woff2" crossorigin />`

export const preloads = (): ReadonlyArray<Html> => typefaces.map(preload)
