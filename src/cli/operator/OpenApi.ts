/** `openapi`: writes the contract's document, or reports that the written one is stale. */
import { Console, Effect, FileSystem } from "effect"
import { OpenApi } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { packageRoot } from "../../platform/PackageRoot.ts"
import { command, on } from "../Define.ts"
import { CommandFailure } from "../CommandFailure.ts"

const file = new URL("schema/openapi.json", packageRoot).pathname

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** JSON with a line for each member of the first `levels`: short, and yet a change shows as changed lines. */
const inLines = (value: unknown, levels: number): string =>
  levels === 0 || !isRecord(value)
    ? JSON.stringify(value)
    : `{\n${Object.entries(value)
        .map(([name, member]) => `${JSON.stringify(name)}:${inLines(member, levels - 1)}`)
        .join(",\n")}\n}`

export const document = () => `${inLines(OpenApi.fromApi(Api), 3)}\n`

export const openapi = command("openapi", {
  description: "Write schema/openapi.json from the contract",
  examples: [
    ["npm run openapi", "Write the document"],
    ["npm run openapi -- --check", "Fail when the written document is stale"],
  ],
  flags: { check: on("check", "Only compare; exit 1 when stale") },
  run: Effect.fnUntraced(function* ({ check }) {
    const fs = yield* FileSystem.FileSystem
    if (!check) yield* fs.writeFileString(file, document())
    else if ((yield* fs.readFileString(file)) !== document())
      return yield* new CommandFailure({ message: "schema/openapi.json is stale: npm run openapi" })
    yield* Console.log(`schema/openapi.json ${check ? "is fresh" : "written"}`)
  }),
})
