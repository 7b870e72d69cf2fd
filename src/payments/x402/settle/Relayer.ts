/** Settles by our own relayer key, one transaction for each payment. */
import * as DatabaseWatch from "../../../platform/DatabaseWatch.ts"
import * as Sender from "./Sender.ts"
import { Duration, Effect, Fiber, Layer, Option, Redacted } from "effect"
import { type Hex, parseTransaction } from "viem"
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { lasting } from "../../../platform/Lasting.ts"
import { log } from "../../../platform/LogMessages.ts"
import { alreadyUsed, authorizationIn, chainIdOf, inLowerCase } from "../chain/Eip3009.ts"
import type { ChainPayment } from "../../Payment.ts"
import { Chain } from "../chain/Chain.ts"
import { type Fee, refusalOf } from "../chain/Questions.ts"
import { Broadcasts, type InFlight } from "./Broadcasts.ts"
import type { Attempt } from "../../store/Attempt.ts"
import { gasLossMaximum, Lookup } from "../../store/Lookup.ts"
import { type Funds, type Limits, Settlement, type SettlementRequest, type Submission } from "./Settlement.ts"
import { currentFees, emptyGas, highestFee, raisedFee, settlementGas } from "./Fees.ts"

interface TendingOptions {
  readonly chain: Chain["Service"]
  readonly broadcasts: Broadcasts["Service"]
  readonly account: PrivateKeyAccount
  /** Age in milliseconds at which a transaction that waits in the node counts as stuck. */
  readonly stuckAfter: number
}

/** Pause between two rounds. A key without transactions in flight costs one read of its newest nonce. */
const every = Duration.seconds(1)

/** Pause between two looks for transactions that did not pay. */
const lossesEvery = Duration.seconds(5)

/** Milliseconds after which a transaction that the node does not know is sent again: the node may only lag. */
const lostAfter = 2_000

/** Transactions of a round, more than may be in flight by the default. */
const tendedAtOnce = 64

