/** A candle as stored and as shown. */
import { Schema } from "effect"
import { Candle, type LitCandle, RungName, type Unsealed } from "../../../schema/altar/Candle.ts"
import { unsealCandle } from "../../../schema/altar/CandleApi.ts"
import { SpiritId } from "../../../schema/altar/Spirit.ts"
import { filled } from "../../payments/Act.ts"
import { JsonMoment } from "../../platform/Rows.ts"
import { revealColumns, revealOf } from "../Reveals.ts"
import { labelledElsewhere, actText } from "../ActText.ts"
import { rungs } from "./Rungs.ts"

/** The text of a candle or a light of any duration. */
export const lighting = actText(Candle, {
  sentence: ({ days, kind, spirit }) =>
    kind === "light" ? `added a ${days}-day light for ${spirit}` : `lit a ${days}-day candle for ${spirit}`,
  labels: {
    ...labelledElsewhere,
    kind: "Kind",
    parentId: "Light on candle",
    spirit: ["Spirit", "spirit"],
    rung: ["Burns for", ({ rung }) => Object.values(rungs).find((one) => one.rung === rung)?.lasts ?? rung],
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

const Text = Schema.NullOr(Schema.String)

const Lit = Schema.Struct({
  id: Schema.String,
  parentId: Text,
  spirit: SpiritId,
  rung: RungName,
  dedication: Text,
  agentName: Text,
  commitment: Text,
  payer: Text,
  transaction: Text,
  litAt: JsonMoment,
  litUntil: JsonMoment,
})

/** A candle with its unsealed words, if any, as aggregated JSON. */
export const CandleRow = Schema.Struct({ ...Lit.fields, ...revealColumns(JsonMoment) })
type CandleRow = typeof CandleRow.Type

/** A burning candle with its lights; null where there are none. */
export const LitRow = Schema.Struct({
  ...CandleRow.fields,
  lightCount: Schema.Int,
  lights: Schema.NullOr(
    Schema.Array(
      Schema.Struct({ id: Schema.String, agentName: Text, rung: RungName, litAt: JsonMoment, litUntil: JsonMoment }),
    ),
  ),
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
