/** The acts as the auditor knows them. */

interface SoldAct {
  /** Atomic USDC. */
  readonly price: string
  /** The table of its records, and the SQL of what makes a row the only one of its kind. */
  readonly table: string
  readonly place: string
}

const candle = { table: "candles", place: "id::text" }

export const soldActs: Readonly<Record<string, SoldAct>> = {
  offerPrayer: { price: "10000", table: "prayers", place: "spirit || ' on ' || day" },
  takeIn: { price: "10000", table: "keepers", place: "spirit" },
  collectMaterial: { price: "10000", table: "collectibles", place: "element_id || ' ' || edition" },
  lightDay: { price: "1000000", ...candle },
  lightWeek: { price: "3000000", ...candle },
  lightMonth: { price: "9000000", ...candle },
  setWitnessStone: { price: "10000", table: "witness_stones", place: "sequence::text" },
}
