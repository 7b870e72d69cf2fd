/** An authorization that was used although no attempt of ours holds it: where its money went, looked up and said as it is. */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Hex, hexToBigInt, numberToHex } from "viem"
import { timestampOf } from "./Attempt.ts"
import { Chain, ChainUnavailable } from "./Chain.ts"
import {
  addressTopic,
  authorizationCanceled,
  authorizationStateData,
  authorizationUsed,
  pays,
  type SignedAuthorization,
} from "./Eip3009.ts"
import { claimOf } from "./Payment.ts"
import type { Terms } from "./PaymentTerms.ts"
import { type DoubtfulPayment, longestLife, PaymentRejected } from "./PaymentVerifier.ts"
import { ask } from "./Rpc.ts"

/** A payment that is on the chain already and belongs to nobody. */
export interface FoundPayment {
  readonly authorization: SignedAuthorization
  readonly payload: string
  readonly fromBlock: bigint
  readonly transaction: Hex
}

/** How one log query may span, and how many seconds before its end an authorization may have been used. */
const logWindow = 2_000n
const searchedSeconds = 86_400n

/** Times within which nobody else can have had the signature for long, so that who presents it may have what it paid. */
const isFresh = ({ validAfter, validBefore }: SignedAuthorization, terms: Terms, now: bigint) =>
  validAfter <= now && now < validBefore && validBefore <= now + longestLife(terms)

const reason = "invalid_exact_evm_nonce_already_used"

const stray = (transaction: string) =>
  new PaymentRejected({
    reason,
    message: `This authorization paid us in transaction ${transaction}, but belongs to no purchase we know. Do not sign again before the operator has looked; the payment is noted for them.`,
  })

const canceled = (transaction: string) =>
  new PaymentRejected({
    reason,
    message: `Its wallet cancelled this authorization in transaction ${transaction}, so it never paid and never will. Nothing was charged; sign a new one.`,
  })

const elsewhere = (transaction: string) =>
  new PaymentRejected({
    reason,
    message: `This authorization was used up in transaction ${transaction}, which did not pay us its amount. This request charged nothing; sign a new one.`,
  })

const unseen = new PaymentRejected({
  reason,
  message:
    "This authorization was used or cancelled longer than a day before its end, and where is not looked up. This request charged nothing; sign a new one once your wallet shows that it did not pay us.",
})

export class UsedAuthorizations extends Context.Service<
  UsedAuthorizations,
  {
    /** The payment that a doubtful one has already made and may be claimed; otherwise its refusal, in true words. */
    trace(
      doubtful: DoubtfulPayment,
      terms: Terms,
    ): Effect.Effect<FoundPayment, PaymentRejected | ChainUnavailable | SqlError.SqlError>
  }
