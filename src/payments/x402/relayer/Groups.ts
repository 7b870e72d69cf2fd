/** Groups transfers that wait while another transaction is being sent: less gas for each, one nonce for all. */
import { Deferred, Effect, Exit, Option, Random, Ref, type Semaphore } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import type { Submission } from "../../Settlement.ts"
import type { Dispatch, Estimate, Member } from "./Dispatch.ts"
import { groupCall, successesIn } from "../../chain/Eip3009.ts"
import * as Fees from "./Fees.ts"
import { isNeverTaken, isNonceRace, isPassing, type RelayerNode, type RpcFailure } from "./RelayerNode.ts"
import type { RelayerNonces } from "./RelayerNonces.ts"
import { log } from "../../../platform/LogMessages.ts"

export const unclear = (reason: string, transaction: Option.Option<Hex>): Submission => ({
  _tag: "Unclear",
  reason,
  transaction,
})

export const outrun = unclear("somebody else has just broadcast it", Option.none())

interface Waiting extends Member {
  readonly estimated: Option.Option<Estimate>
  readonly done: Deferred.Deferred<Submission>
}

export interface GroupsOptions {
  readonly most: number
  readonly turn: Semaphore.Semaphore
  readonly address: Address
  readonly node: RelayerNode
  readonly nonces: RelayerNonces
  readonly market: Effect.Effect<Fees.Market, RpcFailure>
  readonly dispatch: Dispatch
  /** Sends one transfer by itself for a caller that has the turn. */
  readonly inTurn: (member: Member, estimated: Estimate) => Effect.Effect<Submission>
  /** Sends one transfer by itself, with its own estimate and turn. */
  readonly alone: (member: Member) => Effect.Effect<Submission>
}

const groupOf = (members: ReadonlyArray<Member>) => groupCall(members.map(({ transfer }) => transfer.authorization))

/** Maximum number of times a group is rebuilt after another process used its nonce. */
const races = 20

/**
 * `Gather` does not fit: a group is filled when its turn comes, returns transfers that the block has no room for to the
 * queue, and lets some be sent alone and answered later.
 */
