/** Sends transfers by one key: rehearsed, recorded under the next nonce, then broadcast. */
import { Cause, Clock, Effect, Exit, Option, Semaphore } from "effect"
import { type Hex, keccak256 } from "viem"
import type { SqlError } from "effect/sql"
import type { PrivateKeyAccount } from "viem/accounts"
import { inLowerCase, settlementCall, type SignedAuthorization } from "../chain/Eip3009.ts"
import type { Attempt } from "../../store/Attempt.ts"
import { Lookup } from "../../store/Lookup.ts"
import type { Chain } from "../chain/Chain.ts"
import { type Fee, gasTooHigh, refusalOf } from "../chain/Questions.ts"
import { ChainUnavailable } from "../chain/Rpc.ts"
import * as DatabaseWatch from "../../../platform/DatabaseWatch.ts"
import type { Broadcasts } from "./Broadcasts.ts"
import { currentFees, plainGas, settlementGas } from "./Fees.ts"
import type { Limits, Submission } from "./Settlement.ts"

export interface Transfer {
  readonly attempt: string
  /** The state the attempt must still have to be sent. */
  readonly state: Attempt["state"]
  readonly chainId: number
  readonly authorization: SignedAuthorization
}

export interface Call {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data?: Hex
  readonly gas: bigint
  readonly fee: Fee
}

interface Rehearsed {
  readonly gas: bigint
  readonly fee: Fee
  readonly atMillis: number
  readonly hasCode: boolean
}

/** Milliseconds after which a transfer that waited in line is rehearsed again: about a block. */
const staleAfter = 2_000

const bigintMax = (a: bigint, b: bigint) => (a > b ? a : b)
const bigintMin = (a: bigint, b: bigint) => (a < b ? a : b)

/** Milliseconds between two checks whether the line moves. */
const pauseOf = (waits: number) => Math.min(20 * 2 ** waits, 500)

/** A node without a pending state may reject the whole batch that includes a pending query. */
const again = <A>(question: Effect.Effect<A, ChainUnavailable>) => Effect.retry(question, { times: 1 })

/** Signs a transaction. The answer is the same for the same call. */
export const sign = (account: PrivateKeyAccount, { fee, ...call }: Call) =>
  Effect.promise(() => account.signTransaction({ type: "eip1559", ...call, ...fee })).pipe(
    Effect.map((raw) => ({ sender: inLowerCase(account.address), nonce: call.nonce, hash: keccak256(raw), raw })),
  )

/** An outcome that is unknown, with the transaction that was recorded, if any. */
export const unclear = (failure: { readonly message: string }, hash?: Hex): Submission => ({
  _tag: "Unclear",
  reason: failure.message,
  transaction: Option.fromUndefinedOr(hash),
})