/** Tends the transactions of a key that are in no block: resends lost ones, replaces stuck ones, fills free nonces. */
const tend = Effect.fnUntraced(function* ({ account, broadcasts, chain, stuckAfter }: TendingOptions) {
  const { gasLostEther } = yield* Lookup
  const { address } = account
  const sender = inLowerCase(address)

  const empty = (chainId: number, nonce: number, fee: Fee): Sender.Call => ({
    chainId,
    nonce,
    to: address,
    gas: emptyGas,
    fee,
  })

  /** The call of a transaction, if its transfer would still pay, and whether the transaction itself may have paid. */
  const paying = Effect.fnUntraced(function* ({ isPayable, nonce, raw }: InFlight, fee: Fee) {
    const { data, gas = 0n, to } = parseTransaction(raw)
    if (!isPayable || data === undefined || to === null || to === undefined)
      return { call: undefined, mayHavePaid: false }
    const call = { to, data, gas, fee }
    return yield* chain.rehearse(address, call, "latest").pipe(
      Effect.as({ call, mayHavePaid: false }),
      Effect.catch((failure) => {
        const refusal = refusalOf(failure)
        if (refusal === undefined) return Effect.fail(failure)
        if (refusal !== alreadyUsed) return Effect.succeed({ call: undefined, mayHavePaid: false })
        // A node that lags may not know the block in which this very transaction used the authorization.
        return chain.isUsedElsewhere({ sender, nonce }, authorizationIn(call)).pipe(
          Effect.orElseSucceed(() => false),
          Effect.map((isElsewhere) => ({ call: undefined, mayHavePaid: !isElsewhere })),
        )
      }),
    )
  })

  const tendOne = Effect.fnUntraced(function* (one: InFlight, isOldest: boolean) {
    const { ageMillis, hash, nonce, raw } = one
    if (ageMillis < lostAfter) return
    const onNode = yield* chain.transaction(hash)
    if (Option.exists(onNode, ({ isMined }) => isMined)) return
    const isLost = Option.isNone(onNode)
    const market = yield* currentFees(chain)
    const { chainId = 0, data, maxFeePerGas = 0n } = parseTransaction(raw)
    // Those behind the oldest one wait for it, unless no block takes them at their fee.
    const isStuck = ageMillis >= stuckAfter && (isOldest || maxFeePerGas < market.base)
    if (!isLost && !isStuck) return
    const raised = raisedFee(market.fee, maxFeePerGas)
    if (!isLost && raised === undefined) return yield* Effect.ignore(chain.send(raw))
    const fee = raised ?? market.fee
    const { call, mayHavePaid } = yield* paying(one, fee)
    if (mayHavePaid && !isStuck) return
    // Nothing needs outbidding where the node knows no transaction.
    const isPriced = maxFeePerGas >= market.base && maxFeePerGas <= highestFee(market.fee)
    const isEmpty = data === undefined
    if (isLost && (!isStuck || isPriced) && (isEmpty || call !== undefined))
      return yield* Effect.ignore(chain.send(raw))
    const signed = yield* Sender.sign(
      account,
      call === undefined ? empty(chainId, nonce, fee) : { chainId, nonce, ...call },
    )
    if (!(yield* broadcasts.replace(hash, signed))) return
    yield* log("transaction replaced", { nonce, transaction: signed.hash, before: hash })
    // A node that refuses it, such as for lack of gas, is asked again in the next round.
    yield* Effect.ignore(chain.send(signed.raw))
  })

  /** Fills a nonce that no row has, such as after the restore of a backup, so that later ones can be mined. */
  const fill = Effect.fnUntraced(function* (nonce: number, behind: InFlight) {
    if (behind.ageMillis < lostAfter || (yield* chain.count(address, "pending")) > nonce) return
    const { fee } = yield* currentFees(chain)
    const { chainId = 0 } = parseTransaction(behind.raw)
    const signed = yield* Sender.sign(account, empty(chainId, nonce, fee))
    if (yield* broadcasts.fill(signed)) yield* Effect.ignore(chain.send(signed.raw))
  })

  /** The first nonce that may be in no block, as last read. A reorganisation lowers it. */
  let mined = 0

  const round = Effect.gen(function* () {
    if ((yield* broadcasts.line(sender, mined)).next <= mined) return
    mined = yield* chain.count(address, "latest")
    const rows = yield* broadcasts.inFlight(sender, mined, tendedAtOnce)
    const [oldest] = rows
    if (oldest === undefined) return
    if (oldest.nonce > mined) yield* fill(mined, oldest)
    const exits = yield* Effect.forEach(rows, (one) => Effect.exit(tendOne(one, one === oldest)), { concurrency: 8 })
    yield* Effect.forEach(exits, (exit) => exit, { discard: true })
  })

  yield* DatabaseWatch.sweeping(Effect.as(round, 0), every, "transactions not tended")

  /** Records what mined transactions that did not pay have cost, and warns. A limit would lock out other buyers. */
  const losses = Effect.gen(function* () {
    for (const { hash, raw } of yield* broadcasts.unpaid(sender, mined, tendedAtOnce)) {
      const receipt = yield* chain.receipt(hash)
      // One that fills the nonce of a payment has no data.
      const isPayment = parseTransaction(raw).data !== undefined
      if (Option.isNone(receipt) || (receipt.value.succeeded && isPayment)) continue
      yield* broadcasts.lose(hash, receipt.value.wei)
    }
    const lastHourEther = yield* gasLostEther
    yield* lastHourEther < gasLossMaximum ? loss.ends : loss.goesOn("", log("relayer gas lost", { lastHourEther }))
    return 0
  })
  const loss = lasting()
  yield* DatabaseWatch.sweeping(losses, lossesEvery, "transactions not tended")

  /** Looks at the key again after a reorganisation may have taken transactions out of their blocks. */
  return { look: Effect.map(chain.count(address, "latest"), (now) => (mined = Math.min(mined, now))) }
})

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
          yield* tending.look
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
        Effect.tap((found) => (found === "ok" ? poverty.ends : poverty.goesOn("", log("relayer out of gas")))),
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
        obstacle: Effect.map(funds, (found) => (found === "failing" ? insolvent : undefined)),
        funds,
      })
    }),
  )
