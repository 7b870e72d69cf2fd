/** Settles by our own relayer key. A failing transfer does not affect the others of its transaction. */
import { Array, Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { DatabaseClock } from "../../../platform/DatabaseClock.ts"
import type { Attempt } from "../../store/Attempt.ts"
import { type Broadcast, Broadcasts } from "../../store/Broadcasts.ts"
import { Refusals } from "../../store/Refusals.ts"
import type { ChainPayment } from "../../Payment.ts"
import { type Funds, Settlement, type SettlementRequest, type Submission, type Unpaid } from "../../Settlement.ts"
import * as Broadcaster from "./Broadcaster.ts"
import { unsent } from "./Broadcaster.ts"
import { Chain } from "../../chain/Chain.ts"
import type { Transfer } from "./Dispatch.ts"
import { chainIdOf } from "../../chain/Eip3009.ts"
import * as Fees from "./Fees.ts"
import * as Losses from "./Losses.ts"
import * as RelayerNode from "./RelayerNode.ts"
import { log } from "../../../platform/LogMessages.ts"

export interface RelayerConfig {
  readonly privateKey: Redacted.Redacted<Hex>
  /** The previous key. It sends nothing new, but only it can replace its own transactions. */
  readonly previousKey?: Redacted.Redacted<Hex> | undefined
  readonly timeout: Duration.Duration
  /** Age at which a broadcast that is in no block counts as lost if the node does not know it, otherwise as stuck. */
  readonly stuckAfter: Duration.Duration
  /** Maximum number of payments in one transaction; 1 sends each alone. */
  readonly groupMaximum: number
}

/** Seconds of validity an authorization needs to be sent at our cost. */
const leastLife = 6n

const insolvent = "This server cannot pay the network's fee of a settlement, so it accepts no USDC now"

/** How long the relayer's balance is cached, and the timeout of its query. */
const solventFor = Duration.seconds(3)
const solventWithin = Duration.seconds(2)

export const addressOf = (privateKey: Redacted.Redacted<Hex>) => privateKeyToAccount(Redacted.value(privateKey)).address

export const layer = (
  config: RelayerConfig,
): Layer.Layer<Settlement, never, Chain | Broadcasts | Refusals | DatabaseClock> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const chain = yield* Chain
      const broadcasts = yield* Broadcasts
      const refusals = yield* Refusals
      const clock = yield* DatabaseClock
      const account = privateKeyToAccount(Redacted.value(config.privateKey))
      const node = RelayerNode.make(chain, config.timeout)
      const broadcaster = yield* Broadcaster.make(node, broadcasts, account, config.groupMaximum)
      const previous = yield* Effect.forEach(
        Array.fromNullishOr(config.previousKey),
        Effect.fnUntraced(function* (key) {
          const before = privateKeyToAccount(Redacted.value(key))
          return { address: before.address, broadcaster: yield* Broadcaster.make(node, broadcasts, before, 1) }
        }),
      )
      const ours = [{ address: account.address, broadcaster }, ...previous]

      /** The broadcaster that can replace this transaction; none if its key is unknown. */
      const replacerOf = ({ from }: { readonly from: Hex }) =>
        Option.map(
          Option.fromNullishOr(ours.find(({ address }) => address.toLowerCase() === from.toLowerCase())),
          (one) => one.broadcaster,
        )
      const stuckAfter = Duration.toMillis(config.stuckAfter)

      const submit = Effect.fnUntraced(function* (request: SettlementRequest) {
        const { attempt, authorization, isCodeless = false, requirements } = request
        const transfer: Transfer = {
          attempt,
          state: "pending",
          authorization,
          chainId: chainIdOf(requirements.network),
          isCodeless,
        }
        return yield* broadcaster.send(transfer, Option.none())
      })

      const judge = Losses.make(node, refusals, broadcaster.keepApart)

      const replacerOfStuck = Effect.fnUntraced(function* ({ atMillis, hash }: Broadcast) {
        if ((yield* Clock.currentTimeMillis) - atMillis < stuckAfter) return Option.none()
        const known = yield* node.transaction(hash)
        return known !== null && known.blockNumber === null ? replacerOf(known) : Option.none()
      })

      const abandon = Effect.fn("Relayer.abandon")(function* (
        { id, state }: Pick<Attempt, "id" | "state">,
        { authorization, network, transaction }: ChainPayment,
      ) {
        const last = yield* broadcasts.find(id)
        if (Option.isNone(last)) return true
        // A wallet that cancels an unpaid authorization, or lets it expire, is at fault, too.
        yield* judge({ attempt: id, isPending: state === "pending", authorization }, last.value)
        const isNewest = Option.contains(transaction, last.value.hash)
        const replacer = yield* replacerOfStuck(last.value)
        if (Option.isNone(replacer)) return isNewest
        const transfer: Transfer = { attempt: id, state, authorization, chainId: chainIdOf(network) }
        yield* replacer.value.replaceByNothing(transfer, last.value)
        return false
      })

      const resubmit = Effect.fn("Relayer.resubmit")(function* (unpaid: Unpaid, payment: ChainPayment) {
        const { acceptedAt, checks, id, paidIn, state } = unpaid
        const { authorization, network } = payment
        const now = yield* Clock.currentTimeMillis
        if (authorization.validBefore < BigInt(Math.floor((yield* clock.now).millis / 1000)) + leastLife) {
          yield* abandon(unpaid, payment)
          return Option.none<Submission>()
        }
        const last = yield* broadcasts.find(id)
        const { isCodeless, refused } = yield* refusals.of(id, authorization.from)
        const transfer: Transfer = { attempt: id, state, authorization, chainId: chainIdOf(network), isCodeless }
        if (Option.isNone(last)) {
          // Its request may be about to send it, unless an inquiry has run since. If two servers send it, only one is
          // recorded.
          const isGivenUp = checks > 0 || now - Date.parse(acceptedAt) > stuckAfter
          if (!isGivenUp) return Option.none<Submission>()
          return Option.some(
            Option.isSome(refused) ? unsent(refused.value) : yield* broadcaster.send(transfer, Option.none()),
          )
        }
        const { atMillis, hash } = last.value
        const known = yield* node.transaction(hash)
        if (known !== null && known.blockNumber !== null) {
          // A mined transaction needs no wait. One that reverted alone is not paid for again.
          const own = { attempt: id, isPending: state === "pending", authorization }
          return (yield* judge(own, last.value)) && Option.isNone(refused)
            ? Option.some(yield* broadcaster.sendAlone(transfer, hash, Option.none()))
            : Option.none<Submission>()
        }
        const isOld = now - atMillis >= stuckAfter
        // A transaction that had paid and is now unknown needs no wait: it was orphaned with its block.
        const hasPaid = hash === paidIn
        if (!isOld && !(hasPaid && known === null)) return Option.none<Submission>()
        if (Option.isSome(refused) || (isCodeless && (yield* node.hasCode(authorization.from)))) {
          // No more gas is spent on it, but later transactions wait for its nonce.
          yield* abandon(unpaid, payment)
          return Option.none<Submission>()
        }
        if (known === null) return Option.some(yield* broadcaster.send(transfer, Option.some(hash)))
        const replacer = replacerOf(known)
        if (Option.isNone(replacer) || (yield* replacer.value.fillBefore(transfer, last.value))) {
          return Option.none<Submission>()
        }
        return Option.some(yield* replacer.value.sendAlone(transfer, hash, last))
      })

      /** Cached for a few seconds for all callers. A node without an answer is reported elsewhere. */
      const funds = yield* Effect.all([node.balance(account.address, "latest"), Fees.current(node)], {
        concurrency: "unbounded",
      }).pipe(
        Effect.map(([balance, { fee }]): Funds =>
          balance >= (Fees.settlementGas + broadcaster.openGas()) * fee.maxFeePerGas ? "ok" : "failing",
        ),
        Effect.tap((found) => (found === "ok" ? Effect.void : log("relayer out of gas"))),
        Effect.timeout(solventWithin),
        Effect.orElseSucceed((): Funds => "unknown"),
        Effect.uninterruptible,
        Effect.cachedWithTTL(solventFor),
      )

      return Settlement.of({
        submit,
        resubmit: (unpaid, payment) =>
          Effect.catch(resubmit(unpaid, payment), (error) =>
            Effect.as(log("resubmission failed", {}, error), Option.none<Submission>()),
          ),
        abandon: (attempt) =>
          attempt.payment.rail === "card"
            ? Effect.succeed(true)
            : Effect.catch(abandon(attempt, attempt.payment), (error) =>
                Effect.as(log("abandoned payment check failed", {}, error), false),
              ),
        obstacle: Effect.map(funds, (found) => (found === "failing" ? insolvent : undefined)),
        funds,
      })
    }),
  )
