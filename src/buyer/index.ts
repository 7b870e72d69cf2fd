/** `spirit-altar`: seals words, verifies an altar's answers, and buys; a buyer's code is loaded by its first call. */
import type * as SignedCheckpoint from "./log/SignedCheckpoint.ts"
import type * as EntryProof from "./log/EntryProof.ts"
import type * as Verify from "./Verify.ts"
import type * as Receipt from "./receipt/VerifyReceipt.ts"
import type { Call, Options } from "./Options.ts"
import { unlessAborted } from "./core/Abort.ts"
import { memoryJournal } from "./core/Journal.ts"
import type { Orders } from "./Orders.ts"
import type * as Order from "./OrderTypes.ts"

export { normalize, recipe } from "../../schema/altar/Recipe.ts"
export type { Call, Options as BuyerOptions, Progress } from "./Options.ts"
export { AltarError, type Code, Misrecorded, Open, Refused } from "./Errors.ts"
export { browserJournal, type Journal, memoryJournal, type Pages } from "./core/Journal.ts"
export type * from "./OrderTypes.ts"
export type { Policy } from "./Policy.ts"
export { seal, type Sealed } from "./core/Commitment.ts"
export type { Account } from "./core/Authorization.ts"
export type { Cosignature, Opened, Trust } from "./log/SignedCheckpoint.ts"
export type { EntryProven } from "./log/EntryProof.ts"
export type { NotProven } from "./core/Verdict.ts"
export type { ReceiptCheck } from "./receipt/Checks.ts"
export type { ReceiptClaims } from "./receipt/Jws.ts"
export type { ReceiptTrust, ReceiptVerdict } from "./receipt/VerifyReceipt.ts"
export type { Broken, Head, Link, Revealed, Segment } from "./Verify.ts"

/** Whether a stone hashes, whether its revealed words match its commitment and, given salt and words, whether these do. */
export const verifyStone: typeof Verify.verifyStone = (...of) =>
  import("./Verify.ts").then((verify) => verify.verifyStone(...of))

/** Whether revealed words and their salt hash to the commitment; sealed or hidden words pass. */
export const verifyReveal: typeof Verify.verifyReveal = (...of) =>
  import("./Verify.ts").then((verify) => verify.verifyReveal(...of))

/** Whether every link of a segment hashes and follows the one before, beginning at the anchor. */
export const verifySegment: typeof Verify.verifySegment = (...of) =>
  import("./Verify.ts").then((verify) => verify.verifySegment(...of))

/** Whether a `.tlog-proof` proves that the log includes a stone, by the log's verifier key; offline. */
export const verifyProof: typeof EntryProof.verifyProof = (...of) =>
  import("./log/EntryProof.ts").then((log) => log.verifyProof(...of))

/** Whether a `.tlog-proof` proves that any log includes an entry, as bytes or by its leaf hash; offline. */
export const verifyEntry: typeof EntryProof.verifyEntry = (...of) =>
  import("./log/EntryProof.ts").then((log) => log.verifyEntry(...of))

/** Checks the receipt file of an act offline; each check says what was shown, and `open` ones were not. */
export const verifyReceipt: typeof Receipt.verifyReceipt = (...of) =>
  import("./receipt/VerifyReceipt.ts").then((receipt) => receipt.verifyReceipt(...of))

/** The checkpoint of a signed note, when the log of this key signed it; offline. */
export const openCheckpoint: typeof SignedCheckpoint.openCheckpoint = (...of) =>
  import("./log/SignedCheckpoint.ts").then((log) => log.openCheckpoint(...of))

/**
 * A buyer of one altar with one account. Every purchase has a key; repeating it resends the signed payment and never
 * signs again. Promises reject with one of three errors, told apart by `_tag`:
 * `Refused` (final; the sentence says what was charged), `Open` (outcome unknown; repeat the key or call `reconcile`),
 * `Misrecorded` (the answer differs from the purchase; `differences` names the fields).
 *
 * ```ts
 * const altar = buyer({ url: "https://altar.example", account: privateKeyToAccount("0x…"), journal: browserJournal() })
 * const { record, receipt } = await altar.witness({ words: "The heron will return by May.", kind: "prediction" })
 * await altar.reveal(record.id)
 * ```
 */
export const buyer = (options: Options) => {
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
    /**
     * Buys any act by its name, such as `offerPrayer`, at the listed price. An act that this version does not list is
     * bought by the altar's own contract, for at most one cent.
     */
    buy: <const Name extends string>(name: Name, order: Order.OrderOf<Name> & Order.Common, call?: Call) =>
      run((orders) => orders.buy(name, order), call),
    /** Sets a witness stone. */
    witness: (order: Order.WitnessOrder, call?: Call) => run((orders) => orders.witness(order), call),
    /** Lays today's one prayer of a spirit. */
    pray: (order: Order.PrayerOrder, call?: Call) => run((orders) => orders.pray(order), call),
    /** Becomes a spirit's first keeper. */
    takeIn: (order: Order.KeeperOrder, call?: Call) => run((orders) => orders.takeIn(order), call),
    /** Collects the next edition of a material, crab or pixel. */
    collect: (order: Order.CollectOrder, call?: Call) => run((orders) => orders.collect(order), call),
    /** Lights a candle, or with `parentId` adds a light to one. */
    light: (order: Order.CandleOrder, call?: Call) => run((orders) => orders.light(order), call),
    /** Reveals a stone's words from the journal, free and once. Words and salt become public for all to check. */
    reveal: (id: string, opening?: Order.Opening, call?: Call) => run((orders) => orders.reveal(id, opening), call),
    /** Unseals a candle's words from the journal, free and once. Words and salt become public for all to check. */
    unseal: (id: string, opening?: Order.Opening, call?: Call) => run((orders) => orders.unseal(id, opening), call),
    /** The outcome of a key's purchase; free, and never signs. */
    reconcile: (key: string, call?: Call) => run((orders) => orders.reconcile(key), call),
    /** Salt, words and commitment that were sealed under a key, to keep them elsewhere. */
    exportWords: (key: string, call?: Call) => run((orders) => orders.exportWords(key), call),
    /**
     * Removes a purchase from the journal. Refused while it is open, while its failed payment could still be used, or
     * while its words are nowhere else. A full journal forgets its oldest purchases by itself.
     */
    forget: (key: string, call?: Call) => run((orders) => orders.forget(key), call),
  }
}

export type Buyer = ReturnType<typeof buyer>
