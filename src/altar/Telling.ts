/** What an act says of itself to readers, and where an operator finds what can be hidden of it. */
import type { Schema } from "effect"
import type { Statement } from "effect/sql"

/** The members of a record as texts; empty where it has none. */
export type Texts<Name extends string = string> = Readonly<Record<Name, string>>

/**
 * How the page of an act shows a member of its record: under a label as it is, under one in a form of its own, or null
 * where the page says it in another place.
 */
export type Label<Name extends string = string> =
  | null
  | string
  | readonly [label: string, form: "time" | "spirit" | "item" | ((record: Texts<Name>) => string)]

/** The table of an act, whose `id` is that of the act, with what the public reads of it. */
export interface Hideable<Name extends string = string> {
  readonly table: string
  /** The column of the public name, where it has one. */
  readonly name?: string
  /** Columns of the public texts, by their names in the record; a page quotes them. */
  readonly texts: { readonly [One in Name]?: string }
  /** Where its revealed words are kept: the column of the act's id, and that of a name given with them. */
  readonly words?: { readonly table: string; readonly id: string; readonly name?: string }
}

/** `said` has the members in words: a spirit by its name, a day for a time. */
export interface Telling<Name extends string = string> {
  /** What was done, behind the name of who did it and without a full stop: `laid a prayer with Moss Hare`. */
  readonly sentence: (said: Texts<Name>) => string
  /** Every member, so that none is forgotten. */
  readonly labels: { readonly [One in Name]: Label<Name> }
  /** What stands beside its picture where it is shared; a stone's drawing says its own line. */
  readonly card: (said: Texts<Name>) => { readonly title: string; readonly line?: string }
  readonly hideable: Hideable<Name>
  /** A query in brackets for the ids of the newest that lie on a spirit's altar at a time, RFC 3339. */
  readonly onAltar?: (spirit: string, limit: number, now: string) => Statement.Fragment
}

/** What the head of a page and its receipt say. */
export const elsewhere = { id: null, permalink: null, agentName: null, payer: null, transaction: null } as const

/** The telling of an act that records these members. */
export const telling = <Fields extends Schema.Struct.Fields>(
  _: Schema.Struct<Fields>,
  told: Telling<Extract<keyof Fields, string>>,
): Telling => told
