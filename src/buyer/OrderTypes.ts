/** The parameters of each act in the library. */
import type { Schema } from "effect"
import type { CandleDays } from "../../schema/altar/Candle.ts"
import type { Sold } from "../../schema/altar/Sales.ts"
import type { SettlementPending } from "../../schema/payments/Act.ts"
import type { InputOf, PaidEndpoint } from "../../schema/payments/Sale.ts"
import type { Settled } from "./Acts.ts"
import type { BodyOf } from "./Client.ts"

/** The idempotency key, 12 to 128 of `A-Z a-z 0-9 _ -`; random when absent. Repeating it repeats the purchase. */
export interface Keyed {
  readonly key?: string
}

/** Words are sealed here and never sent; a commitment was sealed elsewhere. */
export type Sealing =
  | { readonly words: string; readonly salt?: string; readonly commitment?: never }
  | { readonly commitment: string; readonly words?: never; readonly salt?: never }

/** The members that the order of any act may have. */
export type Common = Keyed & { readonly words?: string; readonly salt?: string; readonly commitment?: string }

type Unsealed = { readonly words?: never; readonly salt?: never; readonly commitment?: never }

type SealingOf<Input> = "commitment" extends keyof Input
  ? Sealing
  : "intentionCommitment" extends keyof Input
    ? Sealing | (undefined extends Input["intentionCommitment"] ? Unsealed : never)
    : Unsealed

type Called<Name> = Name extends "familiarId" ? "spirit" : Name extends "elementId" ? "element" : Name

/** Path, query and body of a request in one, with words to seal instead of a commitment. */
type OrderAt<E extends PaidEndpoint> = Omit<
  { readonly [Name in keyof InputOf<E> as Called<Name>]: InputOf<E>[Name] },
  "commitment" | "intentionCommitment"
> &
  SealingOf<InputOf<E>> &
  Keyed

/** An act that this version lists. */
export type ActName = Sold["identifier"]

type Named<Name> = Extract<Sold, { readonly identifier: Name }>

/** The input of an act by its name. Members of an act that is not listed are those of the altar's contract. */
export type OrderOf<Name extends string> = Name extends ActName ? OrderAt<Named<Name>> : UnlistedOrder

/** The answer of an act by its name. */
export type AnswerOf<Name extends string> = Settled &
  (Name extends ActName ? Exclude<BodyOf<Named<Name>>, SettlementPending> : unknown)

export type UnlistedOrder = Keyed & { readonly [member: string]: Schema.Json | undefined }

export type WitnessOrder = OrderOf<"setWitnessStone">
export type PrayerOrder = OrderOf<"offerPrayer">
export type KeeperOrder = OrderOf<"takeIn">
export type CollectOrder = OrderOf<"collectMaterial">
export type CandleOrder = OrderOf<"lightDay"> & { readonly days: CandleDays }

/** The sealed words and their salt, given or found in the journal. */
export interface Opening {
  readonly salt?: string
  readonly words?: string
  readonly agentName?: string
}
