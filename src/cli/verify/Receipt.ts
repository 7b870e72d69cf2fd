/** `verify --receipt`: checks the receipt file of one act, offline but for `--rpc`,. */
import { Effect, FileSystem, Option } from "effect"
import * as Download from "./Download.ts"
import * as Node from "./Node.ts"
import { onlyLogOf } from "../../../schema/log/Policy.ts"
import { fileMaximum } from "../../buyer/receipt/ReceiptFile.ts"
import { type ReceiptVerdict, sumOf, verifyReceipt } from "../../buyer/receipt/VerifyReceipt.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { provided } from "../Flags.ts"
import { trustIn } from "../log/Policy.ts"
import { report } from "./Report.ts"
import { usdcOn } from "../../../schema/payments/Usdc.ts"
import { holds, open, type ReceiptCheck, same } from "../../buyer/receipt/Checks.ts"
import { authorizationStateData, inLowerCase, pays } from "../../payments/chain/Eip3009.ts"

const broken = (says: string): ReceiptCheck => ({ name: "payment", state: "broken", says })

/** Whether the named transaction pays the named authorization: this payer, payee, amount, token and nonce. */
export const transferCheck = Effect.fn("transferCheck")(function* (
  rpcUrl: string,
  claims: NonNullable<ReceiptVerdict["claims"]>,
) {
  const { network, transaction } = claims
  const [asset, from] = [inLowerCase(claims.asset), inLowerCase(claims.payer)]
  const [to, nonce] = [inLowerCase(claims.payTo), inLowerCase(claims.nonce)]
  const found = yield* Node.networkOf(rpcUrl)
  if (found !== network)
    return yield* new CommandFailure({ message: `${rpcUrl} is a node of ${found}, and the receipt names ${network}.` })
  const usdc = usdcOn(network)
  if (usdc !== undefined && !same(usdc, asset))
    return broken(`The receipt names the token ${asset}, and USDC is ${usdc} there.`)
  const mined = yield* Node.minedIn(rpcUrl, transaction)
  if (mined === null) {
    const state = yield* Node.wordFrom(rpcUrl, asset, authorizationStateData(from, nonce))
    return BigInt(state) === 0n
      ? broken(`Transaction ${transaction} is not on the chain, and its authorization is unused: nothing was paid.`)
      : open(
          "payment",
          `Transaction ${transaction} is not on the chain, but its authorization is used: another block holds it. Look for its nonce ${nonce}.`,
        )
  }
  if (mined.status !== "0x1") return broken(`Transaction ${transaction} was reverted: nothing was paid in it.`)
  return pays(mined.logs, { asset, from, to, nonce, value: BigInt(claims.amount) })
    ? holds(
        "payment",
        `Transaction ${transaction} in block ${BigInt(mined.blockNumber)} transfers ${sumOf(claims)} from ${from} to ${to} by the nonce ${nonce}.`,
      )
    : broken(`Transaction ${transaction} does not hold this payment.`)
})

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
