/** Rehearses, signs, records and sends transfers, one transaction after the other. */
import { Clock, Effect, Option, Ref, Schedule, Semaphore } from "effect"
import type { Hex } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import type { Broadcast, Broadcasts } from "../../store/Broadcasts.ts"
import type { Submission } from "../../Settlement.ts"
import * as Dispatch from "./Dispatch.ts"
import type { Estimate, Member, Transfer } from "./Dispatch.ts"
import { isPlain, settlementCall } from "../../chain/Eip3009.ts"
import * as Fees from "./Fees.ts"
import * as Groups from "./Groups.ts"
import { gasTooHigh, gotCode, isNonceRace, refusalOf, type RelayerNode, RpcFailure } from "./RelayerNode.ts"
import * as RelayerNonces from "./RelayerNonces.ts"

/** A refusal for a transfer that was certainly not sent by us. */
export const unsent = (reason: string): Submission => ({ _tag: "Refused", reason, unsent: true })

/** A stuck transaction is part of the pending state, so its replacement is rehearsed on the newest block. */
const blockOf = (stuck: Option.Option<Broadcast>) => (Option.isSome(stuck) ? "latest" : "pending")

/** A node without a pending state may reject the whole batch that includes a pending query. */
const again = <A>(question: Effect.Effect<A, RpcFailure>) => Effect.retry(question, { times: 1 })

