/** Settles by our own relayer key: broadcasts one after the other, so a refused payment never costs its neighbours theirs. */
import { Clock, Duration, Effect, Layer, Option, Redacted } from "effect"
import { type Hex, hexToBigInt } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import type { Attempt } from "../ledger/Attempt.ts"
import { type Broadcast, Broadcasts } from "../ledger/Broadcasts.ts"
import type { ChainPayment } from "../Payment.ts"
import { type Funds, Settlement, type SettlementRequest, type Submission } from "../Settlement.ts"
import * as Broadcaster from "./Broadcaster.ts"
import { type Transfer, unsent } from "./Broadcaster.ts"
import { Chain } from "./Chain.ts"
import { chainIdOf } from "./Eip3009.ts"
import * as Fees from "./Fees.ts"
import * as RelayerNode from "./RelayerNode.ts"

export interface RelayerConfig {
  readonly privateKey: Redacted.Redacted<Hex>
  /** How long one broadcast may wait for the node. */
  readonly timeout: Duration.Duration
  /** After which a broadcast that is in no block counts as lost, where the node does not know it, or else as stuck. */
  readonly stuckAfter: Duration.Duration
}

/** Seconds an authorization must still live to be sent at our cost. */
const leastLife = 6n

/** Milliseconds for which a wallet is refused whose contract agreed before a broadcast and reverted it in its block. */
const distrustedFor = 3_600_000
const distrusted = "wallet_reverted_settlement"

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
      const broadcaster = yield* Broadcaster.make(node, broadcasts, account)
      const stuckAfter = Duration.toMillis(config.stuckAfter)

      /** Wallets whose contract reverted what it had agreed to, and until when they are refused. */
      const distrust = new Map<string, number>()

      const submit = Effect.fnUntraced(function* ({ attempt, authorization, requirements }: SettlementRequest) {
        if ((distrust.get(authorization.from) ?? 0) > (yield* Clock.currentTimeMillis)) return unsent(distrusted)
        const transfer = { attempt, authorization, chainId: chainIdOf(requirements.network) }
        return yield* broadcaster.send(transfer, Option.none(), Option.none())
      })

      /** Remembers the wallet of a broadcast that reverted in its block, if it is a contract that can do so at will. */
      const distrustIfReverted = Effect.fnUntraced(function* (hash: Hex, wallet: Hex) {
        const [receipt, code] = yield* Effect.all([
          node.call((one) => one.request({ method: "eth_getTransactionReceipt", params: [hash] })),
          node.call((one) => one.request({ method: "eth_getCode", params: [wallet, "latest"] })),
        ])
        if (receipt?.status !== "0x0" || code === "0x") return
        const now = yield* Clock.currentTimeMillis
        for (const [known, until] of distrust) if (until <= now) distrust.delete(known)
        distrust.set(wallet, now + distrustedFor)
        yield* Effect.logWarning(`A wallet reverted in ${hash} what it had agreed to; it is refused for an hour`)
      })

      const isStuck = Effect.fnUntraced(function* ({ atMillis, hash }: Broadcast) {
        if ((yield* Clock.currentTimeMillis) - atMillis < stuckAfter) return false
        const known = yield* node.transaction(hash)
        return known !== null && known.blockNumber === null
      })

      const abandon = Effect.fn("Relayer.abandon")(function* ({ id, payment }: Attempt) {
        if (payment.rail === "card") return
        const last = yield* broadcasts.find(id)
        if (Option.isNone(last) || !(yield* isStuck(last.value))) return
        yield* broadcaster.replaceByNothing(id, last.value, chainIdOf(payment.network))
      })

      const resubmit = Effect.fn("Relayer.resubmit")(function* (
        attempt: Attempt,
        { authorization, network }: ChainPayment,
      ) {
        const now = yield* Clock.currentTimeMillis
        if (authorization.validBefore < BigInt(Math.floor(now / 1000)) + leastLife) {
          yield* abandon(attempt)
          return Option.none<Submission>()
        }
        const transfer: Transfer = { attempt: attempt.id, authorization, chainId: chainIdOf(network) }
        const last = yield* broadcasts.find(attempt.id)
        if (Option.isNone(last)) {
          // Its request may be about to send it; once somebody has inquired about it, that was given up.
          const isGivenUp = attempt.checks > 0 || now - Date.parse(attempt.acceptedAt) > stuckAfter
          return isGivenUp
            ? Option.some(yield* broadcaster.send(transfer, Option.none(), Option.none()))
            : Option.none<Submission>()
        }
        const { atMillis, hash } = last.value
        if (now - atMillis < stuckAfter) return Option.none<Submission>()
        const known = yield* node.transaction(hash)
        // Mined without having paid: it reverted, and is not paid for a second time.
        if (known !== null && known.blockNumber !== null) {
          yield* distrustIfReverted(hash, authorization.from)
          return Option.none<Submission>()
        }
        const stuck = known === null ? Option.none<Broadcast>() : last
        return Option.some(yield* broadcaster.send(transfer, Option.some(hash), stuck))
      })

      /** Asked at most every few seconds, whoever wants to know; a node that does not answer is found out elsewhere. */
      const funds = yield* Effect.all(
        [
          node.call((one) =>
            one.request({ method: "eth_getBalance", params: [account.address, "latest"] }).then(hexToBigInt),
          ),
          Fees.current(node),
        ],
        { concurrency: "unbounded" },
      ).pipe(
        Effect.map(([balance, { maxFeePerGas }]): Funds =>
          balance >= Fees.settlementGas * maxFeePerGas ? "ok" : "failing",
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
        resubmit: (attempt, payment) =>
          Effect.catch(resubmit(attempt, payment), (error) =>
            Effect.as(Effect.logWarning("A payment could not be handed in again", error), Option.none<Submission>()),
          ),
        abandon: (attempt) =>
          Effect.catch(abandon(attempt), (error) =>
            Effect.logWarning("A transaction that no block takes could not be replaced", error),
          ),
        solvent: Effect.map(funds, (found) => found !== "failing"),
        funds,
      })
    }),
  )
