/** Looks up the transfer of a receipt at a node of the reader's choice. */
import { Effect } from "effect"
import { usdcOn } from "../../../schema/payments/Usdc.ts"
import { holds, open, type ReceiptCheck, same } from "../../buyer/receipt/Checks.ts"
import { type ReceiptVerdict, sumOf } from "../../buyer/receipt/VerifyReceipt.ts"
import { inLowerCase } from "../../payments/Hex.ts"
import { authorizationStateData, pays } from "../../payments/chain/Eip3009.ts"
import { CommandFailure } from "../CommandFailure.ts"
import * as Node from "./Node.ts"

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