export const make = Effect.fnUntraced(function* (options: GroupsOptions) {
  const { address, alone, dispatch, inTurn, market, most, node, nonces, turn } = options
  const scope = yield* Effect.scope
  const queue: Array<Waiting> = []
  const known = new Map<string, Waiting>()
  let isRunning = false

  /** Answers the caller. The attempt stays known until then, so that no second group takes it. */
  const finish = ({ done, transfer }: Waiting, exit: Exit.Exit<Submission>) =>
    Effect.suspend(() => {
      known.delete(transfer.attempt)
      return Deferred.done(done, exit)
    })

  const answer = (members: ReadonlyArray<Waiting>, submission: Submission) =>
    Effect.forEach(members, (member) => finish(member, Exit.succeed(submission)), { discard: true })

  /** Sends transfers alone that no group can take. They are refused or sent by their own rules. */
  const leave = (members: ReadonlyArray<Waiting>) =>
    Effect.forEach(
      members,
      (member) =>
        Effect.forkIn(
          Effect.onExit(alone(member), (exit) => finish(member, exit)),
          scope,
        ),
      { discard: true },
    )

  const endAll = (members: ReadonlyArray<Waiting>, reason: string) =>
    Effect.forEach(
      members,
      (member) => Effect.flatMap(Ref.get(member.noted), (hash) => answer([member], unclear(reason, hash))),
      { discard: true },
    )

  /** After a permanent refusal of the node each is sent alone. After a temporary one all stay open. */
  const unless = (isOver: (failure: RpcFailure) => boolean, members: ReadonlyArray<Waiting>, failure: RpcFailure) =>
    isOver(failure) ? endAll(members, failure.text) : leave(members)

  /** Keeps wallets without code, since one with code may take any gas. Without an answer a transfer stays open. */
  const plain = Effect.fnUntraced(function* (members: ReadonlyArray<Waiting>) {
    const codes = yield* Effect.forEach(
      members,
      ({ transfer }) => Effect.result(node.hasCode(transfer.authorization.from)),
      { concurrency: "unbounded" },
    )
    const found = members.map((member, index) => {
      const code = codes[index]
      const unknown = code?._tag === "Failure" && isPassing(code.failure) ? code.failure.text : undefined
      return { member, unknown, isPlain: code?._tag === "Success" && !code.success }
    })
    for (const { member, unknown } of found) if (unknown !== undefined) yield* endAll([member], unknown)
    const known = found.filter(({ unknown }) => unknown === undefined)
    const plainly = known.filter(({ isPlain }) => isPlain).map(({ member }) => member)
    const isGroup = plainly.length > 1
    yield* leave(known.filter(({ isPlain }) => !isGroup || !isPlain).map(({ member }) => member))
    return isGroup ? plainly : []
  })

  /** The members whose transfers would succeed now, if they are enough for a group. The others are sent alone. */
  const rehearsed = Effect.fnUntraced(function* (members: ReadonlyArray<Waiting>) {
    const call = groupOf(members)
    const gas = Fees.rehearsedGas(members.length)
    const [nonce, { blockGas, fee }, balance, returned] = yield* Effect.all(
      [nonces.next, market, node.balance(address, "pending"), node.rehearse(address, { ...call, gas }, "pending")],
      { concurrency: "unbounded" },
    )
    const successes = successesIn(returned)
    const fit = members.filter((_, index) => successes[index] === true)
    // Failing transfers and later ones do not affect earlier ones, so the rehearsal holds for the rest.
    const staying = fit.slice(0, Math.min(Fees.roomIn(blockGas), Fees.paidBy(balance, fee)))
    const isGroup = staying.length > 1
    yield* leave(isGroup ? members.filter((one) => !fit.includes(one)) : members)
    if (isGroup) queue.unshift(...fit.slice(staying.length))
    // With all members left, the rehearsed call is the one to send.
    const same = staying.length === members.length
    return { members: isGroup ? staying : [], call: same ? call : groupOf(staying), nonce, fee }
  })

  const together: (asked: ReadonlyArray<Waiting>, racesLeft: number) => Effect.Effect<void> = Effect.fnUntraced(
    function* (asked, racesLeft) {
      const ready = yield* Effect.result(rehearsed(asked))
      if (ready._tag === "Failure") return yield* unless(isPassing, asked, ready.failure)
      const { call, fee, members, nonce } = ready.success
      const [first] = members
      if (first === undefined) return
      const { chainId } = first.transfer
      const gas = Fees.groupGas(members.length)
      const sent = yield* Effect.result(dispatch(members, { chainId, nonce, ...call, gas, fee }))
      if (sent._tag === "Failure") {
        // The node may have accepted what it refuses, so no member may be sent in a second transaction.
        if (!isNonceRace(sent.failure) || racesLeft === 0) {
          return yield* unless((failure) => !isNeverTaken(failure), members, sent.failure)
        }
        yield* Effect.sleep(yield* Random.nextIntBetween(15, 25))
        return yield* together(members, racesLeft - 1)
      }
      if (sent.success._tag === "Sent") {
        return yield* answer(members, { _tag: "Submitted", transaction: sent.success.hash })
      }
      const gone = sent.success.members
      const [left, ours] = [
        members.filter(({ transfer }) => gone.has(transfer.attempt)),
        members.filter(({ transfer }) => !gone.has(transfer.attempt)),
      ]
      yield* answer(left, outrun)
      return yield* ours.length > 1 ? together(ours, racesLeft) : leave(ours)
    },
  )

  const next = Effect.suspend(() => {
    const members = queue.splice(0, most)
    const [only] = members
    if (only === undefined) return Effect.void
    const sending =
      members.length > 1
        ? Effect.flatMap(plain(members), (plainly) => (plainly.length > 1 ? together(plainly, races) : Effect.void))
        : Option.isNone(only.estimated)
          ? leave(members)
          : Effect.flatMap(inTurn(only, only.estimated.value), (submission) => answer([only], submission))
    return Effect.catchCause(sending, (cause) =>
      Effect.andThen(log("group broadcast failed", {}, cause), endAll(members, "it could not be sent")),
    )
  })

  const work: Effect.Effect<void> = Effect.suspend(() => {
    if (queue.length > 0) return Effect.andThen(turn.withPermits(1)(next), work)
    isRunning = false
    return Effect.void
  })

  /** Waits for a group. An attempt that already waits joins its earlier call. */
  const join = (member: Member, estimated: Option.Option<Estimate>) =>
    // Uninterruptible: losing the caller between the queue and its worker would leave the queue without one.
    Effect.uninterruptibleMask((restore) => {
      const { attempt } = member.transfer
      const other = known.get(attempt)
      if (other !== undefined) return restore(Deferred.await(other.done))
      const waiting: Waiting = { ...member, estimated, done: Deferred.makeUnsafe() }
      known.set(attempt, waiting)
      queue.push(waiting)
      const start = isRunning ? Effect.void : Effect.forkIn(Effect.andThen(Effect.yieldNow, work), scope)
      isRunning = true
      return Effect.andThen(start, restore(Deferred.await(waiting.done)))
    })

  return { join, isBusy: () => isRunning }
})