/** `groupMaximum` limits the transfers of one transaction; 1 sends each alone. */
export const make = Effect.fnUntraced(function* (
  node: RelayerNode,
  broadcasts: Broadcasts["Service"],
  account: PrivateKeyAccount,
  groupMaximum: number,
) {
  const turn = yield* Semaphore.make(1)
  const nonces = RelayerNonces.make(node, account.address)
  const market = Fees.current(node)
  const dispatch = Dispatch.make(node, broadcasts, account, nonces)

  /** Whether the transaction still waits in the node. Its nonce may be taken by another member or by a block. */
  const isStuck = (hash: Hex) =>
    Effect.map(node.transaction(hash), (known) => known !== null && known.blockNumber === null)

  /** Replaces a stuck transaction by an empty one to ourselves, since all later nonces wait for it. */
  const replaceByNothing = Effect.fnUntraced(function* (
    transfer: Transfer,
    { hash: stuck, maxFeePerGas: offered, nonce }: Broadcast,
  ) {
    if (!(yield* isStuck(stuck))) return
    const fee = Fees.above((yield* market).fee, offered)
    const noted = yield* Ref.make(Option.some(stuck))
    const { chainId } = transfer
    yield* dispatch([{ transfer, noted }], { chainId, nonce, to: account.address, gas: 21_000n, fee })
  }, turn.withPermits(1))

  /**
   * Fills a free earlier nonce, such as after a reorganisation, since the waiting transaction would otherwise never be
   * mined. The filler is an empty transaction to ourselves. It moves no money, so it is not recorded.
   */
  const fillBefore = Effect.fnUntraced(function* ({ chainId }: Transfer, waiting: Broadcast) {
    const [nonce, { fee }] = yield* Effect.all([nonces.next, market], { concurrency: "unbounded" })
    if (nonce >= waiting.nonce) return false
    yield* dispatch([], { chainId, nonce, to: account.address, gas: 21_000n, fee })
    return true
  }, turn.withPermits(1))

  const sendOnce = Effect.fnUntraced(function* (
    member: Member,
    { expected, gas }: Estimate,
    stuck: Option.Option<Broadcast>,
  ) {
    const { authorization, chainId } = member.transfer
    const call = settlementCall(authorization)
    // Without a stuck transaction nothing is signed: a replacement-only key never sends anything new.
    if (Option.isSome(stuck) && !(yield* isStuck(stuck.value.hash))) {
      return Groups.unclear("it does not wait for a block any more", Option.some(stuck.value.hash))
    }
    const feeIn = (fee: Fees.Fee) =>
      Option.match(stuck, { onNone: () => fee, onSome: ({ maxFeePerGas }) => Fees.above(fee, maxFeePerGas) })
    const [nonce, now] = yield* Effect.all(
      [
        Option.isSome(stuck) ? Effect.succeed(stuck.value.nonce) : nonces.next,
        market,
        node.rehearse(account.address, { ...call, gas, fee: feeIn(expected) }, blockOf(stuck)),
      ],
      { concurrency: "unbounded" },
    )
    const fee = feeIn(now.fee)
    const dispatched = yield* dispatch([member], { chainId, nonce, ...call, gas, fee })
    return dispatched._tag === "Sent"
      ? ({ _tag: "Submitted", transaction: dispatched.hash } satisfies Submission)
      : Groups.outrun
  })

  /** A transaction that any server signed may be in flight, whatever the node reports now. */
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

  const inTurn = (member: Member, estimated: Estimate, stuck: Option.Option<Broadcast>) =>
    sendOnce(member, estimated, stuck).pipe(
      Effect.retry({
        while: (failure) => Option.isNone(stuck) && isNonceRace(failure),
        times: 20,
        schedule: Schedule.jittered(Schedule.spaced("20 millis")),
      }),
      Effect.catch((failure) => refused(member, failure)),
    )

  const estimate = Effect.fnUntraced(function* ({ transfer }: Member, stuck: Option.Option<Broadcast>) {
    const { authorization, isCodeless = false } = transfer
    const { data, to } = settlementCall(authorization)
    const [least, { fee }, hasCode] = yield* Effect.all(
      [
        node.estimateGas(account.address, to, data, blockOf(stuck)),
        again(market),
        isCodeless ? again(node.hasCode(authorization.from)) : Effect.succeed(false),
      ],
      { concurrency: "unbounded" },
    )
    const gas = (least * 13n) / 10n
    const refusal = hasCode ? gotCode : gas > Fees.settlementGas ? gasTooHigh : undefined
    if (refusal !== undefined) return yield* new RpcFailure({ text: refusal, answered: true })
    return { gas, expected: fee } satisfies Estimate
  })

  const alone = (member: Member, stuck: Option.Option<Broadcast>) =>
    estimate(member, stuck).pipe(
      Effect.flatMap((estimated) => turn.withPermits(1)(inTurn(member, estimated, stuck))),
      Effect.catch((failure) => refused(member, failure)),
    )

  const groups = yield* Groups.make({
    most: groupMaximum,
    turn,
    address: account.address,
    node,
    nonces,
    market,
    dispatch,
    inTurn: (member, estimated) => inTurn(member, estimated, Option.none()),
    alone: (member) => alone(member, Option.none()),
  })

  let estimates = 0

  /** Estimates a plain transfer that will probably be sent alone: no group is in flight and few transfers wait. */
  const estimateIfFew = (member: Member) =>
    Effect.suspend(() => {
      if (groups.isBusy() || estimates > 1) return Effect.succeedNone
      estimates += 1
      return estimate(member, Option.none()).pipe(Effect.asSome, Effect.ensuring(Effect.sync(() => (estimates -= 1))))
    })

  let apartUntil = 0

  /** Sends every transfer alone until this time in Unix milliseconds. */
  const keepApart = (untilMillis: number) => Effect.sync(() => (apartUntil = Math.max(apartUntil, untilMillis)))

  let openGas = 0n

  /** Counts the gas that transfers in flight may take. */
  const counted = <A>(gas: bigint, sending: Effect.Effect<A>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => (openGas += gas)),
      () => sending,
      () => Effect.sync(() => (openGas -= gas)),
    )

  /** Adds a plain transfer to the waiting group while another is being sent. The group rehearses it. */
  const joined = Effect.fnUntraced(function* (member: Member) {
    const { authorization } = member.transfer
    const isApart = groupMaximum < 2 || (yield* Clock.currentTimeMillis) < apartUntil
    if (isApart || !isPlain(authorization)) return yield* alone(member, Option.none())
    return yield* groups.join(member, yield* estimateIfFew(member))
  })

  /** Never fails. `previous` is the hash recorded for the attempt, if any. */
  const send = Effect.fn("Broadcaster.send")(function* (transfer: Transfer, previous: Option.Option<Hex>) {
    const member = { transfer, noted: yield* Ref.make(previous) }
    const gas = isPlain(transfer.authorization) ? Fees.memberGas : Fees.settlementGas
    return yield* counted(
      gas,
      Effect.catch(joined(member), (failure) => refused(member, failure)),
    )
  })

  /** Sends in a transaction of its own, which replaces a stuck one if given. Never fails. */
  const sendAlone = Effect.fn("Broadcaster.sendAlone")(function* (
    transfer: Transfer,
    previous: Hex,
    stuck: Option.Option<Broadcast>,
  ) {
    return yield* counted(Fees.settlementGas, alone({ transfer, noted: yield* Ref.make(Option.some(previous)) }, stuck))
  })

  return { send, sendAlone, replaceByNothing, fillBefore, keepApart, openGas: () => openGas }
})
