/** The parameters of each act in the library. */
import type { Schema } from "effect"
import type { CandleBody, CandleDays } from "../../schema/altar/Candle.ts"
import type { WhyBody } from "../../schema/altar/Keeper.ts"
import type { PrayerBody } from "../../schema/altar/Prayer.ts"
import type { SpiritId } from "../../schema/altar/Spirit.ts"
import type { WitnessBody } from "../../schema/altar/Witness.ts"

/** The idempotency key, 12 to 128 of `A-Z a-z 0-9 _ -`; random when absent. Repeating it repeats the purchase. */
export interface Keyed {
  readonly key?: string
}

/** Words are sealed here and never sent; a commitment was sealed elsewhere. */
export type Sealing =
  | { readonly words: string; readonly salt?: string; readonly commitment?: never }
  | { readonly commitment: string; readonly words?: never; readonly salt?: never }

export type WitnessOrder = Omit<typeof WitnessBody.Type, "commitment"> & Sealing & Keyed
export type PrayerOrder = Omit<typeof PrayerBody.Type, "intentionCommitment"> &
  Sealing &
  Keyed & { readonly spirit: SpiritId; readonly day?: string }
export type KeeperOrder = typeof WhyBody.Type & Keyed & { readonly spirit: SpiritId }
export type CollectOrder = typeof WhyBody.Type & Keyed & { readonly element: string; readonly spirit?: SpiritId }
export type CandleOrder = Omit<typeof CandleBody.Type, "intentionCommitment"> &
  (Sealing | { readonly words?: never; readonly salt?: never; readonly commitment?: never }) &
  Keyed & { readonly spirit: SpiritId; readonly days: CandleDays }

/** A request for any act, in the texts of its contract; words are sealed into its commitment. */
export interface ActOrder extends Keyed {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly payload?: Readonly<Record<string, Schema.Json>>
  readonly sealing?: { readonly words: string; readonly salt?: string }
}

/** The sealed words and their salt, given or found in the journal. */
export interface Opening {
  readonly salt?: string
  readonly words?: string
  readonly agentName?: string
}
