/** A candle as stored and as shown. */
import { Schema, Struct } from "effect"
import {
  Candle,
  candleActs,
  Light,
  type LitCandle,
  type RungName as Name,
  rungTerms,
  unsealCandle,
  type Unsealed,
} from "../../../schema/altar/Candle.ts"
import { filled } from "../../payments/Act.ts"
import { revealColumns, revealOf } from "../Reveals.ts"
import { actText, labelledElsewhere } from "../ActText.ts"
import { priceUsd } from "../../../schema/payments/Payment.ts"

/** The text of a candle or a light of any duration. */
export const lighting = actText(Candle, {
  sentence: ({ days, kind, spirit }) =>
    kind === "light" ? `added a ${days}-day light for ${spirit}` : `lit a ${days}-day candle for ${spirit}`,
  labels: {
    ...labelledElsewhere,
    kind: "Kind",
    parentId: "Light on candle",
    spirit: ["Spirit", "spirit"],
    rung: ["Burns for", ({ rung }) => Object.values(rungs).find((terms) => terms.rung === rung)?.lasts ?? rung],
    days: null,
    dedication: null,
    intentionCommitment: "Commitment",
    litAt: ["Lit", "time"],
    litUntil: ["Burns until", "time"],
    unsealUrl: null,
  },
  hideable: {
    table: "candles",
    texts: { dedication: "dedication" },
  },
})

/** The stored members of a candle. */
const Lit = Schema.Struct({
  ...Struct.omit(Candle.fields, ["days", "intentionCommitment", "kind", "permalink", "unsealUrl"]),
  commitment: Candle.fields.intentionCommitment,
})

/** A candle with its unsealed words, if any, as aggregated JSON. */
export const CandleRow = Schema.Struct({ ...Lit.fields, ...revealColumns })
type CandleRow = typeof CandleRow.Type

/** A burning candle with its lights; null where there are none. */
export const LitRow = Schema.Struct({
  ...CandleRow.fields,
  lightCount: Schema.Int,
  lights: Schema.NullOr(Schema.Array(Schema.Struct(Struct.omit(Light.fields, ["permalink"])))),
})
type LitRow = typeof LitRow.Type

const unsealUrl = (publicUrl: string, id: string) => `${publicUrl}${filled(unsealCandle.path, { candleId: id })}`

export const candleOf = (publicUrl: string, row: typeof Lit.Type): Candle => ({
  id: row.id,
  permalink: `${publicUrl}/acts/${row.id}`,
  kind: row.parentId === null ? "candle" : "light",
  parentId: row.parentId,
  spirit: row.spirit,
  rung: row.rung,
  days: rungs[row.rung].days,
  dedication: row.dedication,
  agentName: row.agentName,
  intentionCommitment: row.commitment,
  litAt: row.litAt,
  litUntil: row.litUntil,
  payer: row.payer,
  transaction: row.transaction,
  unsealUrl: row.commitment === null ? null : unsealUrl(publicUrl, row.id),
})

export const unsealedOf = (row: CandleRow): typeof Unsealed.Type | null => {
  const reveal = revealOf(row)
  if (reveal === null) return null
  const { agentName: _, revealedAt: unsealedAt, text: words, ...shown } = reveal
  return { words, ...shown, unsealedAt }
}

export const litCandleOf = (publicUrl: string, row: LitRow): typeof LitCandle.Type => ({
  ...candleOf(publicUrl, row),
  unsealed: unsealedOf(row),
  lightCount: row.lightCount,
  lights: (row.lights ?? []).map((light) => ({ ...light, permalink: `${publicUrl}/acts/${light.id}` })),
})

export type RungName = typeof Name.Type

export const rungs = {
  day: { rung: "day", ...rungTerms.day },
  week: { rung: "week", ...rungTerms.week },
  month: { rung: "month", ...rungTerms.month },
} as const

/** The rungs as `/api/candles` lists them. */
export const rungList = Object.values(rungs).map(({ days, rung }) => ({
  rung,
  days,
  priceUsd: priceUsd(candleActs[rung].sale.priceAtomic),
  amountAtomic: candleActs[rung].sale.priceAtomic.toString(),
  route: candleActs[rung].sale.route,
}))
