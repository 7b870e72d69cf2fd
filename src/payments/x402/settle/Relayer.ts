/** Settles by our own relayer key, one transaction for each payment. */
import * as DatabaseWatch from "../../../platform/DatabaseWatch.ts"
import * as Sender from "./Sender.ts"
import { Duration, Effect, Fiber, Layer, Option, Redacted } from "effect"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { lasting } from "../../../platform/Lasting.ts"
import { log } from "../../../platform/LogMessages.ts"
import { chainIdOf, inLowerCase } from "../chain/Eip3009.ts"
import type { ChainPayment } from "../../Payment.ts"
import { Chain } from "../chain/Chain.ts"
import { Broadcasts } from "./Broadcasts.ts"
import type { Attempt } from "../../store/Attempt.ts"
import type { Lookup } from "../../store/Lookup.ts"
import { type Funds, type Limits, Settlement, type SettlementRequest, type Submission } from "./Settlement.ts"
import { currentFees, settlementGas } from "./Fees.ts"
import { tend } from "./Tending.ts"

export interface RelayerConfig extends Limits {
  readonly privateKey: Redacted.Redacted<Hex>
  /** How long a request waits in line. */
  readonly timeout: Duration.Duration
  /** Age at which a transaction that waits in the node counts as stuck. */
  readonly stuckAfter: Duration.Duration
}

const insolvent = "This server cannot pay the network's fee of a settlement, so it accepts no USDC now"

/** How long the relayer's balance is cached, and the timeout of its query. */
const solventFor = Duration.seconds(3)
const solventWithin = Duration.seconds(2)

/** How long an inquiry waits for its submission. A longer line moves without it. */
const resubmittedWithin = Duration.seconds(1)

export const addressOf = (privateKey: Redacted.Redacted<Hex>) => privateKeyToAccount(Redacted.value(privateKey)).address

export const layer = (config: RelayerConfig): Layer.Layer<Settlement, never, Chain | Broadcasts | Lookup> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const chain = yield* Chain
      const broadcasts = yield* Broadcasts
      const scope = yield* Effect.scope
      const account = privateKeyToAccount(Redacted.value(config.privateKey))
      const stuckAfter = Duration.toMillis(config.stuckAfter)
      const send = yield* Sender.make(chain, broadcasts, account, config)
      const tending = yield* tend({ account, broadcasts, chain, stuckAfter })

      /** Payments that wait in line or are being sent by this server. */
      const sending = new Map<string, Fiber.Fiber<Submission>>()

      /** Sends in the background. Callers of the same payment share it, and leave without stopping it. */
      const start = (transfer: Sender.Transfer) =>
        Effect.suspend(() => {
          const { attempt } = transfer
          const running = sending.get(attempt)
          if (running !== undefined) return Effect.succeed(running)
          const sent = Effect.ensuring(
            send(transfer),
            Effect.sync(() => sending.delete(attempt)),
          )
          return Effect.map(Effect.forkIn(sent, scope), (fiber) => {
            sending.set(attempt, fiber)
            return fiber
          })
        }).pipe(Effect.uninterruptible)

      const submit = ({ attempt, payment: { authorization, network } }: SettlementRequest) =>
        start({ attempt, state: "pending", authorization, chainId: chainIdOf(network) }).pipe(
          Effect.flatMap(Fiber.join),
          Effect.timeoutOrElse({
            duration: config.timeout,
            orElse: () => Effect.succeed(Sender.unclear({ message: "the payment waits in line" })),
          }),
        )

      /** Sends a payment without a recorded transaction. A recorded one is tended until its nonce is spent. */
      const resubmit = Effect.fn("Relayer.resubmit")(function* ({ id, state }: Attempt, payment: ChainPayment) {
        const { authorization, network } = payment
        if (Option.isSome(yield* broadcasts.find(id))) {
          yield* tending.recount
          return Option.none<Submission>()
        }
        const fiber = yield* start({ attempt: id, state, authorization, chainId: chainIdOf(network) })
        return yield* Effect.timeoutOption(Fiber.join(fiber), resubmittedWithin)
      })

      /**
       * Limits the wallet of a rehearsed transfer that failed in its block. It is not at fault if the block came too late,
       * or if another submitter had used the authorization by then: that transfer may have paid.
       */
      const judge = Effect.fnUntraced(function* (attempt: string, hash: Hex, payment: ChainPayment, hasEnded: boolean) {
        const { from, validBefore } = payment.authorization
        const receipt = yield* chain.receipt(hash)
        if (Option.isNone(receipt) || receipt.value.succeeded) return
        const { block } = receipt.value
        if ((yield* chain.timeOf(block.number)) >= validBefore) return
        if (!hasEnded && (yield* chain.stateAt(payment.authorization, block)).used) return
        if (!(yield* broadcasts.limit(inLowerCase(from)))) return
        yield* log("payment not made", { attempt, transaction: hash })
      })

      const isSpent = Effect.fn("Relayer.isSpent")(function* (
        attempt: string,
        payment: ChainPayment,
        hasEnded: boolean,
      ) {
        const sent = yield* broadcasts.find(attempt)
        if (Option.isNone(sent)) return false
        const { nonce, sender } = sent.value
        if ((yield* chain.count(sender, "latest")) <= nonce) return false
        yield* judge(attempt, sent.value.hash, payment, hasEnded)
        return !hasEnded && (yield* chain.isSpentUnused({ sender, nonce }, payment.authorization))
      })

      const poverty = lasting()
      const resubmitting = DatabaseWatch.watched("resubmission failed")
      const checking = DatabaseWatch.watched("standing check failed")
      /** Cached for a few seconds for all callers. A node without an answer is reported elsewhere. */
      const funds = yield* Effect.all([chain.balance(account.address), currentFees(chain)], {
        concurrency: "unbounded",
      }).pipe(
        Effect.map(([balance, { fee }]): Funds => (balance >= settlementGas * fee.maxFeePerGas ? "ok" : "failing")),
        Effect.tap((state) => (state === "ok" ? poverty.ends : poverty.goesOn("", log("relayer out of gas")))),
        Effect.timeout(solventWithin),
        Effect.orElseSucceed((): Funds => "unknown"),
        Effect.uninterruptible,
        Effect.cachedWithTTL(solventFor),
      )

      return Settlement.of({
        submit,
        resubmit: (attempt, payment) =>
          Effect.orElseSucceed(resubmitting(resubmit(attempt, payment)), () => Option.none<Submission>()),
        isSpent: (attempt, payment, hasEnded) =>
          Effect.orElseSucceed(checking(isSpent(attempt, payment, hasEnded), { attempt }), () => false),
        obstacle: Effect.map(funds, (state) => (state === "failing" ? insolvent : undefined)),
        funds,
      })
    }),
  )
