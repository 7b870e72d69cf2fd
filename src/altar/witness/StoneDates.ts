/** The date of a stone by the block of its payment `p`, as stored. */
import { Schema } from "effect"
import { dateOf } from "../../../schema/altar/StoneDate.ts"
import { Finality } from "../../../schema/payments/Payment.ts"
import { Whole } from "../../platform/Rows.ts"
import { literal } from "../../platform/Sql.ts"

const Row = Schema.Struct({
  finality: Finality,
  network: Schema.NullOr(Schema.String),
  isNamed: Schema.Boolean,
  block: Schema.NullOr(Whole),
  blockTime: Schema.NullOr(Whole),
})

export const dateColumns = Row.fields

/** SQL for these columns except `finality`. */
export const dateSql = literal(`p.payment ->> 'network' AS network, p.payment -> 'binding' IS NOT NULL AS is_named,
  p.settled_block AS block, p.block_time`)

export const stoneDateOf = ({ block, blockTime: time, finality, isNamed, network }: typeof Row.Type) =>
  dateOf({
    isNamed,
    isLost: finality === "lost",
    block:
      finality === "final" && network !== null && block !== null && time !== null
        ? { network, block, time }
        : undefined,
  })
