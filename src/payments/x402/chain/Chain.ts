/** Asks the node: about blocks, transactions and balances, about an authorization, and for the scan. */
import * as JsonRpc from "./JsonRpc.ts"
import { Context, type Duration, Effect, Layer, Option, type Redacted } from "effect"
import type { Hex } from "viem"
import type { Address } from "../../../../schema/Common.ts"
import { receiptLimit } from "../../../platform/Answers.ts"
import type { InFlight } from "../../store/Claim.ts"
import { endTopics, inLowerCase, reasonOf, settlementCall, type SignedAuthorization } from "./Eip3009.ts"
import { logSearch } from "./LogSearch.ts"
import * as Questions from "./Questions.ts"
import type { Authorization, Rehearsal } from "./Questions.ts"
import {
  atBlock,
  type BlockId,
  type BlockParameter,
  both,
  type ChainUnavailable,
  type EvidenceNode,
  isFinalBy,
  isRevert,
  type Question,
  revertOf,
  type ScanNode,
} from "./Rpc.ts"

/**
 * A dry run of the transfer on the newest block, with the payer's balance there in atomic units. `block` is the final
 * one, where a search for its logs begins.
 */
export type Simulation =
  | { readonly _tag: "Accepted"; readonly block: bigint; readonly balance: bigint }
  | { readonly _tag: "Reverted"; readonly reason: string }

/** A transaction's place among those of its key. */
interface Sent {
  readonly sender: Address
  readonly nonce: number
}

type State = "pending" | "latest"

export interface ChainConfig {
  readonly rpcUrl: Redacted.Redacted<string>
  /** The sender of the transfers, if known. A wallet's contract may depend on it. */
  readonly sender?: Address | undefined
  /** The timeout of one request, to the last byte of its answer. */
  readonly timeout: Duration.Duration
}

