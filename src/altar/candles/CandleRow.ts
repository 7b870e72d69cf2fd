/** A candle as it lies in the database, and as it is shown. */
import { Schema } from "effect"
import { type Candle, type LitCandle, RungName, type Unsealed } from "../../../schema/altar/Candle.ts"
import { SpiritId } from "../../../schema/altar/Spirit.ts"
import { rungs } from "./Rungs.ts"

export interface CandleRow {
  readonly id: string
  readonly parentId: string | null
  readonly spirit: string
  readonly rung: string
  readonly dedication: string | null
  readonly agentName: string | null
  readonly commitment: string | null
  readonly payer: string | null
  readonly transaction: string | null
  readonly litAt: Date
  readonly litUntil: Date
  readonly salt: string | null
  readonly words: string | null
  readonly hidden: boolean | null
  readonly unsealedAt: Date | null
}

/** Lights as the lit-candle query gathers them, JSON. */
interface LightRow {
  readonly id: string
  readonly agentName: string | null
  readonly rung: string
  readonly litAt: string
  readonly litUntil: string
}

export interface LitRow extends CandleRow {
  readonly lightCount: bigint
  readonly lights: ReadonlyArray<LightRow> | null
}

/** A candle row that the database gathered as JSON: its times are texts. */
export interface CandleJson extends Omit<LitRow, "litAt" | "litUntil" | "unsealedAt" | "lightCount"> {
  readonly litAt: string
  readonly litUntil: string
  readonly unsealedAt: string | null
  readonly lightCount: number
}

export const fromJson = (json: CandleJson): LitRow => ({
  ...json,
  litAt: new Date(json.litAt),
  litUntil: new Date(json.litUntil),
  unsealedAt: json.unsealedAt === null ? null : new Date(json.unsealedAt),
  lightCount: BigInt(json.lightCount),
})

const spiritOf = Schema.decodeUnknownSync(SpiritId)
const rungOf = Schema.decodeUnknownSync(RungName)

export const candleOf = (publicUrl: string, row: CandleRow): Candle => {
  const rung = rungOf(row.rung)
  return {
    id: row.id,
    permalink: `${publicUrl}/acts/${row.id}`,
    kind: row.parentId === null ? "candle" : "light",
    parentId: row.parentId,
    spirit: spiritOf(row.spirit),
    rung,
    days: rungs[rung].days,
    dedication: row.dedication,
    agentName: row.agentName,
    intentionCommitment: row.commitment,
    litAt: row.litAt.toISOString(),
    litUntil: row.litUntil.toISOString(),
    payer: row.payer,
    transaction: row.transaction,
    unsealUrl: row.commitment === null ? null : `${publicUrl}/api/candles/${row.id}/unseal`,
  }
}

export const unsealedOf = (row: CandleRow): typeof Unsealed.Type | null =>
  row.unsealedAt === null
    ? null
    : {
        words: row.hidden === true ? null : row.words,
        hidden: row.hidden === true,
        unsealedAt: row.unsealedAt.toISOString(),
      }

export const litCandleOf = (publicUrl: string, row: LitRow): typeof LitCandle.Type => ({
  ...candleOf(publicUrl, row),
  unsealed: unsealedOf(row),
  lightCount: Number(row.lightCount),
  lights: (row.lights ?? []).map((light) => ({
    ...light,
    permalink: `${publicUrl}/acts/${light.id}`,
    rung: rungOf(light.rung),
    litAt: new Date(light.litAt).toISOString(),
    litUntil: new Date(light.litUntil).toISOString(),
  })),
})
