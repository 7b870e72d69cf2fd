/** `openapi`: writes the document that the contract generates, or says that the written one is stale. */
import { Console, Effect, FileSystem } from "effect"
import { OpenApi } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { packageRoot } from "../platform/PackageRoot.ts"
import { Trouble } from "./Trouble.ts"

const file = new URL("schema/openapi.json", packageRoot).pathname

/** The document as it is written and served, two spaces deep. */
export const document = () => `${JSON.stringify(OpenApi.fromApi(Api), null, 2)}\n`

export const writeOrCheck = Effect.fn("writeOrCheck")(function* (isCheck: boolean) {
  const fs = yield* FileSystem.FileSystem
  if (isCheck) {
    const written = yield* fs.readFileString(file)
    if (written !== document()) return yield* new Trouble({ message: "schema/openapi.json is stale: npm run openapi" })
    return yield* Console.log("schema/openapi.json is fresh")
  }
  yield* fs.writeFileString(file, document())
  yield* Console.log("schema/openapi.json written")
})
