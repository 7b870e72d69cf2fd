/** Assigns the blame and the lost gas of a transaction that is in its block and did not pay. */
import { Effect } from "effect"
import { type Hex, hexToBigInt } from "viem"
import type { RecordedBroadcast } from "../../store/Broadcasts.ts"
import type { GasLoss, Refusals, GroupedAttempt } from "../../store/Refusals.ts"
import { authorizationStateData, pays } from "../../chain/Eip3009.ts"
import * as Fees from "./Fees.ts"
import type { RelayerNode } from "./RelayerNode.ts"
import { log } from "../../../platform/LogMessages.ts"

/** Milliseconds after its block for which transfers are sent alone once a wallet made others of its group fail. */
const apartFor = 600_000

/** Splits a whole into `count` parts that add up to it. */
export const sharesOf = (whole: bigint, count: number): ReadonlyArray<bigint> => {
  const upTo = (place: number) => (whole * BigInt(place)) / BigInt(count)
  return Array.from({ length: count }, (_, place) => upTo(place + 1) - upTo(place))
}

/** The gas of a transaction without the shares of members that paid or were too late. */
export const lostGas = (gasUsed: bigint, members: number, others: number) =>
  gasUsed - (gasUsed * BigInt(others)) / BigInt(members)

export const make = (
  node: RelayerNode,
  refusals: Refusals["Service"],
  keepApart: (untilMillis: number) => Effect.Effect<unknown>,
) => {
  /** Travellers whose authorization is unused at the newest block. A third party may have submitted the others. */
  const stillUnused = Effect.fnUntraced(function* (travellers: ReadonlyArray<GroupedAttempt>) {
    const [first] = travellers
    if (first === undefined) return []
    const reads = travellers.map(({ authorization: { from, nonce } }) => authorizationStateData(from, nonce))
    const used = yield* node.readAll(first.authorization.asset, reads)
    return travellers.filter((_, index) => used[index] === 0n)
  })

  /**
   * Judges a mined broadcast that did not pay an attempt: true if another member of its group may have taken its gas.
   * Wallets at fault are refused and share the loss, which counts once.
   */
  return Effect.fnUntraced(function* (own: GroupedAttempt, { blamed, hash, members }: RecordedBroadcast) {
    if (blamed) return false
    const receipt = yield* node.receipt(hash)
    if (receipt === null || pays(receipt.logs, own.authorization)) return false
    const isGroup = members > 1
    const hasReverted = receipt.status === "0x0"
    // A transaction that succeeded alone without paying is our empty replacement.
    if (!isGroup && !hasReverted) return false
    const block = yield* node.block(receipt.blockHash)
    if (block === null) return false
    const gas = hexToBigInt(receipt.gasUsed)
    const isShort = isGroup && (hasReverted || Fees.mayHaveRunOut(gas, members))
    const minedAt = hexToBigInt(block.timestamp)
    const travellers = isGroup ? yield* refusals.travellersIn(hash) : [own]
    const unpaid = travellers.filter(({ authorization }) => !pays(receipt.logs, authorization))
    // After `validBefore` every transfer reverts. That was our delay.
    const inTime = unpaid.filter(({ authorization }) => minedAt < authorization.validBefore)
    const wallets = [...new Set(inTime.map(({ authorization }) => authorization.from))]
    const withCode = new Set<Hex>(
      yield* Effect.filter(wallets, (wallet) => node.hasCode(wallet), { concurrency: "unbounded" }),
    )
    const hasCode = ({ authorization }: GroupedAttempt) => withCode.has(authorization.from)
    // A wallet that got code after the rehearsal may have taken the gas of later members, and may have no code now.
    if (isShort || (isGroup && withCode.size > 0)) yield* keepApart(Number(minedAt) * 1000 + apartFor)
    const isOwn = ({ attempt }: GroupedAttempt) => attempt === own.attempt
    const suspects = inTime.filter((one) => (one.isPending || isOwn(one)) && (!isShort || hasCode(one)))
    const others = suspects.filter((one) => !isOwn(one))
    const unused = new Set(yield* stillUnused(others))
    const culprits = suspects.filter((one) => isOwn(one) || unused.has(one))
    const late = unpaid.length - inTime.length
    const paid = travellers.length - unpaid.length
    const shares = sharesOf(lostGas(gas, members, paid + late), culprits.length || 1)
    const losses = culprits.map((one, index): GasLoss => ({
      attempt: one.attempt,
      wallet: one.authorization.from,
      reason: hasCode(one) ? "wallet_reverted_settlement" : "wallet_did_not_pay",
      gas: shares[index] ?? 0n,
    }))
    if (losses.length > 0) {
      yield* refusals.refuse(hash, losses)
      yield* log("payment not made", { transaction: hash, payments: losses.length })
    }
    return isShort && !hasCode(own)
  })
}
