/** `openapi`: writes the contract's document. */
import { Effect, FileSystem, Predicate } from "effect"
import { OpenApi } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { packageRoot } from "../../platform/PackageRoot.ts"
import { command } from "../Define.ts"
import { print } from "../Output.ts"

const file = new URL("schema/openapi.json", packageRoot).pathname

/** JSON with a line for each member of the first `levels`: short, and yet a change shows as changed lines. */
const inLines = (value: unknown, levels: number): string =>
  levels === 0 || !Predicate.isObject(value)
    ? JSON.stringify(value)
    : `{\n${Object.entries(value)
        .map(([name, member]) => `${JSON.stringify(name)}:${inLines(member, levels - 1)}`)
        .join(",\n")}\n}`

export const document = () => `${inLines(OpenApi.fromApi(Api), 3)}\n`

export const openapi = command("openapi", {
  description: "Write schema/openapi.json from the contract",
  examples: { "npm run openapi": "Write the document; git diff shows whether it was stale" },
  flags: {},
  run: Effect.fnUntraced(function* () {
    yield* (yield* FileSystem.FileSystem).writeFileString(file, document())
    yield* print({ ok: true }, "schema/openapi.json written")
  }),
})
