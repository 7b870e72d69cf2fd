/** Commands about receipts in this process: their output and their result. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option } from "effect"
import { verifyReceiptFile } from "../../../src/cli/verify/Receipt.ts"
import { newFolder } from "../Folders.ts"

/** The lines on stdout, and the result. */
export const printing = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const lines: Array<string> = []
    const to = { ...globalThis.console, log: (line: string) => void lines.push(line), error: () => undefined }
    return Effect.map(Effect.result(Effect.provideService(run, Console.Console, to)), (ended) => ({ lines, ended }))
  }).pipe(Effect.provide(NodeServices.layer))

/** `verify receipt` of a file with this text, by the trust that is given. */
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
