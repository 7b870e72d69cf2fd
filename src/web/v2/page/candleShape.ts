/** The measures of a drawn candle, for the server that draws it and the page that lets it burn down. */

export type Rung = "day" | "week" | "month"

/** Longer candles are taller and stouter. */
export const frame = {
  width: 40,
  height: 132,
  ground: 130,
  widths: { day: 14, week: 18, month: 22 },
  heights: { day: 54, week: 76, month: 100 },
} as const

export const isRung = (text: string | undefined): text is Rung => text === "day" || text === "week" || text === "month"

/** `left` is 0 to 1; a stub stays until the end. */
export const heightOf = (rung: Rung, left: number): number =>
  Math.round((8 + (frame.heights[rung] - 8) * left) * 100) / 100