>()("spirit-altar/payments/UsedAuthorizations") {
  static readonly layer = Layer.effect(
    UsedAuthorizations,
    Effect.gen(function* () {
      const { client } = yield* Chain
      const sql = yield* SqlClient.SqlClient

      const blockAt = (block: Hex | "latest") =>
        ask("eth_getBlockByNumber", () =>
          client.request({ method: "eth_getBlockByNumber", params: [block, false] }).then((found) => ({
            number: hexToBigInt(found?.number ?? "0x"),
            timestamp: hexToBigInt(found?.timestamp ?? "0x"),
          })),
        )

      const isUsed = ({ asset, from, nonce }: SignedAuthorization, block: bigint) =>
        ask("eth_call", () =>
          client
            .request({
              method: "eth_call",
              params: [{ to: asset, data: authorizationStateData(from, nonce) }, numberToHex(block)],
            })
            .then((used) => BigInt(used) === 1n),
        )

      /** The first block at or after a time, in as many looks as its distance has digits. */
      const firstBlockFrom = Effect.fnUntraced(function* (
        time: bigint,
        newest: { readonly number: bigint; readonly timestamp: bigint },
      ) {
        if (newest.timestamp < time) return newest.number
        let high = newest.number
        let step = 256n
        let low = high > step ? high - step : 0n
        while (low > 0n && (yield* blockAt(numberToHex(low))).timestamp >= time) {
          high = low
          step *= 4n
          low = high > step ? high - step : 0n
        }
        while (high - low > 64n) {
          const middle = (low + high) / 2n
          if ((yield* blockAt(numberToHex(middle))).timestamp >= time) high = middle
          else low = middle
        }
        return low
      })

      const logsBetween = ({ asset, from, nonce }: SignedAuthorization, first: bigint, last: bigint) =>
        ask("eth_getLogs", () =>
          client.request({
            method: "eth_getLogs",
            params: [
              {
                address: asset,
                fromBlock: numberToHex(first),
                toBlock: numberToHex(last),
                topics: [[authorizationUsed, authorizationCanceled], addressTopic(from), nonce],
              },
            ],
          }),
        ).pipe(Effect.map((logs) => Option.fromUndefinedOr(logs[0])))

      /** Newest first: an authorization is mostly used soon after it was signed, which is shortly before its end. */
      const findLog = Effect.fnUntraced(function* (
        authorization: SignedAuthorization,
        newest: { readonly number: bigint; readonly timestamp: bigint },
      ) {
        const { validAfter, validBefore } = authorization
        const end = validBefore < newest.timestamp ? validBefore : newest.timestamp
        const start = end - searchedSeconds > validAfter ? end - searchedSeconds : validAfter
        const first = yield* firstBlockFrom(start, newest)
        let last = end < newest.timestamp ? (yield* firstBlockFrom(end, newest)) + 64n : newest.number
        if (last > newest.number) last = newest.number
        for (; last >= first; last -= logWindow) {
          const from = last - logWindow + 1n > first ? last - logWindow + 1n : first
          const found = yield* logsBetween(authorization, from, last)
          if (Option.isSome(found)) return found
        }
        return Option.none()
      })

      const receiptOf = (hash: Hex) =>
        ask("eth_getTransactionReceipt", () =>
          client.request({ method: "eth_getTransactionReceipt", params: [hash] }),
        ).pipe(
          // A log whose transaction has no receipt is two answers that contradict each other: it proves nothing.
          Effect.filterOrFail(
            (receipt) => receipt !== null,
            () => new ChainUnavailable({ method: "eth_getTransactionReceipt", cause: "no receipt" }),
          ),
          Effect.filterOrFail(
            ({ status }) => status === "0x1",
            () => new ChainUnavailable({ method: "eth_getTransactionReceipt", cause: "reverted" }),
          ),
        )

      const known = (name: string) =>
        sql<{ readonly transaction: string }>`SELECT transaction FROM payment_strays WHERE name = ${name}`.pipe(
          Effect.map((rows) => Option.fromUndefinedOr(rows[0]?.transaction)),
        )

      /** One row for each authorization that the chain proves to have paid us: nobody can fill this for nothing. */
      const note = Effect.fnUntraced(function* (
        name: string,
        authorization: SignedAuthorization,
        network: string,
        transaction: Hex,
      ) {
        const { asset, from, nonce, validBefore, value } = authorization
        const now = timestampOf(yield* Clock.currentTimeMillis)
        const written = yield* sql`
          INSERT INTO payment_strays (name, network, asset, payer, nonce, amount_atomic, valid_before, transaction, found_at)
          VALUES (${name}, ${network}, ${asset}, ${from}, ${nonce}, ${value.toString()}::numeric,
            ${validBefore.toString()}::numeric, ${transaction}, ${now}::timestamptz)
          ON CONFLICT (name) DO NOTHING RETURNING name`
        if (written.length > 0)
          yield* Effect.logError(`A payment belongs to no purchase: ${from} paid ${value} in ${transaction}`)
      })

      const trace = Effect.fn("UsedAuthorizations.trace")(function* (
        { authorization, payload, refusal }: DoubtfulPayment,
        terms: Terms,
      ) {
        const name = claimOf({
          rail: "x402",
          network: terms.network,
          authorization,
          fromBlock: 0n,
          transaction: Option.none(),
        })
        const noted = yield* known(name)
        if (Option.isSome(noted)) return yield* stray(noted.value)

        const newest = yield* blockAt("latest")
        if (!(yield* isUsed(authorization, newest.number))) return yield* refusal
        const log = yield* findLog(authorization, newest)
        if (Option.isNone(log)) return yield* unseen
        const { blockNumber, topics, transactionHash } = log.value
        if (blockNumber === null || transactionHash === null) {
          return yield* new ChainUnavailable({ method: "eth_getLogs", cause: "a log without its block" })
        }
        const receipt = yield* receiptOf(transactionHash)
        if (!pays(receipt.logs, authorization)) {
          return yield* topics[0] === authorizationCanceled ? canceled(transactionHash) : elsewhere(transactionHash)
        }
        const now = BigInt(Math.floor((yield* Clock.currentTimeMillis) / 1000))
        if (isFresh(authorization, terms, now) && newest.timestamp < authorization.validBefore) {
          return { authorization, payload, fromBlock: hexToBigInt(blockNumber), transaction: transactionHash }
        }
        yield* note(name, authorization, terms.network, transactionHash)
        return yield* stray(transactionHash)
      })

      return UsedAuthorizations.of({ trace })
    }),
  )
}
