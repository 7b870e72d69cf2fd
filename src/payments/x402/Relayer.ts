/** Settles by our own relayer key: one transaction after the other, and what fails in one never costs its neighbours theirs. */
import { Array, Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import { type Hex, hexToBigInt } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { Attempt } from "../ledger/Attempt.ts"
import { type Broadcast, Broadcasts, type NotedBroadcast } from "../ledger/Broadcasts.ts"
import { Refusals } from "../ledger/Refusals.ts"
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

/** Milliseconds for which each travels alone after the block in which somebody made others fail in a group. */
const apartFor = 600_000

const insolvent = "This server cannot pay the network's fee of a settlement at the moment, so it takes no USDC"

/** How long the relayer's balance is believed, and how long anybody waits for it. */
const solventFor = Duration.seconds(3)
const solventWithin = Duration.seconds(2)

/** The account that sends the transfers. */
export const addressOf = (privateKey: Redacted.Redacted<Hex>) => privateKeyToAccount(Redacted.value(privateKey)).address

export const layer = (config: RelayerConfig): Layer.Layer<Settlement, never, Chain | Broadcasts | Refusals> =>
  Layer.effect(
    Settlement,
    Effect.gen(function* () {
      const { client } = yield* Chain
      const broadcasts = yield* Broadcasts
      const refusals = yield* Refusals
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

      /**
       * Judges a broadcast that is in its block and did not pay: true where its wallet may not be at fault, as a neighbour in
       * its group may have taken its gas. A wallet at fault is refused: it can do so again, at our cost.
       */
      const judge = Effect.fnUntraced(function* (
        attempt: string,
        { blamed, hash, members }: NotedBroadcast,
        authorization: SignedAuthorization,
      ) {
        if (blamed) return false
        const { from: wallet } = authorization
        const [receipt, hasCode] = yield* Effect.all([
          node.call((one) => one.request({ method: "eth_getTransactionReceipt", params: [hash] })),
          node.hasCode(wallet),
        ])
        if (receipt === null || pays(receipt.logs, authorization)) return false
        const isGroup = members > 1
        const hasReverted = receipt.status === "0x0"
        // What succeeded alone without paying is an empty replacement of ours.
        if (!isGroup && !hasReverted) return false
        const gas = hexToBigInt(receipt.gasUsed)
        const isShort = isGroup && (hasReverted || Fees.mayHaveRunOut(gas, members))
        const block = yield* node.call((one) =>
          one.request({ method: "eth_getBlockByHash", params: [receipt.blockHash, false] }),
        )
        if (block === null) return false
        const minedAt = hexToBigInt(block.timestamp)
        // A wallet that got code behind the rehearsal may have taken the gas of all behind it, and may have none any more.
        if (isShort || (isGroup && hasCode)) yield* broadcaster.keepApart(Number(minedAt) * 1000 + apartFor)
        if (isShort && !hasCode) return true
        // Past its signed end it reverts for everybody: that was our delay.
        if (minedAt >= authorization.validBefore) return false
        yield* refusals.refuse({
          attempt,
          hash,
          wallet,
          reason: hasCode ? "wallet_reverted_settlement" : "wallet_did_not_pay",
          gas: hasCode ? gas : gas / BigInt(members),
        })
        yield* Effect.logWarning(`A wallet did not pay in ${hash} what it had agreed to; it is refused for an hour`)
        return false
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
        // A wallet that cancels what did not pay, or lets it end, is at fault as any other.
        yield* judge(id, last.value, authorization)
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
        const last = yield* broadcasts.find(id)
        const { isCodeless, refused } = yield* refusals.of(id, authorization.from)
        const transfer: Transfer = { attempt: id, state, authorization, chainId: chainIdOf(network), isCodeless }
        if (Option.isNone(last)) {
          // Its request may be about to send it; once somebody has inquired about it, that was given up. Of two who send it
          // only one is noted.
          const isGivenUp = checks > 0 || now - Date.parse(acceptedAt) > stuckAfter
          if (!isGivenUp) return Option.none<Submission>()
          return Option.some(
            Option.isSome(refused) ? unsent(refused.value) : yield* broadcaster.send(transfer, Option.none()),
          )
        }
        const { atMillis, hash } = last.value
        const known = yield* node.transaction(hash)
        if (known !== null && known.blockNumber !== null) {
          // What is in a block needs no wait. What reverted by itself is not paid for again.
          return (yield* judge(id, last.value, authorization)) && Option.isNone(refused)
            ? Option.some(yield* broadcaster.sendAlone(transfer, hash, Option.none()))
            : Option.none<Submission>()
        }
        const isOld = now - atMillis >= stuckAfter
        // What had paid and is unknown now needs no wait: its block took it along.
        const hasPaid = hash === paidIn
        if (!isOld && !(hasPaid && known === null)) return Option.none<Submission>()
        if (Option.isSome(refused) || (isCodeless && (yield* node.hasCode(authorization.from)))) {
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
                Effect.logWarning("What is left of a payment that cannot be made could not be looked at", error),
              ),
        obstacle: Effect.map(funds, (found) => (found === "failing" ? insolvent : undefined)),
        funds,
      })
    }),
  )
