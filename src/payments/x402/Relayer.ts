/** Settles by our own relayer key: one transaction after the other, and what fails in one never costs its neighbours theirs. */
import { Array, Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import type { Hex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { Attempt } from "../ledger/Attempt.ts"
import { type Broadcast, Broadcasts } from "../ledger/Broadcasts.ts"
import type { ChainPayment } from "../Payment.ts"
import { type Funds, Settlement, type SettlementRequest, type Submission, type Unpaid } from "../Settlement.ts"
import * as Broadcaster from "./Broadcaster.ts"
import { unsent } from "./Broadcaster.ts"
import { Chain } from "./Chain.ts"
import type { Transfer } from "./Dispatch.ts"
import { chainIdOf, pays, type SignedAuthorization } from "./Eip3009.ts"
import * as Fees from "./Fees.ts"
import * as RelayerNode from "./RelayerNode.ts"

export interface RelayerConfig {
  readonly privateKey: Redacted.Redacted<Hex>
  /** The key before it: it sends nothing new, but what it sent can only be replaced by itself. */
  readonly previousKey?: Redacted.Redacted<Hex> | undefined
  /** How long one broadcast may wait for the node. */
  readonly timeout: Duration.Duration
  /** After which a broadcast that is in no block counts as lost, where the node does not know it, or else as stuck. */
  readonly stuckAfter: Duration.Duration
  /** Payments in one transaction at most; 1 sends each alone. */
  readonly groupMost: number
}

/** Seconds an authorization must still live to be sent at our cost. */
const leastLife = 6n

/** Milliseconds for which a wallet is refused whose broadcast, fit to succeed before, did not pay in its block. */
const distrustedFor = 3_600_000

/** Why it is refused: its contract took back what it had agreed to, or what it was to pay had left it. */
type Distrust = "wallet_reverted_settlement" | "wallet_did_not_pay"

/** Milliseconds for which each travels alone after somebody made others fail in a group. */
const apartFor = 600_000

const insolvent = "This server cannot pay the network's fee of a settlement at the moment, so it sells nothing"

/** How long the relayer's balance is believed, and how long anybody waits for it. */
const solventFor = Duration.seconds(3)
const solventWithin = Duration.seconds(2)

/** The account that sends the transfers. */
export const addressOf = (privateKey: Redacted.Redacted<Hex>) => privateKeyToAccount(Redacted.value(privateKey)).address

export const layer = (config: RelayerConfig): Layer.Layer<Settlement, never, Chain | Broadcasts> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const { client } = yield* Chain
      const broadcasts = yield* Broadcasts
      const account = privateKeyToAccount(Redacted.value(config.privateKey))
      const node = RelayerNode.make(client, config.timeout)
      const broadcaster = yield* Broadcaster.make(node, broadcasts, account, config.groupMost)
      const previous = yield* Effect.forEach(
        Array.fromNullishOr(config.previousKey),
        Effect.fnUntraced(function* (key) {
          const before = privateKeyToAccount(Redacted.value(key))
          return { address: before.address, broadcaster: yield* Broadcaster.make(node, broadcasts, before, 1) }
        }),
      )
      const ours = [{ address: account.address, broadcaster }, ...previous]

      /** Whoever can put another transaction into the place of this one: nobody, where its key is no longer known. */
      const replacerOf = ({ from }: { readonly from: Hex }) =>
        Option.map(
          Option.fromNullishOr(ours.find(({ address }) => address.toLowerCase() === from.toLowerCase())),
          (one) => one.broadcaster,
        )
      const stuckAfter = Duration.toMillis(config.stuckAfter)

      /** Wallets whose broadcast did not pay, and until when they are refused. */
      const distrust = new Map<string, { readonly reason: Distrust; readonly until: number }>()

      const distrustOf = (from: string) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const known = distrust.get(from)
          return Option.fromNullishOr(known !== undefined && known.until > now ? known.reason : undefined)
        })

      const submit = Effect.fnUntraced(function* ({ attempt, authorization, requirements }: SettlementRequest) {
        const reason = yield* distrustOf(authorization.from)
        if (Option.isSome(reason)) return unsent(reason.value)
        const transfer: Transfer = {
          attempt,
          state: "pending",
          authorization,
          chainId: chainIdOf(requirements.network),
        }
        return yield* broadcaster.send(transfer, Option.none())
      })

      /**
       * Whether a broadcast is in its block without having paid. Remembers the wallet: it can do so again, at our cost. In a
       * group one without code may have failed by what its neighbours did; one with code had none when it was let in.
       */
      const hasFailed = Effect.fnUntraced(function* ({ hash, members }: Broadcast, authorization: SignedAuthorization) {
        const { from } = authorization
        const [receipt, hasCode] = yield* Effect.all([
          node.call((one) => one.request({ method: "eth_getTransactionReceipt", params: [hash] })),
          node.hasCode(from),
        ])
        if (receipt === null || pays(receipt.logs, authorization)) return false
        // What succeeded alone without paying is an empty replacement of ours.
        if (members === 1 ? receipt.status !== "0x0" : !hasCode) return true
        const now = yield* Clock.currentTimeMillis
        if (members > 1) yield* broadcaster.keepApart(now + apartFor)
        for (const [known, { until }] of distrust) if (until <= now) distrust.delete(known)
        distrust.set(from, {
          reason: hasCode ? "wallet_reverted_settlement" : "wallet_did_not_pay",
          until: now + distrustedFor,
        })
        yield* Effect.logWarning(`A wallet did not pay in ${hash} what it had agreed to; it is refused for an hour`)
        return true
      })

      /** Who can replace a broadcast that is stuck. */
      const replacerOfStuck = Effect.fnUntraced(function* ({ atMillis, hash }: Broadcast) {
        if ((yield* Clock.currentTimeMillis) - atMillis < stuckAfter) return Option.none()
        const known = yield* node.transaction(hash)
        return known !== null && known.blockNumber === null ? replacerOf(known) : Option.none()
      })

      const abandon = Effect.fn("Relayer.abandon")(function* (
        { id, state }: Pick<Attempt, "id" | "state">,
        { authorization, network }: ChainPayment,
      ) {
        const last = yield* broadcasts.find(id)
        if (Option.isNone(last)) return
        const replacer = yield* replacerOfStuck(last.value)
        if (Option.isNone(replacer)) return
        const transfer: Transfer = { attempt: id, state, authorization, chainId: chainIdOf(network) }
        yield* replacer.value.replaceByNothing(transfer, last.value)
      })

      const resubmit = Effect.fn("Relayer.resubmit")(function* (unpaid: Unpaid, payment: ChainPayment) {
        const { acceptedAt, checks, id, paidIn, state } = unpaid
        const { authorization, network } = payment
        const now = yield* Clock.currentTimeMillis
        if (authorization.validBefore < BigInt(Math.floor(now / 1000)) + leastLife) {
          yield* abandon(unpaid, payment)
          return Option.none<Submission>()
        }
        const transfer: Transfer = { attempt: id, state, authorization, chainId: chainIdOf(network) }
        const last = yield* broadcasts.find(id)
        const refused = yield* distrustOf(authorization.from)
        if (Option.isNone(last)) {
          // Its request may be about to send it; once somebody has inquired about it, that was given up. Of two who send it
          // only one is noted.
          const isGivenUp = checks > 0 || now - Date.parse(acceptedAt) > stuckAfter
          if (!isGivenUp) return Option.none<Submission>()
          return Option.some(
            Option.isSome(refused) ? unsent(refused.value) : yield* broadcaster.send(transfer, Option.none()),
          )
        }
        const { atMillis, hash, members } = last.value
        const isOld = now - atMillis >= stuckAfter
        // What a group has shown to have failed needs no wait: its neighbours may have taken its gas.
        // Nor does what had paid and is unknown now: its block took it along.
        const hasPaid = hash === paidIn
        if (!isOld && !hasPaid && members === 1) return Option.none<Submission>()
        const known = yield* node.transaction(hash)
        if (known !== null && known.blockNumber !== null) {
          // What failed in a group may not have been at fault; alone it reverted by itself, and is not paid for again.
          const hasFailedThere = yield* hasFailed(last.value, authorization)
          return hasFailedThere && members > 1 && Option.isNone(yield* distrustOf(authorization.from))
            ? Option.some(yield* broadcaster.sendAlone(transfer, hash, Option.none()))
            : Option.none<Submission>()
        }
        if (!isOld && !(hasPaid && known === null)) return Option.none<Submission>()
        if (Option.isSome(refused)) {
          // Nothing more is paid for it, but all later ones wait for its place.
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

      /** Asked at most every few seconds, whoever wants to know; a node that does not answer is found out elsewhere. */
      const funds = yield* Effect.all([node.balance(account.address, "latest"), Fees.current(node)], {
        concurrency: "unbounded",
      }).pipe(
        Effect.map(([balance, { fee }]): Funds =>
          balance >= (Fees.settlementGas + broadcaster.openGas()) * fee.maxFeePerGas ? "ok" : "failing",
        ),
        Effect.tap((found) =>
          found === "ok" ? Effect.void : Effect.logError("The relayer cannot pay gas: send it some"),
        ),
        Effect.timeout(solventWithin),
        Effect.orElseSucceed((): Funds => "unknown"),
        Effect.uninterruptible,
        Effect.cachedWithTTL(solventFor),
      )

      return Settlement.of({
        submit,
        resubmit: (unpaid, payment) =>
          Effect.catch(resubmit(unpaid, payment), (error) =>
            Effect.as(Effect.logWarning("A payment could not be handed in again", error), Option.none<Submission>()),
          ),
        abandon: (attempt) =>
          attempt.payment.rail === "card"
            ? Effect.void
            : Effect.catch(abandon(attempt, attempt.payment), (error) =>
                Effect.logWarning("A transaction that no block takes could not be replaced", error),
              ),
        obstacle: Effect.map(funds, (found) => (found === "failing" ? insolvent : undefined)),
        funds,
      })
    }),
  )
