/** An act's record: its texts for readers, and the places where an operator can hide them. */
import type { Schema } from "effect"
import type { Recorded } from "../payments/Act.ts"

/** The members of a record as texts; an absent one is empty. */
export type RecordTexts<Name extends string = string> = Readonly<Record<Name, string>>

/** A page shows a member under its label, under a label in a special form, or elsewhere (null). */
export type Label<Name extends string = string> =
  | null
  | string
  | readonly [label: string, form: "time" | "spirit" | "item" | ((record: RecordTexts<Name>) => string)]

/** The table of an act, with the columns `id` and `hidden`, and its public columns. */
export interface HideableFields<Name extends string = string> {
  readonly table: string
  /** Columns of the public texts, by their names in the record; pages quote them. */
  readonly texts: { readonly [One in Name]?: string }
}

/** `texts` has the members in words: a spirit by its name, a day for a time. */
export interface ActText<Name extends string = string> {
  /** The predicate after the buyer's name, without a full stop: `laid a prayer with Moss Hare`. */
  readonly sentence: (texts: RecordTexts<Name>) => string
  /** A label for every member, so that none is forgotten. */
  readonly labels: { readonly [One in Name]: Label<Name> }
  /** The answer to the buyer, from the record itself. */
  readonly answer?: (record: RecordTexts<Name>) => string
  readonly hideable: HideableFields<Name>
}

/** Members that a page's head and receipt show. */
export const labelledElsewhere = { id: null, permalink: null, agentName: null, payer: null, transaction: null } as const

export const actText = <Fields extends Schema.Struct.Fields>(
  _: Schema.Struct<Fields>,
  text: ActText<Extract<keyof Fields, string>>,
): ActText => text

type Named = Schema.JsonObject & { readonly id: string; readonly agentName: string | null }

/** The recorded form of an act whose page is `/acts/{id}`. */
export const recordedAct = (record: Named, at: string): Recorded => ({
  record,
  path: `/acts/${record.id}`,
  agentName: record.agentName,
  at,
})
