/** Summaries of all spirits and altars for tools: enough to choose one, which another tool describes in full. */
import { Schema } from "effect"
import { Altar, AltarList, Spirit, SpiritList } from "../altar/Guide.ts"

const { altarLine, description, habit, habitat, image, kin, ...spirit } = Spirit.fields

export const Spirits = Schema.Struct({
  ...SpiritList.fields,
  spirits: Schema.Array(
    Schema.Struct({
      ...spirit,
      kin: Schema.optionalKey(kin),
      habitat: Schema.optionalKey(habitat),
      habit: Schema.optionalKey(habit),
      description: Schema.optionalKey(description),
      altarLine: Schema.optionalKey(altarLine),
      image: Schema.optionalKey(image),
    }),
  ),
})

const { altarLine: line, candles, ...altar } = Altar.fields

export const Altars = Schema.Struct({
  ...AltarList.fields,
  altars: Schema.Array(
    Schema.Struct({ ...altar, altarLine: Schema.optionalKey(line), candles: Schema.optionalKey(candles) }),
  ),
})

export const briefSpirit = ({ epithet, id, keeper, name }: typeof Spirit.Type) => ({ id, name, epithet, keeper })

export const briefAltar = ({ dedicated, keeper, litCandles, name, spirit, today }: typeof Altar.Type) => ({
  spirit,
  name,
  keeper,
  today,
  litCandles,
  dedicated,
})