export const make = Effect.fnUntraced(function* (
  chain: Chain["Service"],
  broadcasts: Broadcasts["Service"],
  account: PrivateKeyAccount,
  limits: Limits,
) {
  const lookup = yield* Lookup
  const { address } = account
  const sender = inLowerCase(address)
  const gasAtMost = BigInt(limits.gasAtRisk)
  const newLine = Semaphore.make(1)
  /** A line each for trusted, new plain and code wallets: none waits behind one that may lose more gas. */
  const lines = { trusted: yield* newLine, plain: yield* newLine, code: yield* newLine }
  const turn = yield* newLine
  /**
   * The line as this server knows it: the next nonce, the first one that is in no block, and the gas at risk from there,
   * of plain wallets and of those with code.
   */
  let queue = { next: Infinity, mined: 0, plain: 0n, code: 0n }
  const kindOf = (gasAtRisk: bigint) => (gasAtRisk > plainGas ? "code" : "plain")

  /** Wallets with code take half the places at most. The gas at risk tells them from plain ones. */
  const leastOfCode = bigintMax(plainGas + 1n, bigintMin(gasAtMost, (2n * gasAtMost) / BigInt(limits.inFlight)))
  const riskOf = ({ gas, hasCode }: Rehearsed, hasPaid: boolean) =>
    hasCode ? bigintMax(gas, leastOfCode) : hasPaid ? 0n : gas

  /** Reads the line from the node and from the table, which other servers with this key share. */
  const readLine = Effect.fnUntraced(function* (gasAtRisk: bigint) {
    const kind = kindOf(gasAtRisk)
    const [mined, waiting] = yield* Effect.all(
      [chain.count(address, "latest"), again(chain.count(address, "pending"))],
      {
        concurrency: "unbounded",
      },
    )
    const line = yield* broadcasts.line(sender, mined, kind === "code")
    // Transactions that the table does not know are in the node's count alone.
    queue = { ...queue, mined, next: Math.max(line.next, mined, waiting), [kind]: line.gasAtRisk }
  })

  const isFull = (gasAtRisk: bigint) =>
    queue.next >= queue.mined + limits.inFlight || (gasAtRisk > 0n && queue[kindOf(gasAtRisk)] + gasAtRisk > gasAtMost)

  const untilRoom = Effect.fnUntraced(function* (gasAtRisk: bigint) {
    for (let waits = 0; isFull(gasAtRisk); waits += 1) {
      if (waits > 0) yield* Effect.sleep(pauseOf(waits))
      yield* readLine(gasAtRisk)
    }
  })

  const [market] = yield* Effect.cachedInvalidateWithTTL(Effect.uninterruptible(again(currentFees(chain))), (exit) =>
    Exit.isSuccess(exit) ? staleAfter : 0,
  )

  /** Fails if the transfer would not pay now. Only wallets with code need an estimate of their gas. */
  const rehearse = Effect.fnUntraced(function* ({ authorization }: Transfer) {
    const call = settlementCall(authorization)
    const { fee } = yield* market
    const atMillis = yield* Clock.currentTimeMillis
    const plain = chain.rehearse(address, { ...call, gas: plainGas, fee }, "pending")
    const [hasCode, rehearsal] = yield* Effect.all([again(chain.hasCode(authorization.from)), Effect.result(plain)], {
      concurrency: "unbounded",
    })
    if (!hasCode) {
      yield* Effect.fromResult(rehearsal)
      return { gas: plainGas, fee, atMillis, hasCode }
    }
    const gas = ((yield* chain.estimateGas(address, call, "pending")) * 13n) / 10n
    if (gas > settlementGas)
      return yield* new ChainUnavailable({ method: "eth_estimateGas", reason: gasTooHigh, detail: gasTooHigh })
    yield* chain.rehearse(address, { ...call, gas, fee }, "pending")
    return { gas, fee, atMillis, hasCode }
  })

  /** Records the transfer under the next nonce; undefined if another server was faster, or too much gas is at risk. */
  const claim = Effect.fnUntraced(function* (
    { attempt, authorization, chainId, state }: Transfer,
    { fee, gas }: Rehearsed,
    gasAtRisk: bigint,
  ) {
    const signed = yield* sign(account, { chainId, nonce: queue.next, ...settlementCall(authorization), gas, fee })
    const { mined } = queue
    const isOurs = yield* broadcasts.claim({ attempt, state, ...signed, gasAtRisk, gasAtMost, mined })
    const kind = kindOf(gasAtRisk)
    if (isOurs) queue = { ...queue, next: signed.nonce + 1, [kind]: queue[kind] + gasAtRisk }
    return isOurs ? signed : undefined
  })

  /**
   * Waits in line and claims a nonce; undefined if the payment is not to be sent by us any more. A wallet that has got
   * or lost its code goes to the other line with its new rehearsal.
   */
  const inLine = Effect.fnUntraced(function* (transfer: Transfer, first: Rehearsed, hasPaid: boolean) {
    let rehearsed = first
    while (true) {
      yield* untilRoom(riskOf(rehearsed, hasPaid))
      if ((yield* Clock.currentTimeMillis) - rehearsed.atMillis > staleAfter) rehearsed = yield* rehearse(transfer)
      if (rehearsed.hasCode !== first.hasCode) return rehearsed
      const gasAtRisk = riskOf(rehearsed, hasPaid)
      const signed = yield* turn.withPermits(1)(
        Effect.suspend(() => (isFull(gasAtRisk) ? Effect.undefined : claim(transfer, rehearsed, gasAtRisk))),
      )
      if (signed !== undefined) return signed
      if (!(yield* broadcasts.isUnsent(transfer.attempt, transfer.state))) return undefined
      yield* turn.withPermits(1)(readLine(gasAtRisk))
    }
  })

  const broadcast = Effect.fnUntraced(function* (transfer: Transfer) {
    const { authorization } = transfer
    const [rehearsed, hasPaid] = yield* Effect.all([rehearse(transfer), lookup.hasPaid(authorization.from)], {
      concurrency: "unbounded",
    })
    let waiting: Rehearsed = rehearsed
    while (true) {
      const line = waiting.hasCode ? lines.code : hasPaid ? lines.trusted : lines.plain
      const left = yield* line.withPermits(1)(inLine(transfer, waiting, hasPaid))
      if (left === undefined || "raw" in left) return left
      waiting = left
    }
  })

  /** The report about a transfer that this call did not record. It is refused only if no server has recorded it. */
  const unrecorded = Effect.fnUntraced(function* (
    { attempt, state }: Transfer,
    failure: ChainUnavailable | SqlError.SqlError,
  ): Effect.fn.Return<Submission> {
    const reason = failure._tag === "ChainUnavailable" ? refusalOf(failure) : undefined
    const isUnsent =
      reason !== undefined && (yield* Effect.orElseSucceed(broadcasts.isUnsent(attempt, state), () => false))
    return isUnsent ? { _tag: "Refused", reason } : unclear(failure)
  })

  /** The report about a payment that another server sends, or that is no longer wanted. */
  const elsewhere = (attempt: string) =>
    broadcasts.find(attempt).pipe(
      Effect.map(
        Option.match({
          onNone: () => unclear({ message: "the payment is no longer to be sent" }),
          onSome: ({ hash }): Submission => ({ _tag: "Submitted", transaction: hash }),
        }),
      ),
      Effect.catch((error) => Effect.succeed(unclear(error))),
    )

  /** Sends a payment once. Never fails. */
  return Effect.fn("Sender.send")(function* (transfer: Transfer): Effect.fn.Return<Submission> {
    const claimed = yield* broadcast(transfer).pipe(
      Effect.tapErrorTag("SqlError", (error) => DatabaseWatch.failed("broadcast record failed")(Cause.fail(error))),
      Effect.result,
    )
    if (claimed._tag === "Failure") return yield* unrecorded(transfer, claimed.failure)
    if (claimed.success === undefined) return yield* elsewhere(transfer.attempt)
    const { hash, raw } = claimed.success
    const sent = yield* Effect.result(chain.send(raw))
    // A refused broadcast is not proven unsent. Its record stays, and its nonce is filled.
    return sent._tag === "Success" ? { _tag: "Submitted", transaction: hash } : unclear(sent.failure, hash)
  })
})
