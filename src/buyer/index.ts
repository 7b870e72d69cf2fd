/**
 * `spirit-altar`: seal words, check what the altar says, and buy from it. Nothing here needs a server, and what pays is
 * loaded only when somebody buys.
 */
import type { SpiritId } from "../../schema/altar/Spirit.ts"
import type { Options } from "./Buyer.ts"
import type {
  ActOrder,
  CandleOrder,
  CollectOrder,
  KeeperOrder,
  Opening,
  PrayerOrder,
  WitnessOrder,
} from "./OrderTypes.ts"
import type * as MerkleProofs from "./log/MerkleProofs.ts"
import type * as SignedCheckpoint from "./log/SignedCheckpoint.ts"
import type * as StoneProof from "./log/StoneProof.ts"
import type { Call, PromiseApi } from "./PromiseApi.ts"

export { normalize, recipe } from "../../schema/altar/Recipe.ts"
export type { Options as BuyerOptions, Progress } from "./Buyer.ts"
export type { Misrecorded, Open, Refused } from "./PurchaseError.ts"
export { browserJournal, type Journal, memoryJournal, type Pages } from "./core/Journal.ts"
export type {
  ActOrder,
  CandleOrder,
  CollectOrder,
  KeeperOrder,
  Opening,
  PrayerOrder,
  WitnessOrder,
} from "./OrderTypes.ts"
export type { Policy } from "./Policy.ts"
export type { Call } from "./PromiseApi.ts"
export { seal, type Sealed } from "./Seal.ts"
export type { Account } from "./Signer.ts"
export type { Tree } from "./log/MerkleProofs.ts"
export type { Cosignature, Opened, Trust } from "./log/SignedCheckpoint.ts"
export type { StoneProven } from "./log/StoneProof.ts"
export type { NotProven } from "./log/Verdict.ts"
export {
  type Broken,
  type Head,
  type Link,
  type Revealed,
  type Segment,
  verifyReveal,
  verifySegment,
  verifyStone,
} from "./Verify.ts"

/** Whether a `.tlog-proof` proves that the log holds a stone, for whoever has the log's verifier key; offline. */
export const verifyProof: typeof StoneProof.verifyProof = (...of) =>
  import("./log/StoneProof.ts").then((log) => log.verifyProof(...of))

/** The checkpoint of a signed note, when the log of this key signed it; offline. */
export const openCheckpoint: typeof SignedCheckpoint.openCheckpoint = (...of) =>
  import("./log/SignedCheckpoint.ts").then((log) => log.openCheckpoint(...of))

/** Whether a tree of one checkpoint begins with that of an older one, by a consistency proof; offline. */
export const extendsTree: typeof MerkleProofs.extendsTree = (...of) =>
  import("./log/MerkleProofs.ts").then((log) => log.extendsTree(...of))

/**
 * A buyer of one altar with one account. Every purchase has a key; repeating it re-sends what was signed for it and
 * never signs again. A promise rejects with `Refused` (over; the sentence says what was charged), `Open` (not known
 * yet; repeat the key or call `reconcile`) or `Misrecorded` (the altar's answer is not what was bought; `differences`
 * names the fields), told apart by `_tag`.
 *
 * ```ts
 * const altar = buyer({ url: "https://altar.example", account: privateKeyToAccount("0x…"), journal: browserJournal() })
 * const { record, receipt } = await altar.witness({ words: "The heron will return by May.", kind: "prediction" })
 * await altar.reveal(record.id)
 * ```
 */
export const buyer = (options: Options) => {
  let loading: Promise<PromiseApi> | undefined
  const loaded = () => (loading ??= import("./PromiseApi.ts").then(({ promiseApi }) => promiseApi(options)))
  return {
    /** Buys any act of the contract by its name, `offerPrayer` for example; prices are those of the contract. */
    act: (name: string, order: ActOrder, call: Call = {}) => loaded().then((made) => made.act(call, name, order)),
    /** Sets a witness stone. */
    witness: (order: WitnessOrder, call: Call = {}) => loaded().then((made) => made.witness(call, order)),
    /** Lays today's one prayer of a spirit. */
    pray: (order: PrayerOrder, call: Call = {}) => loaded().then((made) => made.pray(call, order)),
    /** Becomes a spirit's first keeper. */
    keep: (order: KeeperOrder, call: Call = {}) => loaded().then((made) => made.keep(call, order)),
    /** Collects the next edition of a material, crab or pixel. */
    collect: (order: CollectOrder, call: Call = {}) => loaded().then((made) => made.collect(call, order)),
    /** Lights a candle, or with `parentId` adds a light to one. */
    light: (order: CandleOrder, call: Call = {}) => loaded().then((made) => made.light(call, order)),
    /** Reveals a stone's words, free and once; the journal knows them. Words and salt become public, so that everyone can check them. */
    reveal: (id: string, opening: Opening = {}, call: Call = {}) =>
      loaded().then((made) => made.reveal(call, id, opening)),
    /** The `.tlog-proof` of a stone, when the log's next checkpoint covers it; `verifyProof` checks it offline. */
    proof: (id: string, call: Call = {}) => loaded().then((made) => made.proof(call, id)),
    /** Unseals a candle's words, free and once; the journal knows them. Words and salt become public, so that everyone can check them. */
    unseal: (id: string, opening: Opening = {}, call: Call = {}) =>
      loaded().then((made) => made.unseal(call, id, opening)),
    /** How the purchase of a key ended; free, and never signs. */
    reconcile: (key: string, call: Call = {}) => loaded().then((made) => made.reconcile(call, key)),
    /** The 24 spirits with their keepers. */
    spirits: (call: Call = {}) => loaded().then((made) => made.spirits(call)),
    /** One altar as it stands now. */
    altar: (spirit: SpiritId, call: Call = {}) => loaded().then((made) => made.altar(call, spirit)),
  }
}

export type Buyer = ReturnType<typeof buyer>
