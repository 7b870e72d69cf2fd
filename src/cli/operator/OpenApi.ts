/** `openapi`: writes the document that the contract generates, or says that the written one is stale. */
import { Console, Effect, FileSystem } from "effect"
import { OpenApi } from "effect/http-api"
import { Api } from "../../../schema/Api.ts"
import { packageRoot } from "../../platform/PackageRoot.ts"
import { Trouble } from "../Trouble.ts"
import { Command, Flag } from "effect/cli"

const file = new URL("schema/openapi.json", packageRoot).pathname

/** The document as it is written and served, two spaces deep. */
export const document = () => `${JSON.stringify(OpenApi.fromApi(Api), null, 2)}\n`

const writeOrCheck = Effect.fn("writeOrCheck")(function* ({ check: isCheck }: { readonly check: boolean }) {
  const fs = yield* FileSystem.FileSystem
  if (isCheck) {
    const written = yield* fs.readFileString(file)
    if (written !== document()) return yield* new Trouble({ message: "schema/openapi.json is stale: npm run openapi" })
    return yield* Console.log("schema/openapi.json is fresh")
  }
  yield* fs.writeFileString(file, document())
  yield* Console.log("schema/openapi.json written")
})

const check = Flag.Boolean("check").pipe(
  Flag.withDescription("Only compare; exit 1 when stale"),
  Flag.withDefault(false),
)

export const openapi = Command.make("openapi", { check }, writeOrCheck).pipe(
  Command.withDescription("Write schema/openapi.json from the contract"),
  Command.withExamples([
    { command: "npm run openapi", description: "Write the document" },
    { command: "npm run openapi -- --check", description: "Fail when the written document is stale" },
  ]),
)
