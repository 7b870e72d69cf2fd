/** The invariants of every state and of final states. */
import { execute, finalPart, senderOf } from "./Chain.ts"
import type { Invariant } from "./Explorer.ts"
import { authorizationClaim } from "./Ledger.ts"
import { type Configuration, isFollowed, type Row, type State, tooPoor } from "./State.ts"

const rowsOf = (state: State): ReadonlyArray<readonly [string, Row]> => Object.entries(state.database.rows)

/** A refusal that counted while the transfer would have reverted promises nothing of what comes later. */
const isExcused = (row: Row) => (row.reason === "facilitator" && row.wasPoor) || row.reason === tooPoor

/** Every attempt is settled for good or lost, or has failed. */
export const isEnded = (configuration: Configuration) => (state: State) =>
  rowsOf(state).every(
    ([key, row]) =>
      !isFollowed(configuration, key) ||
      (row.state === "failed" && !isLateUnnoted(state, row, configuration)) ||
      (row.state === "settled" && row.finality !== "pending"),
  )

/** Whether a payment after its failure is not recorded yet and has bought nothing else. */
const isLateUnnoted = ({ database, truth }: State, { authorization, reason }: Row, { adversary }: Configuration) =>
  reason === tooPoor &&
  finalPart(truth, adversary.expiry).ends[authorization]?.isPaid === true &&
  !database.strays.includes(authorization) &&
  database.claims[authorizationClaim(authorization)] === undefined

export const invariantsOf = ({
  adversary,
  isStrict,
  purchase = "",
  settles,
  splitsBatches,
}: Configuration): ReadonlyArray<Invariant<State>> => {
  /** Authorizations that are paid for good, and by whom. */
  const charges = (state: State) =>
    Object.entries(finalPart(state.truth, adversary.expiry).ends).filter(([, end]) => end.isPaid)
  /** Once the payer submits it, any reader of that may do the same; then only what our relayer sent is ours. */
  const isByUs = (transaction: string) => adversary.payerSends !== true || senderOf(transaction) === "R"
  const settledPaid = (state: State, row: Row) =>
    finalPart(state.truth, adversary.expiry).ends[row.authorization]?.isPaid === true

  return [
    {
      name: "a client charged for good has exactly one attempt, which has not failed",
      holds: (state) =>
        charges(state).every(([authorization, { transaction }]) => {
          const rows = rowsOf(state).filter(([, row]) => row.authorization === authorization)
          const alive = rows.filter(([, row]) => row.state !== "failed").length
          return alive === 1 || (alive === 0 && (!isByUs(transaction) || rows.some(([, row]) => isExcused(row))))
        }),
    },
    {
      name: "a client told that nothing was charged is not charged",
      holds: (state) =>
        charges(state).every(
          ([authorization, { transaction }]) =>
            !state.told.failed.includes(authorization) ||
            !isByUs(transaction) ||
            rowsOf(state).some(([, row]) => row.authorization === authorization && isExcused(row)),
        ),
    },
    {
      name: "a purchase is charged at most once, however often its client signs as it is told",
      holds: (state) =>
        charges(state).filter(
          ([authorization, { transaction }]) =>
            purchase.includes(authorization) &&
            isByUs(transaction) &&
            !rowsOf(state).some(([, row]) => row.authorization === authorization && isExcused(row)),
        ).length <= 1,
    },
    {
      name: "a settled act that is final was paid for good, and a lost one was not",
      holds: (state) =>
        rowsOf(state).every(
          ([, row]) =>
            row.state !== "settled" ||
            row.finality === "pending" ||
            (splitsBatches === true && isStrict !== true && row.finality === "final") ||
            settledPaid(state, row) === (row.finality === "final"),
        ),
    },
    {
      name: "no slot has two settled acts, and no act is recorded twice",
      holds: (state) => {
        const settled = rowsOf(state).filter(([, row]) => row.records > 0)
        const slots = settled.flatMap(([, row]) => (row.slot === "" ? [] : [row.slot]))
        return (
          new Set(slots).size === slots.length &&
          settled.every(([, row]) => row.records === 1 && row.state === "settled")
        )
      },
    },
    {
      name: "one transfer pays for one act",
      holds: (state) => {
        const paying = rowsOf(state).filter(([, row]) => row.state !== "failed")
        return new Set(paying.map(([, row]) => row.authorization)).size === paying.length
      },
    },
    {
      name: "an attempt that failed for lack of money is never charged by our relayer",
      holds: (state) =>
        charges(state).every(
          ([authorization, { transaction }]) =>
            senderOf(transaction) !== "R" ||
            !rowsOf(state).some(([, row]) => row.authorization === authorization && row.reason === tooPoor),
        ),
    },
    {
      name: "a failed attempt holds nothing",
      holds: (state) =>
        Object.values(state.database.claims).every((holder) => state.database.rows[holder]?.state !== "failed"),
    },
    {
      name: "we pay gas for one transaction of an attempt",
      holds: (state) =>
        settles !== "relayer" ||
        rowsOf(state).length !== 1 ||
        execute(state.truth.blocks, adversary.expiry).relayed <= 1,
    },
  ]
}
