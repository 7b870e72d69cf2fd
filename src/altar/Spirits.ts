/** The descriptions of the 24 spirits, in the order that assigns spirits to stones. */
import { type SpiritId, spiritIds } from "../../schema/altar/Spirit.ts"
import guide from "./guide/spirits.json" with { type: "json" }

/** The field guide's text about a spirit. All of it is public and shown as written. */
interface SpiritText {
  readonly name: string
  /** The real animal the spirit is drawn from. */
  readonly kin: string
  /** At most 60 characters, so that it fits under a picture. */
  readonly epithet: string
  readonly habitat: string
  readonly habit: string
  readonly description: string
  readonly altarLine: string
  /** Twelve answers, 20 to 90 characters each. None promises anything, because the prayer is sealed. */
  readonly lines: ReadonlyArray<string>
}

export interface SpiritEntry extends SpiritText {
  readonly id: SpiritId
}

/** The spirits by habitat. */
export const { hedges, hills, waters } = guide

const texts: Readonly<Record<SpiritId, SpiritText>> = { ...hedges, ...waters, ...hills }

export const spirits: ReadonlyArray<SpiritEntry> = spiritIds.map((id) => ({ id, ...texts[id] }))
