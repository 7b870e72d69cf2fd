/** `verify receipt` in this process. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { verifyReceiptFile } from "../../../src/cli/verify/Receipt.ts"
import { printing } from "../CommandRun.ts"
import { newFolder } from "../Folders.ts"

/** Its lines and its result for a file with this text, by the trust that is given. */
export const checked = Effect.fnUntraced(function* (
  text: string,
  given: Partial<Parameters<typeof verifyReceiptFile>[1]>,
) {
  const path = join(newFolder(), "receipt.json")
  yield* Effect.promise(() => writeFile(path, text))
  const none = Option.none<string>()
  const trust = { key: none, payTo: [], vkey: none, actsVkey: none, policy: none, rpc: none, json: false }
  return yield* printing(verifyReceiptFile(path, { ...trust, ...given }))
})
