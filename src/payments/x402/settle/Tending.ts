/** Tends the relayer's transactions that are in no block, and counts the gas of those that did not pay. */
import * as DatabaseWatch from "../../../platform/DatabaseWatch.ts"
import * as Sender from "./Sender.ts"
import { Duration, Effect, Option } from "effect"
import { type Hex, parseTransaction } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import { lasting } from "../../../platform/Lasting.ts"
import { log } from "../../../platform/LogMessages.ts"
import { alreadyUsed, authorizationIn, inLowerCase } from "../chain/Eip3009.ts"
import type { Chain } from "../chain/Chain.ts"
import { type Fee, refusalOf } from "../chain/Questions.ts"
import type { Broadcasts, OpenBroadcast } from "./Broadcasts.ts"
import { gasLossMaximum, Lookup } from "../../store/Lookup.ts"
import { currentFees, emptyGas, highestFee, raisedFee } from "./Fees.ts"

interface TendingOptions {
  readonly chain: Chain["Service"]
  readonly broadcasts: Broadcasts["Service"]
  readonly account: PrivateKeyAccount
  /** Age in milliseconds at which a transaction that waits in the node counts as stuck. */
  readonly stuckAfter: number
}

/** Pause between two rounds. A key without transactions in flight costs one read of its newest nonce. */
const every = Duration.seconds(1)

/** Pause between two searches for transactions that did not pay. */
const lossesEvery = Duration.seconds(5)

/** Milliseconds after which a transaction that the node does not know is sent again: the node may only lag. */
const lostAfter = 2_000

/** Transactions of a round, more than may be in flight by the default. */
const tendedAtOnce = 64

/** Tends the transactions of a key that are in no block: resends lost ones, replaces stuck ones, fills free nonces. */
export const tend = Effect.fnUntraced(function* ({ account, broadcasts, chain, stuckAfter }: TendingOptions) {
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
  const paying = Effect.fnUntraced(function* ({ isPayable, nonce, raw }: OpenBroadcast, fee: Fee) {
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

  /** A refusal is asked again in the next round, such as one for lack of gas. */
  const send = (raw: Hex) => Effect.ignore(chain.send(raw))

  const replace = Effect.fnUntraced(function* (before: OpenBroadcast, call: Sender.Call) {
    const signed = yield* Sender.sign(account, call)
    if (!(yield* broadcasts.replace(before.hash, signed))) return
    yield* log("transaction replaced", { nonce: call.nonce, transaction: signed.hash, before: before.hash })
    yield* send(signed.raw)
  })

  const tendTransaction = Effect.fnUntraced(function* (transaction: OpenBroadcast, isOldest: boolean) {
    const { ageMillis, hash, nonce, raw } = transaction
    const isYoung = ageMillis < lostAfter
    if (isYoung) return
    const onNode = yield* chain.transaction(hash)
    if (Option.exists(onNode, ({ isMined }) => isMined)) return
    const isLost = Option.isNone(onNode)
    const market = yield* currentFees(chain)
    const { chainId = 0, data, maxFeePerGas = 0n } = parseTransaction(raw)
    // Those behind the oldest one wait for it, unless no block takes them at their fee.
    const isStuck = ageMillis >= stuckAfter && (isOldest || maxFeePerGas < market.base)
    if (!isLost && !isStuck) return
    const raised = raisedFee(market.fee, maxFeePerGas)
    const isAtItsHighest = raised === undefined
    if (!isLost && isAtItsHighest) return yield* send(raw)
    const fee = raised ?? market.fee
    const { call, mayHavePaid } = yield* paying(transaction, fee)
    if (mayHavePaid && !isStuck) return
    // Nothing needs outbidding where the node knows no transaction.
    const isPriced = maxFeePerGas >= market.base && maxFeePerGas <= highestFee(market.fee)
    const isStillMeant = data === undefined || call !== undefined
    if (isLost && (!isStuck || isPriced) && isStillMeant) return yield* send(raw)
    yield* replace(transaction, call === undefined ? empty(chainId, nonce, fee) : { chainId, nonce, ...call })
  })

  /** Fills a nonce that no row has, such as after the restore of a backup, so that later ones can be mined. */
  const fill = Effect.fnUntraced(function* (nonce: number, behind: OpenBroadcast) {
    if (behind.ageMillis < lostAfter || (yield* chain.count(address, "pending")) > nonce) return
    const { fee } = yield* currentFees(chain)
    const { chainId = 0 } = parseTransaction(behind.raw)
    const signed = yield* Sender.sign(account, empty(chainId, nonce, fee))
    if (yield* broadcasts.fill(signed)) yield* send(signed.raw)
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
    const exits = yield* Effect.forEach(rows, (row) => Effect.exit(tendTransaction(row, row === oldest)), {
      concurrency: 8,
    })
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

  /** Counts the transactions of the key again after a reorganisation may have taken transactions out of their blocks. */
  return { recount: Effect.map(chain.count(address, "latest"), (now) => (mined = Math.min(mined, now))) }
})
