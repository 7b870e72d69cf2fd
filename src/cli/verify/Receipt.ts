/** `verify --receipt`: checks the receipt file of one act, offline but for `--rpc`,. */
import { Effect, FileSystem, Option } from "effect"
import { onlyLogOf } from "../../../schema/log/Policy.ts"
import { fileMaximum } from "../../buyer/receipt/ReceiptFile.ts"
import { verifyReceipt } from "../../buyer/receipt/VerifyReceipt.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { provided } from "../Flags.ts"
import { trustIn } from "../log/Policy.ts"
import * as Download from "./Download.ts"
import { report } from "./Report.ts"
import { transferCheck } from "./Transfer.ts"

interface Given {
  readonly key: Option.Option<string>
  readonly payTo: ReadonlyArray<string>
  readonly vkey: Option.Option<string>
  readonly policy: Option.Option<string>
  readonly rpc: Option.Option<string>
  readonly json: boolean
}

/** A huge file is refused before it is read. */
const read = (path: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { size } = yield* fs.stat(path)
    return size > fileMaximum * 4 ? " ".repeat(fileMaximum + 1) : yield* fs.readFileString(path)
  }).pipe(Effect.mapError(() => new CommandFailure({ message: `${path} cannot be read.` })))

export const verifyReceiptFile = Effect.fn("verifyReceiptFile")(function* (path: string, given: Given) {
  const { json: isJson, key, payTo } = given
  if (Option.isNone(key)) return yield* new CommandFailure({ message: "Name the receipts' verifier key with --key." })
  if (payTo.length > 1)
    return yield* new CommandFailure({ message: "A receipt was paid to one address: name one with --pay-to." })
  const text = yield* read(path)
  const { policy, vkey } = given
  const log = yield* trustIn({ vkey, policy }, onlyLogOf)
  const trust = { key: key.value, ...provided({ payTo: Option.fromUndefinedOr(payTo[0]), log }) }
  const verdict = yield* Effect.promise(() => verifyReceipt(text, trust))
  const { claims } = verdict
  const payment =
    Option.isSome(given.rpc) && claims !== undefined
      ? yield* transferCheck(given.rpc.value, claims).pipe(Effect.provide(Download.plainClient))
      : undefined
  const checks = verdict.checks.map((check) => (check.name === payment?.name ? payment : check))
  const ok = verdict.ok && payment?.state !== "broken"
  yield* report(path, { ok, checks, claims: claims ?? null }, isJson)
})