export class Chain extends Context.Service<Chain>()("spirit-altar/payments/x402/chain/Chain", {
  make: Effect.fnUntraced(function* (config: ChainConfig) {
    const { rpcUrl: url, timeout } = config
    const { ask, once } = yield* JsonRpc.make({ url, timeout })
    // The sender of a transaction chooses the length of its receipt. A separate client keeps long ones from delaying
    // other queries.
    const long = yield* JsonRpc.make({ url, timeout, limit: receiptLimit })

    const newest = ask(Questions.blockAt("latest"))
    const final = ask(Questions.blockAt("finalized"))
    const heads = Effect.map(
      ask(both(Questions.headerAt("latest"), Questions.blockAt("finalized"))),
      ([newest, final]) => ({ newest, final }),
    )
    const blockIfAny = (number: bigint) => ask(Questions.blockIfAny(number))

    const revertAt = (authorization: SignedAuthorization, block: BlockParameter) => {
      const transfer = settlementCall(authorization)
      return revertOf(
        Questions.call(config.sender === undefined ? transfer : { ...transfer, from: config.sender }, block),
      )
    }

    // The final block stays. A later block may be reorganised, with the transfer moved below today's head.
    const simulate = Effect.fnUntraced(function* (authorization: SignedAuthorization) {
      const balanceNow = Questions.tokenBalance(authorization.asset, authorization.from, "latest")
      const [{ number }, [revert, balance]] = yield* ask(
        both(Questions.blockAt("finalized"), both(revertAt(authorization, "latest"), balanceNow)),
      )
      return Option.match(revert, {
        onNone: (): Simulation => ({ _tag: "Accepted", block: number, balance }),
        onSome: (text): Simulation => ({ _tag: "Reverted", reason: reasonOf(text) }),
      })
    })

    /** A transaction in a block and its fee; none if the node does not know it. */
    const receipt = Effect.fnUntraced(function* (transaction: Hex) {
      const answer = yield* long.ask(Questions.getReceipt(transaction))
      // An answer about another transaction is no answer.
      if (answer === null || inLowerCase(answer.transactionHash) !== inLowerCase(transaction)) return Option.none()
      const { blockHash, blockNumber, effectiveGasPrice = 0n, gasUsed = 0n, logs, status } = answer
      return Option.some({
        block: { number: blockNumber, hash: blockHash },
        succeeded: status === "0x1",
        wei: gasUsed * effectiveGasPrice,
        logs,
      })
    })

    const receiptOf = Effect.fnUntraced(function* (transaction: Hex, asset: Address) {
      const all = yield* receipt(transaction)
      if (Option.isNone(all)) return Option.none()
      const { block, logs, succeeded } = all.value
      return Option.some({ block, succeeded, logs: yield* Effect.fromResult(Questions.tokenLogsIn(logs, asset)) })
    })

    /**
     * Whether the authorization is used, and its wallet's balance before these payments, which may have left it
     * unrecorded and must not count twice. All are read at one block.
     */
    const balanceBefore = Effect.fn("Chain.balanceBefore")(function* (
      authorization: SignedAuthorization,
      inFlight: ReadonlyArray<InFlight>,
    ) {
      const { asset, from } = authorization
      const block = yield* newest
      // Pinned to one block, they need not share a request, which has at most as many calls as a node accepts.
      const each = { concurrency: "unbounded" } as const
      const balance = atBlock(ask, block, (at) => Questions.tokenBalance(asset, from, at))
      const uses = Effect.forEach(
        [authorization.nonce, ...inFlight.map(({ nonce }) => nonce)],
        (nonce) => atBlock(ask, block, (at) => Questions.isUsed({ asset, from, nonce }, at)),
        each,
      )
      const [left, [isUsed = false, ...used]] = yield* Effect.all([balance, uses], each)
      const paid = inFlight.map(({ amountAtomic }, index) => (used[index] === true ? amountAtomic : 0n))
      return { isUsed, balanceAtomic: paid.reduce((sum, amount) => sum + amount, left) }
    })

    /** Whether a block has a transaction of this nonce, and has the authorization used. */
    const standingAt = (block: BlockId, { nonce, sender }: Sent, authorization: Authorization) =>
      Effect.map(
        atBlock(ask, block, (at) =>
          both(Questions.getTransactionCount(sender, at), Questions.isUsed(authorization, at)),
        ),
        ([count, isUsed]) => ({ isSpent: count > BigInt(nonce), isUsed }),
      )

    /** Whether one final block has a transaction of this nonce, and the authorization is unused in the same block. */
    const isSpentUnused = Effect.fnUntraced(function* (sent: Sent, authorization: Authorization) {
      const { isSpent, isUsed } = yield* standingAt(yield* final, sent, authorization)
      return isSpent && !isUsed
    })

    /** Whether the authorization is used in the newest block, by another transaction than the one of this nonce. */
    const isUsedElsewhere = Effect.fnUntraced(function* (sent: Sent, authorization: Authorization) {
      const { isSpent, isUsed } = yield* standingAt(yield* newest, sent, authorization)
      return isUsed && !isSpent
    })

    const search = logSearch()

    const evidence: EvidenceNode<ChainUnavailable> = {
      heads,
      finalAnd: Effect.fnUntraced(function* (number: bigint) {
        const newest = yield* final
        const [there, again] = yield* ask(both(Questions.blockAt(number), Questions.blockAt(newest.number)))
        return { final: newest, there, again }
      }),
      receiptOf,
      stateAt: (authorization, block) =>
        Effect.map(
          atBlock(ask, block, (at) => both(Questions.isUsed(authorization, at), revertAt(authorization, at))),
          ([used, revert]) => ({ used, revert: Option.map(revert, reasonOf) }),
        ),
      endsOf: (authorization, within, newestFirst) =>
        search(
          (range) => long.ask(Questions.tokenLogs(authorization.asset, endTopics(authorization), range)),
          within,
          newestFirst,
          `${authorization.from}:${authorization.nonce}`,
        ),
    }

    const scanning = (asset: Address): ScanNode => ({
      heads,
      blockAt: blockIfAny,
      logs: Effect.fnUntraced(function* (topics, range) {
        const ends = both(Questions.blockIfAny(range.from - 1n), Questions.blockIfAny(range.to))
        const content = both(Questions.tokenLogs(asset, topics, range), Questions.blockAt("latest"))
        const [[logs, newest], [before, end]] = yield* long.ask(both(content, ends))
        return { logs, before, end, newest }
      }),
      logsIn: (transaction) =>
        Effect.map(
          receiptOf(transaction, asset),
          Option.map(({ logs }) => logs),
        ),
    })

    /** Falls back to the newest block for nodes without a pending state. */
    const orOnLatest = <A>(state: State, questionAt: (state: State) => Question<A>) =>
      Effect.catchIf(
        ask(questionAt(state)),
        (failure) => state === "pending" && failure.code !== undefined && !isRevert(failure),
        () => ask(questionAt("latest")),
      )

    /** The questions and transactions of the relayer. */
    const relaying = {
      /** Sends once. A refusal proves nothing: the node may have accepted the transaction all the same. */
      send: (signed: Hex) =>
        Effect.catchIf(Effect.asVoid(once(Questions.sendRaw(signed))), Questions.isSentBefore, () => Effect.void),
      /** A transaction that waits or is in a block; none if the node does not know it. */
      transaction: (hash: Hex) =>
        Effect.map(ask(Questions.getTransaction(hash)), (answer) =>
          answer === null ? Option.none() : Option.some({ isMined: typeof answer.blockNumber === "bigint" }),
        ),
      /** The number of transactions in blocks, or with those that wait (`pending`). */
      count: (address: Hex, state: State) => Effect.map(ask(Questions.getTransactionCount(address, state)), Number),
      balance: (address: Hex) => ask(Questions.getBalance(address, "latest")),
      hasCode: (address: Hex) => ask(Questions.hasCode(address)),
      rehearse: (from: Hex, rehearsal: Rehearsal, state: State) =>
        orOnLatest(state, (at) => Questions.rehearsal(from, rehearsal, at)),
      estimateGas: (from: Hex, { data, to }: Pick<Rehearsal, "to" | "data">, state: State) =>
        orOnLatest(state, (at) => Questions.estimateGas({ from, to, data }, at)),
    }

    return {
      ...evidence,
      ...relaying,
      ask,
      newest,
      final,
      receipt,
      timeOf: (number: bigint) => Effect.map(ask(Questions.blockAt(number)), ({ timestamp }) => timestamp),
      isFinal: (block: BlockId) => isFinalBy(evidence, block),
      simulate,
      balanceBefore,
      isSpentUnused,
      isUsedElsewhere,
      scanOf: (asset: Address) => Effect.succeed(scanning(asset)),
    }
  }),
}) {
  static readonly layer = (config: ChainConfig) => Layer.effect(this, this.make(config))
}
