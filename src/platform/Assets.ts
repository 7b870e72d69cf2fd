/** Maps assets to their built paths, whose names change with the content, so browsers may cache them for ever. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { typefaces } from "./AssetNames.ts"
import { type Html, html } from "./Html.ts"
import { packageRoot } from "./PackageRoot.ts"

const decode = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.Array(Schema.String))),
)

/** Read with the first page, since services without pages run without a build. */
let manifest: Readonly<Record<string, ReadonlyArray<string>>> | undefined

/** The built path of an asset, and those of the modules that it imports. */
const builtOf = (plain: string): readonly [path: string, modules: ReadonlyArray<string>] => {
  manifest ??= decode(readFileSync(new URL("dist/web/assets.json", packageRoot), "utf8"))
  const [path, ...modules] = manifest[plain] ?? []
  if (path === undefined) throw new Error(`The build made no ${plain}`)
  return [path, modules]
}

/** The built path of an asset: `/v2/page.css` becomes `/v2/page-1A2B3C4D.css`. */
export const assetPath = (plain: string): string => builtOf(plain)[0]

/** Requests the modules that a module imports beside it, instead of after it. */
export const modulePreloads = (plain: string): ReadonlyArray<Html> =>
  builtOf(plain)[1].map((path) => html`<link rel="modulepreload" href="${path}" />`)

/** Requests a typeface before the style that uses it arrives, so that the layout does not shift. */
const preload = (face: string): Html =>
  html`<link rel="preload" href="${assetPath(face)}" as="font" type="font/woff2" crossorigin />`

export const preloads = (): ReadonlyArray<Html> => typefaces.map((face) => preload(face))
