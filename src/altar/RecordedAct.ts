/** The recorded form of an act whose page is `/acts/{id}`. */
import type { Schema } from "effect"
import type { Recorded } from "../payments/Act.ts"

type Named = Schema.JsonObject & { readonly id: string; readonly agentName: string | null }

export const recordedAct = (record: Named, at: string): Recorded => ({
  record,
  path: `/acts/${record.id}`,
  agentName: record.agentName,
  at,
})
