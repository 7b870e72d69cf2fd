/** Conditions of a statement on settled acts by kind, spirit and wallet. */
import type { Statement } from "effect/sql"
import * as Ledger from "../payments/store/LedgerSql.ts"
import { part } from "../platform/SqlPart.ts"

/** Acts of these names, with this spirit, paid by this wallet; an absent part admits all. */
export interface ActFilter {
  readonly acts?: ReadonlyArray<string> | undefined
  readonly spirit?: string | undefined
  readonly wallet?: string | undefined
}

export const filterName = ({ acts, spirit, wallet }: ActFilter) => `${acts} ${spirit} ${wallet}`

/** Conditions on `a` and `p` of `settledActs`. */
export const conditions = ({ acts, spirit, wallet }: ActFilter): ReadonlyArray<Statement.Fragment> => [
  ...(acts === undefined ? [] : [part`a.act = ANY(${acts}::text[])`]),
  ...(spirit === undefined ? [] : [part`(a.record::jsonb ->> 'spirit') = ${spirit}::text`]),
  ...(wallet === undefined ? [] : [Ledger.paidBy(wallet)]),
]
