/** Which version of the server runs, and the commit it was built from; the interface has a version of its own. */
import { readFileSync } from "node:fs"
import { Schema } from "effect"
import { packageRoot } from "./PackageRoot.ts"

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({ version: Schema.String })))

export const { version } = decode(readFileSync(new URL("package.json", packageRoot), "utf8"))

/** The build puts its answer here; null where git knew none, or the tree had changes. */
export const commit = process.env["SOURCE_COMMIT"] || null
