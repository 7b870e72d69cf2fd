/** Tends the transactions of a key that are in no block: resends lost ones, replaces stuck ones, fills free nonces. */
import { Duration, Effect } from "effect"
import { parseTransaction } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import * as DatabaseWatch from "../../platform/DatabaseWatch.ts"
import { log } from "../../platform/LogMessages.ts"
import { inLowerCase } from "../Hex.ts"
import { alreadyUsed } from "../chain/Eip3009.ts"
import type { Broadcasts, InFlight } from "./Broadcasts.ts"
import { currentFees, emptyGas, type Fee, highestFee, raisedFee, refusalOf, type RelayerNode } from "./RelayerNode.ts"
import { type Call, sign } from "./Sender.ts"

export interface TendingOptions {
  readonly node: RelayerNode
  readonly broadcasts: Broadcasts["Service"]
  readonly account: PrivateKeyAccount
  /** Age in milliseconds at which a transaction that waits in the node counts as stuck. */
  readonly stuckAfter: number
}

/** Pause between two rounds. A key without transactions in flight costs one read of its newest nonce. */
const every = Duration.seconds(1)

/** Milliseconds after which a transaction that the node does not know is sent again: the node may only lag. */
const lostAfter = 2_000

/** Transactions of a round, more than may be in flight by the default. */
const tendedAtOnce = 64

export const start = Effect.fnUntraced(function* ({ account, broadcasts, node, stuckAfter }: TendingOptions) {
  const { address } = account
  const sender = inLowerCase(address)

  const empty = (chainId: number, nonce: number, fee: Fee): Call => ({
    chainId,
    nonce,
    to: address,
    gas: emptyGas,
    fee,
  })

  /** The call of a transaction, if its transfer would still pay; otherwise the refusal, if the node gives one. */
  const paying = Effect.fnUntraced(function* ({ isPayable, raw }: InFlight, fee: Fee) {
    const { data, gas = 0n, to } = parseTransaction(raw)
    if (!isPayable || data === undefined || to === null || to === undefined)
      return { call: undefined, refusal: undefined }
    const call = { to, data, gas, fee }
    return yield* node.rehearse(address, call, "latest").pipe(
      Effect.as({ call, refusal: undefined }),
      Effect.catch((failure) => {
        const refusal = refusalOf(failure)
        return refusal === undefined ? Effect.fail(failure) : Effect.succeed({ call: undefined, refusal })
      }),
    )
  })

  const tend = Effect.fnUntraced(function* (one: InFlight, isOldest: boolean) {
    const { ageMillis, hash, nonce, raw } = one
    if (ageMillis < lostAfter) return
    const known = yield* node.transaction(hash)
    if (typeof known?.blockNumber === "bigint") return
    const market = yield* currentFees(node)
    const { chainId = 0, data, maxFeePerGas = 0n } = parseTransaction(raw)
    // Those behind the oldest one wait for it, unless no block takes them at their fee.
    const isStuck = ageMillis >= stuckAfter && (isOldest || maxFeePerGas < market.base)
    if (known !== null && !isStuck) return
    const raised = raisedFee(market.fee, maxFeePerGas)
    if (known !== null && raised === undefined) return yield* Effect.ignore(node.send(raw))
    const fee = raised ?? market.fee
    const { call, refusal } = yield* paying(one, fee)
    // A node that lags may not know the block in which this very transaction used the authorization.
    if (refusal === alreadyUsed && !isStuck) return
    // Nothing needs outbidding where the node knows no transaction.
    const isPriced = maxFeePerGas >= market.base && maxFeePerGas <= highestFee(market.fee)
    const isEmpty = data === undefined
    if (known === null && (!isStuck || isPriced) && (isEmpty || call !== undefined))
      return yield* Effect.ignore(node.send(raw))
    const signed = yield* sign(account, call === undefined ? empty(chainId, nonce, fee) : { chainId, nonce, ...call })
    if (!(yield* broadcasts.replace(hash, signed))) return
    yield* log("transaction replaced", { nonce, transaction: signed.hash, before: hash })
    // A node that refuses it, such as for lack of gas, is asked again in the next round.
    yield* Effect.ignore(node.send(signed.raw))
  })

  /** Fills a nonce that no row has, such as after the restore of a backup, so that later ones can be mined. */
  const fill = Effect.fnUntraced(function* (nonce: number, behind: InFlight) {
    if (behind.ageMillis < stuckAfter || (yield* node.count(address, "pending")) > nonce) return
    const { fee } = yield* currentFees(node)
    const { chainId = 0 } = parseTransaction(behind.raw)
    const signed = yield* sign(account, empty(chainId, nonce, fee))
    if (yield* broadcasts.fill(signed)) yield* Effect.ignore(node.send(signed.raw))
  })

  /** The first nonce that may be in no block, as last read. A reorganisation lowers it. */
  let mined = 0

  const round = Effect.gen(function* () {
    if ((yield* broadcasts.line(sender, mined)).next <= mined) return
    mined = yield* node.count(address, "latest")
    const rows = yield* broadcasts.inFlight(sender, mined, tendedAtOnce)
    const [oldest] = rows
    if (oldest === undefined) return
    if (oldest.nonce > mined) yield* fill(mined, oldest)
    yield* Effect.forEach(
      rows,
      (one) =>
        Effect.catchCause(
          tend(one, one === oldest),
          DatabaseWatch.failed("transaction not tended", { nonce: one.nonce }),
        ),
      { concurrency: 8, discard: true },
    )
  })

  yield* DatabaseWatch.sweeping(Effect.as(round, 0), every, "transactions not tended")

  /** Looks at the key again after a reorganisation may have taken transactions out of their blocks. */
  return { look: Effect.map(node.count(address, "latest"), (now) => (mined = Math.min(mined, now))) }
})
