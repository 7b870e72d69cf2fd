/** Signs a transaction of the relayer, records it for each transfer it holds, and sends it. */
import { Clock, Effect, Option, Ref } from "effect"
import { type Hex, keccak256 } from "viem"
import type { PrivateKeyAccount } from "viem/accounts"
import type { Attempt } from "../../store/Attempt.ts"
import type { Broadcasts } from "../../store/Broadcasts.ts"
import type { SignedAuthorization } from "../../chain/Eip3009.ts"
import type { Fee } from "./Fees.ts"
import { type RelayerNode, RpcFailure } from "./RelayerNode.ts"
import type { RelayerNonces } from "./RelayerNonces.ts"

export interface Transfer {
  readonly attempt: string
  /** The state the attempt must still have to be sent. */
  readonly state: Attempt["state"]
  readonly chainId: number
  readonly authorization: SignedAuthorization
  /** Whether its wallet must have no code, the condition under which its claim was accepted. */
  readonly isCodeless?: boolean
}

/** A transfer and the hash recorded for it so far. */
export interface Member {
  readonly transfer: Transfer
  readonly noted: Ref.Ref<Option.Option<Hex>>
}

/** The maximum gas of a transfer sent alone, and its expected fee. */
export interface Estimate {
  readonly gas: bigint
  readonly expected: Fee
}

export interface Call {
  readonly chainId: number
  readonly nonce: number
  readonly to: Hex
  readonly data?: Hex
  readonly gas: bigint
  readonly fee: Fee
}

/** Sent with all members, or not sent because another server is responsible for the named ones. */
export type Dispatched =
  | { readonly _tag: "Sent"; readonly hash: Hex }
  | { readonly _tag: "Outrun"; readonly members: ReadonlySet<string> }

export const make = (
  node: RelayerNode,
  broadcasts: Broadcasts["Service"],
  account: PrivateKeyAccount,
  nonces: RelayerNonces,
) =>
  Effect.fn("Dispatch.dispatch")(function* (
    members: ReadonlyArray<Member>,
    { chainId, fee, nonce, ...call }: Call,
  ): Effect.fn.Return<Dispatched, RpcFailure> {
    const signed = yield* Effect.tryPromise({
      try: () => account.signTransaction({ type: "eip1559", chainId, nonce, ...call, ...fee }),
      catch: (cause) => new RpcFailure({ text: String(cause), answered: false }),
    })
    const hash = keccak256(signed)
    const atMillis = yield* Clock.currentTimeMillis
    const passengers = yield* Effect.forEach(members, ({ noted, transfer }) =>
      Effect.map(Ref.get(noted), (previous) => ({ attempt: transfer.attempt, state: transfer.state, previous })),
    )
    const ours = yield* broadcasts
      .note(passengers, { nonce, hash, maxFeePerGas: fee.maxFeePerGas, atMillis, members: members.length })
      .pipe(Effect.mapError(({ message }) => new RpcFailure({ text: message, answered: false })))
    const [outrun, noted] = [
      members.filter(({ transfer }) => !ours.has(transfer.attempt)),
      members.filter(({ transfer }) => ours.has(transfer.attempt)),
    ]
    yield* Effect.forEach(noted, (member) => Ref.set(member.noted, Option.some(hash)), { discard: true })
    if (outrun.length > 0) return { _tag: "Outrun", members: new Set(outrun.map(({ transfer }) => transfer.attempt)) }
    yield* node.send(signed, hash).pipe(
      Effect.tap(() => nonces.sent(nonce, hash)),
      Effect.tapError(() => nonces.forget),
    )
    return { _tag: "Sent", hash }
  })

export type Dispatch = ReturnType<typeof make>
