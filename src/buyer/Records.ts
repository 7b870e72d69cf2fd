/** The acts and records of the contract by the library's names; the package has them printed by `src/build/declarations.ts`. */
import type { Act as ActSchema } from "../../schema/altar/ActApi.ts"
import type { unsealCandle } from "../../schema/altar/Candle.ts"
import type { Sold } from "../../schema/altar/Sales.ts"
import type { SpiritId } from "../../schema/altar/Spirit.ts"
import type { ChainSegment, ListedStone as ListedStoneSchema, revealWitnessStone } from "../../schema/altar/Witness.ts"
import type { WitnessStone } from "../../schema/altar/Witness.ts"
import type { SettlementPending } from "../../schema/payments/Act.ts"
import type * as Payment from "../../schema/payments/Payment.ts"
import type { InputOf, PaidEndpoint } from "../../schema/payments/Sale.ts"
import type { BodyOf } from "./Client.ts"
import type { Keyed, Sealing, Wordless } from "./Library.ts"

export type Stone = WitnessStone
export type ListedStone = typeof ListedStoneSchema.Type
export type Segment = typeof ChainSegment.Type
export type Spirit = SpiritId
export type Act = typeof ActSchema.Type
export type Receipt = Payment.Receipt
export type Prayer = Acts["offerPrayer"]["answer"]["record"]
export type Keeper = Acts["takeIn"]["answer"]["record"]
export type Collectible = Acts["collectMaterial"]["answer"]["record"]
export type Candle = Acts["lightDay"]["answer"]["record"]
export type StoneRevealed = BodyOf<typeof revealWitnessStone>
export type CandleUnsealed = BodyOf<typeof unsealCandle>

type SealingOf<Input> = "commitment" extends keyof Input
  ? Sealing
  : "intentionCommitment" extends keyof Input
    ? Sealing | (undefined extends Input["intentionCommitment"] ? Wordless : never)
    : Wordless

type Called<Name> = Name extends "familiarId" ? "spirit" : Name extends "elementId" ? "element" : Name

/** Path, query and body of a request in one, with words to seal instead of a commitment. */
type OrderAt<E extends PaidEndpoint> = Omit<
  { readonly [Name in keyof InputOf<E> as Called<Name>]: InputOf<E>[Name] },
  "commitment" | "intentionCommitment"
> &
  SealingOf<InputOf<E>> &
  Keyed

type Named<Name> = Extract<Sold, { readonly identifier: Name }>

/** The order and the answer of each act by its name. */
export type Acts = {
  readonly [Name in Sold["identifier"]]: {
    readonly order: OrderAt<Named<Name>>
    readonly answer: Exclude<BodyOf<Named<Name>>, SettlementPending>
  }
}
