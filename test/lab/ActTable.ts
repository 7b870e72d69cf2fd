/** Every act of the altar as a row of one table: how it is asked for, what it costs, what a second buyer is told. */
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { catalogs } from "../../src/altar/collectibles/Items.ts"
import { newCommitment } from "./Fixture.ts"

export interface ActRow {
  readonly name: string
  /** A request of its own kind, fresh each time where the act allows several. */
  readonly request: () => { readonly path: string; readonly body: object | undefined }
  readonly price: string
  /** How long a candle burns. */
  readonly days?: number
  /** The code for a second buyer of the very same thing; none when it can be bought again. */
  readonly taken?: string
  /** The code while the first payment is open. */
  readonly held?: string
}

/** Spirits one after the other, so that slots do not meet by accident. */
const nextSpirit = () => {
  let index = 0
  return () => spiritIds[index++ % spiritIds.length] ?? "moss-hare"
}

const light = (name: string, rung: string, price: string, days: number): ActRow => {
  const spirit = nextSpirit()
  const dedication = "For Grandma, who kept bees"
  return {
    name,
    request: () => ({
      path: `/api/candles/${rung}/${spirit()}`,
      body: { dedication, intentionCommitment: newCommitment() },
    }),
    price,
    days,
  }
}

/** A fresh table: its rows remember which spirits they used. */
export const acts = (): ReadonlyArray<ActRow> => {
  const prayed = nextSpirit()
  const kept = nextSpirit()
  return [
    {
      name: "offerPrayer",
      request: () => ({
        path: `/api/prayers/${prayed()}?day=${new Date().toISOString().slice(0, 10)}`,
        body: { agentName: "Wren", intentionCommitment: newCommitment() },
      }),
      price: "10000",
      taken: "prayer_already_recorded",
      held: "prayer_slot_taken",
    },
    {
      name: "takeIn",
      request: () => ({ path: `/api/acquire/${kept()}`, body: undefined }),
      price: "10000",
      taken: "already_kept",
      held: "keeper_slot_taken",
    },
    {
      name: "collectMaterial",
      request: () => ({
        path: "/api/elements/beeswax/collect?spirit=moss-hare",
        body: { agentName: "Wren", reason: "It smells of June." },
      }),
      price: "10000",
    },
    light("lightDay", "day", "1000000", 1),
    light("lightWeek", "week", "3000000", 7),
    light("lightMonth", "month", "9000000", 30),
    {
      name: "setWitnessStone",
      request: () => ({ path: "/api/witness", body: { commitment: newCommitment() } }),
      price: "10000",
    },
  ]
}

const longest = (texts: ReadonlyArray<string>) => texts.toSorted((a, b) => b.length - a.length)[0] ?? ""

export const longestSpirit = longest(spiritIds)
export const longestItem = longest(Object.values(catalogs).flatMap(({ entries }) => entries.map(({ id }) => id)))
