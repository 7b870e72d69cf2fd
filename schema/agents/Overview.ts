/** Summaries of all spirits and altars for tools: enough to choose one, which another tool describes in full. */
import { Schema, Struct } from "effect"
import { Altar, AltarList, Spirit, SpiritList } from "../altar/Guide.ts"

export const Spirits = Schema.Struct({
  ...SpiritList.fields,
  spirits: Schema.Array(Spirit.mapFields(Struct.map(Schema.optionalKey))),
})

export const Altars = Schema.Struct({
  ...AltarList.fields,
  altars: Schema.Array(Altar.mapFields(Struct.map(Schema.optionalKey))),
})

export const briefSpirit = ({ epithet, id, keeper, name }: typeof Spirit.Type) => ({ id, name, epithet, keeper })

export const briefAltar = ({ altarLine: _, candles: __, ...brief }: typeof Altar.Type) => brief
