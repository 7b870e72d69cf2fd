/** The descriptions of the 24 spirits, in the order that assigns spirits to stones. */
import { type SpiritId, spiritIds } from "../../schema/altar/Spirit.ts"
import { hedges } from "./spirits/Hedges.ts"
import { hills } from "./spirits/Hills.ts"
import type { SpiritText } from "./spirits/SpiritText.ts"
import { waters } from "./spirits/Waters.ts"

export interface SpiritEntry extends SpiritText {
  readonly id: SpiritId
}

const texts: Readonly<Record<SpiritId, SpiritText>> = { ...hedges, ...waters, ...hills }

export const spirits: ReadonlyArray<SpiritEntry> = spiritIds.map((id) => ({ id, ...texts[id] }))
