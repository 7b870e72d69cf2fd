/** Judges whether a payment may be refunded, and makes the transfer that refunds it. */
import { Context, Duration, Effect, Layer, Option, Schema } from "effect"
import type { Hex } from "viem"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { AddressText, inLowerCase, Word } from "../Hex.ts"
import { RefundRefused, type NewRefund, type Returnable } from "../ledger/Refunds.ts"
import type { Terms } from "../PaymentTerms.ts"
import { Chain } from "../x402/node/Chain.ts"
import { ChainUnavailable } from "../x402/node/Rpc.ts"
import { alreadyUsed, type SignedAuthorization, tooPoor } from "../x402/verification/Eip3009.ts"
import { Signatures } from "../x402/verification/Signatures.ts"
import { refundNonce, type Transfer } from "./RefundTransfer.ts"

/** The addresses of a payment on chain. A card's have another form. */
const addressesOf = Schema.decodeUnknownOption(
  Schema.Struct({ asset: AddressText, payer: AddressText, nonce: Word, transaction: Word }),
)

const refuse = (message: string) => Effect.fail(new RefundRefused({ message: `${message} Nothing was recorded.` }))

const silent = <A, E, R>(judging: Effect.Effect<A, E | ChainUnavailable, R>) =>
  Effect.catchIf(judging, Schema.is(ChainUnavailable), () =>
    refuse("The node of RPC_URL does not answer. Try again later."),
  )

/** A transfer to be signed, and the first block that can hold it. */
export interface PreparedRefund {
  readonly returned: Returnable
  readonly transfer: Transfer
  readonly fromBlock: bigint
}

export interface RefundingConfig {
  readonly terms: Terms
}

const settledStates: ReadonlySet<string> = new Set(["REFUNDED", "PARTIALLY_REFUNDED"])

export class Refunding extends Context.Service<Refunding>()("spirit-altar/payments/refunds/Refunding", {
  make: Effect.fnUntraced(function* ({ terms }: RefundingConfig) {
    const chain = yield* Chain
    const clock = yield* DatabaseClock
    const signatures = yield* Signatures

    /** The transfer, if nothing speaks against the refund. Its payment must be proven in a final block. */
    const prepare = Effect.fn("Refunding.prepare")(function* (
      returned: Returnable,
      amount: Option.Option<bigint>,
      lifetime: Duration.Duration,
    ) {
      const { amountAtomic, isClaimable, network, payment, reason, refund, validBefore } = returned
      const value = Option.getOrElse(amount, () => amountAtomic)
      const addresses = addressesOf(returned)
      if (network === "card" || Option.isNone(addresses))
        return yield* refuse("This payment was made by card. Refund it at the card processor.")
      if (refund !== null && settledStates.has(refund.state))
        return yield* refuse(`This payment was refunded in transaction ${refund.refundTransaction}.`)
      if (refund?.state === "REFUND_PENDING")
        return yield* refuse("This payment is being refunded, and the outcome is not known yet. Wait for it.")
      if (isClaimable)
        return yield* refuse(
          `The buyer can still claim this payment, until ${new Date(Number(validBefore) * 1000).toISOString()}. Refund it after that.`,
        )
      if (value <= 0n || value > amountAtomic)
        return yield* refuse(`The payment was ${amountAtomic} atomic USDC. Refund at least 1 and at most all of it.`)
      const { asset, nonce, payer, transaction } = addresses.value
      if (network !== terms.network || asset.toLowerCase() !== terms.asset.toLowerCase())
        return yield* refuse(`This payment was made in ${asset} on ${network}, which this server does not accept now.`)
      const wallet = returned.payTo ?? terms.payTo
      const to = inLowerCase(wallet)
      const evidence = yield* chain.evidence({
        authorization: {
          asset,
          from: payer,
          to,
          value: amountAtomic,
          validAfter: 0n,
          validBefore,
          nonce,
          signature: "0x",
        },
        fromBlock: returned.fromBlock,
        transaction: Option.some(transaction),
        patience: Duration.zero,
      })
      if (evidence._tag !== "Paid")
        return yield* refuse(
          reason === "lost"
            ? "The block of this payment was orphaned and the payer was not charged, so there is nothing to refund."
            : `The chain does not show that ${transaction} paid ${wallet}. Check RPC_URL, and try again later.`,
        )
      if (!(yield* chain.isFinal(evidence.block)))
        return yield* refuse("The block of this payment is not final yet. Try again later.")
      const transfer: Transfer = {
        from: to,
        to: payer,
        value,
        validAfter: 0n,
        validBefore: BigInt(Math.floor((yield* clock.now).millis / 1000 + Duration.toSeconds(lifetime))),
        nonce: refundNonce(network, payment),
      }
      return { returned, transfer, fromBlock: evidence.block.number } satisfies PreparedRefund
    }, silent)

    /** The refund with its signature, which the wallet's key or contract has to accept. */
    const signed = Effect.fn("Refunding.signed")(function* (
      { fromBlock, returned, transfer }: PreparedRefund,
      signature: Hex,
    ) {
      const authorization: SignedAuthorization = { ...transfer, asset: terms.asset, signature }
      if (!(yield* signatures.proven(authorization, terms)))
        return yield* refuse(
          `This is not a signature of ${transfer.from}, the wallet that was paid. Only that wallet can refund: its nonces are what prevents a second transfer.`,
        )
      const run = yield* chain.simulate(authorization)
      // A used nonce is that of an earlier transfer, which the server finds once the refund is recorded.
      if (run._tag === "Reverted" && run.reason !== alreadyUsed)
        return yield* refuse(
          run.reason === tooPoor
            ? `${transfer.from} holds less USDC than ${transfer.value} atomic. Fund it, and try again.`
            : "The token rejects this transfer now: it is paused, or one of the two wallets is blocked. Try again later.",
        )
      const payment = {
        rail: "x402",
        network: terms.network,
        authorization,
        fromBlock,
        transaction: Option.none(),
      } as const
      return { returned, payment } satisfies NewRefund
    }, silent)

    return { prepare, signed }
  }),
}) {
  static readonly layer = (config: RefundingConfig) => Layer.effect(this, this.make(config))
}
