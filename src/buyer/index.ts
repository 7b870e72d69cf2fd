/** `spirit-altar`: seals words, verifies what an altar answers, and buys; a buyer's code is loaded by its first call. */
import { normalize as normalized, recipe as recipeText } from "../../schema/altar/Recipe.ts"
import { unlessAborted } from "./core/Abort.ts"
import { seal as sealed } from "./core/Commitment.ts"
import { memoryJournal } from "./core/Journal.ts"
import type { BindingOptions, Buyer, BuyerOptions, Call, RequestToBind, Sealed, Trust, Verified } from "./Library.ts"
import type { Orders } from "./Orders.ts"

export type { Account, AuthorizationData } from "./core/Account.ts"
export { browserJournal, type Journal, memoryJournal, type Pages } from "./core/Journal.ts"
export { AltarError, type Code, Misrecorded, Open, Refused } from "./Errors.ts"
export type * from "./Library.ts"
export type * from "./Records.ts"

/** The recipe of a commitment in one sentence. */
export const recipe: string = recipeText

/** Words as they are sealed: Unicode NFC, CRLF and CR to LF, outer white space removed. */
export const normalize: (words: string) => string = normalized

/** Seals words with a salt, random when absent. Rejects with a `RangeError` when no reveal could succeed. */
export const seal: (words: string, salt?: string) => Promise<Sealed> = sealed

/**
 * Verifies anything by its form: a stone, words with their commitment, a segment of the chain, a receipt file, a proof or
 * a checkpoint; as an object, as a file's text, or at a URL. Needs no wallet, and the network only for a URL.
 */
export const verify: (thing: unknown, trust?: Trust) => Promise<Verified> = (...given) =>
  import("./Verify.ts").then((checks) => checks.verify(...given))

/**
 * A `fetch` for any x402 shop on an EVM network that publishes `request-binding`: it pays an approved 402 once, by a transfer
 * whose nonce names the request. Any other answer is returned as it is.
 */
export const bindFetch =
  (options: BindingOptions): typeof fetch =>
  (...request) =>
    import("./Binding.ts").then((binding) => binding.bindFetch(options)(...request))

/** For a shop or an auditor: whether a `PAYMENT-SIGNATURE` names this request, another one, or none (`unbound`). */
export const checkBinding = (payment: string, request: RequestToBind): Promise<"bound" | "other" | "unbound"> =>
  import("./Binding.ts").then((binding) => binding.checkBinding(payment, request))

/** The nonce that names a request, with a salt of 16 to 32 bytes in base64url. */
export const bindNonce = (request: RequestToBind, salt: string): Promise<`0x${string}`> =>
  import("./Binding.ts").then((binding) => binding.bindNonce(request, salt))

/**
 * A buyer of one altar. Promises reject with `Refused`, `Open` or `Misrecorded`, or with the reason of an aborted signal.
 *
 * ```ts
 * const altar = buyer({ url: "https://altar.example", account: privateKeyToAccount("0x…"), journal: browserJournal() })
 * const { record, receipt } = await altar.witness({ words: "The heron will return by May.", kind: "prediction" })
 * await altar.reveal(record.id)
 * ```
 */
export const buyer = (options: BuyerOptions): Buyer => {
  const kept = { ...options, journal: options.journal ?? memoryJournal() }
  const run = async <A>(
    use: (orders: Orders) => Promise<A>,
    { signal = new AbortController().signal }: Call = {},
  ): Promise<A> => {
    const { ordersOf } = await import("./Orders.ts")
    signal.throwIfAborted()
    return unlessAborted(signal, () => use(ordersOf(kept, signal)))
  }
  return {
    buy: (name, order, call) => run((orders) => orders.buy(name, order), call),
    witness: (order, call) => run((orders) => orders.witness(order), call),
    pray: (order, call) => run((orders) => orders.pray(order), call),
    keep: (order, call) => run((orders) => orders.keep(order), call),
    collect: (order, call) => run((orders) => orders.collect(order), call),
    light: (order, call) => run((orders) => orders.light(order), call),
    reveal: (id, opening, call) => run((orders) => orders.reveal(id, opening), call),
    unseal: (id, opening, call) => run((orders) => orders.unseal(id, opening), call),
    purchases: (call) => run((orders) => orders.purchases(), call),
    resume: (key, call) => run((orders) => orders.resume(key), call),
    exportWords: (key, call) => run((orders) => orders.exportWords(key), call),
    forget: (key, call) => run((orders) => orders.forget(key), call),
    stone: (id, call) => run((orders) => orders.stone(id), call),
    act: (id, call) => run((orders) => orders.act(id), call),
    receipt: (id, call) => run((orders) => orders.receipt(id), call),
    segment: (from, call) => run((orders) => orders.segment(from), call),
    proof: (id, call) => run((orders) => orders.proof(id), call),
  }
}
