/** Brings transfers to the chain, one transaction after the other: rehearsed, signed, noted and sent, in this order. */
import { Effect, Option, Ref, Schedule, Semaphore } from "effect"
import type { Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import type { Broadcast, Broadcasts } from "../ledger/Broadcasts.ts"
import type { Submission } from "../Settlement.ts"
import * as Dispatch from "./Dispatch.ts"
import type { Member, Transfer } from "./Dispatch.ts"
import { isPlain, settlementCall } from "./Eip3009.ts"
import * as Fees from "./Fees.ts"
import * as Groups from "./Groups.ts"
import { gasTooHigh, isNonceRace, refusalOf, type RelayerNode, RpcFailure } from "./RelayerNode.ts"
import * as RelayerNonces from "./RelayerNonces.ts"

/** Certainly not sent by us, and why. */
export const unsent = (reason: string): Submission => ({ _tag: "Refused", reason, unsent: true })

/** What is stuck is part of the pending state itself, so its replacement is tried on the newest block. */
const blockOf = (stuck: Option.Option<Broadcast>) => (Option.isSome(stuck) ? "latest" : "pending")

/** `groupMost` is how many transfers may share one transaction; one sends each alone. */
export const make = Effect.fnUntraced(function* (
  node: RelayerNode,
  broadcasts: Broadcasts["Service"],
  account: PrivateKeyAccount,
  groupMost: number,
) {
  const turn = yield* Semaphore.make(1)
  const nonces = RelayerNonces.make(node, account.address)
  const market = Fees.current(node)
  const dispatch = Dispatch.make(node, broadcasts, account, nonces)

  /** An empty transaction to ourselves takes the place of a stuck one: all later ones wait for it. */
  const replaceByNothing = Effect.fnUntraced(function* (
    transfer: Transfer,
    { hash: stuck, maxFeePerGas: offered, nonce }: Broadcast,
  ) {
    const fee = Fees.above((yield* market).fee, offered)
    const noted = yield* Ref.make(Option.some(stuck))
    const { chainId } = transfer
    yield* dispatch([{ transfer, noted }], { chainId, nonce, to: account.address, gas: 21_000n, fee })
  })

  /** Whether it still is stuck: another member of its group may have taken its place meanwhile. */
  const stillStuck = (stuck: Option.Option<Broadcast>) =>
    Option.match(stuck, {
      onNone: () => Effect.succeedNone,
      onSome: (one) => Effect.map(node.transaction(one.hash), (known) => (known === null ? Option.none() : stuck)),
    })

  const sendOnce = Effect.fnUntraced(function* (member: Member, gas: bigint, before: Option.Option<Broadcast>) {
    const { authorization, chainId } = member.transfer
    const call = settlementCall(authorization)
    const stuck = yield* stillStuck(before)
    const [nonce, now] = yield* Effect.all(
      [
        Option.isSome(stuck) ? Effect.succeed(stuck.value.nonce) : nonces.next,
        market,
        node.rehearse(account.address, call, blockOf(stuck)),
      ],
      { concurrency: "unbounded" },
    )
    const fee = Option.match(stuck, {
      onNone: () => now.fee,
      onSome: ({ maxFeePerGas }) => Fees.above(now.fee, maxFeePerGas),
    })
    const dispatched = yield* dispatch([member], { chainId, nonce, ...call, gas, fee })
    return dispatched._tag === "Sent"
      ? ({ _tag: "Submitted", transaction: dispatched.hash } satisfies Submission)
      : Groups.outrun
  })

  /** What was ever signed and sent, by whomever, may be on its way, whatever the node says now. */
  const refused = Effect.fnUntraced(function* ({ noted, transfer }: Member, failure: RpcFailure) {
    const hash = yield* Ref.get(noted)
    const reason = refusalOf(failure)
    if (reason === undefined || Option.isSome(hash)) return Groups.unclear(failure.text, hash)
    return yield* broadcasts.find(transfer.attempt).pipe(
      Effect.map((other) =>
        Option.isNone(other) ? unsent(reason) : Groups.unclear(failure.text, Option.some(other.value.hash)),
      ),
      Effect.orElseSucceed(() => Groups.unclear(failure.text, Option.none())),
    )
  })

  const inTurn = (member: Member, gas: bigint, stuck: Option.Option<Broadcast>) =>
    sendOnce(member, gas, stuck).pipe(
      Effect.retry({
        while: (failure) => Option.isNone(stuck) && isNonceRace(failure),
        times: 20,
        schedule: Schedule.jittered(Schedule.spaced("20 millis")),
      }),
      Effect.catch((failure) => refused(member, failure)),
    )

  const estimate = ({ transfer }: Member, stuck: Option.Option<Broadcast>) => {
    const { data, to } = settlementCall(transfer.authorization)
    return node.estimateGas(account.address, to, data, blockOf(stuck)).pipe(
      Effect.map((gas) => (gas * 13n) / 10n),
      Effect.filterOrFail(
        (gas) => gas <= Fees.settlementGas,
        () => new RpcFailure({ text: gasTooHigh, answered: true }),
      ),
    )
  }

  const alone = (member: Member, stuck: Option.Option<Broadcast>) =>
    estimate(member, stuck).pipe(
      Effect.flatMap((gas) => turn.withPermits(1)(inTurn(member, gas, stuck))),
      Effect.catch((failure) => refused(member, failure)),
    )

  const groups = yield* Groups.make({
    most: groupMost,
    turn,
    address: account.address,
    node,
    nonces,
    market,
    dispatch,
    inTurn: (member, gas) => inTurn(member, gas, Option.none()),
    alone: (member) => alone(member, Option.none()),
  })

  let estimates = 0

  /** What a plain transfer takes alone is asked where it is likely to travel so: nobody is being sent, and few come. */
  const estimateIfFew = (member: Member) =>
    Effect.suspend(() => {
      if (groups.isBusy() || estimates > 1) return Effect.succeedNone
      estimates += 1
      return estimate(member, Option.none()).pipe(Effect.asSome, Effect.ensuring(Effect.sync(() => (estimates -= 1))))
    })

  /** While others are being sent, a plain transfer travels with those that wait; its rehearsal is the group's. */
  const joined = Effect.fnUntraced(function* (member: Member) {
    const { authorization } = member.transfer
    if (groupMost < 2 || !isPlain(authorization)) return yield* alone(member, Option.none())
    return yield* groups.join(member, yield* estimateIfFew(member))
  })

  /** Never fails. `previous` is the hash that is noted for the attempt, if any. */
  const send = Effect.fn("Broadcaster.send")(function* (transfer: Transfer, previous: Option.Option<Hex>) {
    const member = { transfer, noted: yield* Ref.make(previous) }
    return yield* Effect.catch(joined(member), (failure) => refused(member, failure))
  })

  /** The same in a transaction of its own, which takes the place of a stuck one if there is one. */
  const sendAlone = Effect.fn("Broadcaster.sendAlone")(function* (
    transfer: Transfer,
    previous: Hex,
    stuck: Option.Option<Broadcast>,
  ) {
    return yield* alone({ transfer, noted: yield* Ref.make(Option.some(previous)) }, stuck)
  })

  return { send, sendAlone, replaceByNothing }
})
