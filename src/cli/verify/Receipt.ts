/** `verify --receipt`: checks the receipt file of one act, offline except for `--rpc`. */
import { Effect, Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { notFinal, sealedBy, unnamed } from "../../../schema/altar/StoneDate.ts"
import { onlyLogOf } from "../../../schema/log/Policy.ts"
import { same } from "../../buyer/core/Expectation.ts"
import { holds, isSound, open, type ReceiptCheck } from "../../buyer/receipt/Checks.ts"
import { type ReceiptVerdict, sumOf, verifyReceipt } from "../../buyer/receipt/VerifyReceipt.ts"
import { inLowerCase, pays } from "../../payments/x402/chain/Eip3009.ts"
import { CommandFailure } from "../CommandFailure.ts"
import { optionalKey, optionalText, text } from "../Define.ts"
import { provided } from "../Flags.ts"
import { type Fingerprint, stoneChecks } from "./Files.ts"
import { nodeAt } from "./Node.ts"
import { textIn, trustFlags, trustIn } from "./Policy.ts"
import { report } from "./Report.ts"

const broken = (says: string): ReadonlyArray<ReceiptCheck> => [{ name: "payment", state: "broken", says }]

/**
 * Whether the named transaction pays the named authorization: this payer, payee, amount, token and nonce. Its block dates
 * a stone whose words the payment names.
 */
const transferChecks = Effect.fn("transferChecks")(function* (
  rpcUrl: string,
  claims: NonNullable<ReceiptVerdict["claims"]>,
  isNamed: boolean,
) {
  const { amount, asset, network, nonce, payTo, payer, transaction } = claims
  const node = yield* nodeAt(rpcUrl)
  if (node.network !== network)
    return yield* new CommandFailure({
      message: `${rpcUrl} is a node of ${node.network}, and the receipt names ${network}.`,
    })
  if (node.usdc !== undefined && !same(node.usdc, asset))
    return broken(`The receipt names the token ${asset}, and USDC is ${node.usdc} there.`)
  const mined = yield* node.receiptOf(transaction, asset)
  if (Option.isNone(mined))
    return (yield* node.isUsed(asset, payer, nonce))
      ? [
          open(
            "payment",
            `Transaction ${transaction} is not on the chain, but its authorization is used: another block holds it. Look for its nonce ${nonce}.`,
          ),
        ]
      : broken(`Transaction ${transaction} is not on the chain, and its authorization is unused: nothing was paid.`)
  const { block, logs, succeeded } = mined.value
  if (!succeeded) return broken(`Transaction ${transaction} was reverted: nothing was paid in it.`)
  const [from, to] = [inLowerCase(payer), inLowerCase(payTo)]
  if (!pays(logs, { asset: inLowerCase(asset), from, to, nonce: inLowerCase(nonce), value: BigInt(amount) }))
    return broken(`Transaction ${transaction} does not hold this payment.`)
  const { number } = block
  const says = `Transaction ${transaction} in block ${number} transfers ${sumOf(claims)} from ${from} to ${to} by the nonce ${nonce}.`
  const payment = holds("payment", says)
  if (claims.stone === undefined) return [payment]
  if (!isNamed) return [payment, open("date", unnamed)]
  if (!(yield* node.isFinal(number))) return [payment, open("date", notFinal)]
  const time = yield* node.timeOf(number)
  return [payment, holds("date", sealedBy({ network, block: Number(number), time: Number(time) }))]
}, Effect.scoped)

export const receiptFlags = {
  rpc: optionalText("rpc", "JSON-RPC of its network, chosen by you; a sandbox on this machine names its own"),
  payTo: text(
    "pay-to",
    "The address of every payment; may be repeated after a change (else any one address for all)",
    "address",
  ).pipe(Flag.atLeast(0)),
  key: optionalKey("key", "The verifier key of the receipts, name+hash+base64"),
  ...trustFlags,
}

export const verifyReceiptFile = Effect.fn("verifyReceiptFile")(function* (
  path: string,
  given: Command.Command.Config.Infer<typeof receiptFlags>,
  fingerprint?: Fingerprint,
) {
  const { key, payTo, rpc } = given
  if (Option.isNone(key)) return yield* new CommandFailure({ message: "Name the receipts' verifier key with --key." })
  if (payTo.length > 1)
    return yield* new CommandFailure({ message: "A receipt was paid to one address: name one with --pay-to." })
  const file = yield* textIn(path)
  const log = yield* trustIn(given, onlyLogOf)
  const trust = { key: key.value, ...provided({ payTo: Option.fromUndefinedOr(payTo[0]), log }) }
  const receipt = yield* Effect.promise(() => verifyReceipt(file, trust))
  const { claims } = receipt
  const files = fingerprint === undefined ? [] : yield* stoneChecks(fingerprint, path)
  const checks = [...receipt.checks, ...files]
  const ok = receipt.ok && isSound(files)
  if (Option.isNone(rpc) || claims === undefined) return yield* report(path, { ok, checks, claims: claims ?? null })
  // Without its record, nothing says which words the payment names.
  const isNamed = ["binding", "record"].every((part) =>
    checks.some(({ name, state }) => name === part && state === "holds"),
  )
  const paid = yield* transferChecks(rpc.value, claims, isNamed)
  const looked = new Set(["payment", "date"])
  const others = checks.filter(({ name }) => !looked.has(name))
  yield* report(path, { ok: ok && isSound(paid), checks: [...others, ...paid], claims })
})
