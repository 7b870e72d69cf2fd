/** The server's version and the commit it was built from. The API has its own version. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { packageRoot } from "./PackageRoot.ts"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

export const { version } = decode(readFileSync(new URL("package.json", packageRoot), "utf8"))

/** Set by the build; null without git, or with uncommitted changes. */
export const commit = process.env["SOURCE_COMMIT"] || null
