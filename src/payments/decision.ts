/** Decides about an attempt by the table of the payment protocol: plain values in and out, without Effect or clock. */
import { alreadyUsed } from "./x402/chain/Eip3009.ts"
import type { Submission } from "./x402/settle/Settlement.ts"

/** The result of an inquiry about a payment, of either rail. */
export type FindingKind =
  /** Its transfer or charge is shown. */
  | "paid"
  /** The processor says for good that it was not charged. */
  | "ruled"
  /** Final blocks exclude it: it expired unused, was cancelled, or was used for something else. */
  | "void"
  /** Our own transaction ended without paying, and the authorization is unused. */
  | "spent"
  /** It is unused, and may still be used. */
  | "unused"
  /** Answers came and prove nothing, such as contradictions. */
  | "nothing"
  /** No answer came. */
  | "silence"

/** The submission state of an attempt, and its column in the table. A sweep is `waiting`, because it has no report. */
export const column = { waiting: 0, submitted: 1, unsent: 2, settled: 3 } as const

/** `agree` fails the attempt when an earlier inquiry had the same reason. */
export type UnpaidRule = "fail" | "agree" | "fail unsent" | "submit" | "wait" | "keep"

/** Only a proof of payment settles an attempt, and nothing else follows from one. */
export type RuleOf<F extends FindingKind> = F extends "paid" ? "settle" : UnpaidRule

type Row<Rule> = readonly [Rule, Rule, Rule, Rule]

// A missing row, cell or column does not compile.
// prettier-ignore
export const table: { readonly [F in FindingKind]: Row<RuleOf<F>> } = {
  //         waiting   submitted unsent         settled
  paid:    ["settle", "settle", "settle",      "settle"],
  ruled:   ["fail",   "fail",   "fail",        "wait"],
  void:    ["agree",  "agree",  "fail unsent", "agree"],
  spent:   ["agree",  "agree",  "fail unsent", "submit"],
  unused:  ["submit", "wait",   "fail unsent", "submit"],
  nothing: ["wait",   "wait",   "wait",        "wait"],
  silence: ["keep",   "keep",   "keep",        "keep"],
}

/** The failure of an attempt whose transaction is final and did not pay. Only a third party may still submit it. */
export const couldNotPay = "wallet_could_not_pay"

/** Evidence, with its proof or its reason to rule a payment out. */
export type Finding<Proof> =
  | { readonly is: "paid"; readonly proof: Proof }
  | { readonly is: "ruled" | "void"; readonly reason: string }
  | { readonly is: Exclude<FindingKind, "paid" | "ruled" | "void"> }

/** The submission state of an attempt, apart from the evidence. The reason is that of a refusal. */
export type SubmissionState =
  | { readonly is: "unsent"; readonly reason: string }
  | { readonly is: Exclude<keyof typeof column, "unsent"> }

/** An earlier inquiry's reason to fail an attempt, and its age in milliseconds. */
export interface Doubt {
  readonly reason: string
  readonly ageMillis: number
}

/** `wait` drops the doubt of an attempt and `keep` keeps it. */
export type Decision<Proof, D extends Doubt> =
  | { readonly is: "settle"; readonly proof: Proof }
  | { readonly is: "fail" | "fail unsent" | "doubt"; readonly reason: string }
  | { readonly is: "agreed"; readonly doubt: D }
  | { readonly is: "submit" | "wait" | "keep" }

/**
 * The submission state of a pending attempt. Only the first request proves it unsent, unless a node calls the
 * authorization used: then a third party has submitted it.
 */
export const submissionStateOf = (submission: Submission | undefined, isFirst: boolean): SubmissionState => {
  if (submission === undefined) return { is: "waiting" }
  return isFirst && submission._tag === "Refused" && submission.reason !== alreadyUsed
    ? { is: "unsent", reason: submission.reason }
    : { is: "submitted" }
}

/** The decision. Two inquiries agree when their reasons are equal and `apartMillis` lie between them. */
export const decide = <Proof, D extends Doubt>(
  finding: Finding<Proof>,
  state: SubmissionState,
  doubt: D | null,
  apartMillis: number,
): Decision<Proof, D> => {
  if (finding.is === "paid") return { is: table.paid[column[state.is]], proof: finding.proof }
  const rule = table[finding.is][column[state.is]]
  // Evidence that rules the payment out comes first. Without a refusal, only a spent transaction fails an attempt.
  const ruledOut = "reason" in finding ? finding.reason : undefined
  const reason = ruledOut ?? ("reason" in state ? state.reason : couldNotPay)
  if (rule === "fail" || rule === "fail unsent") return { is: rule, reason }
  if (rule !== "agree") return { is: rule }
  return doubt !== null && doubt.reason === reason && doubt.ageMillis >= apartMillis
    ? { is: "agreed", doubt }
    : { is: "doubt", reason }
}

/** Sweeps that must lie between two inquiries about a payment whose reported transaction no final block explains. */
const reportedSweeps = 10

/**
 * Milliseconds between two inquiries that agree. A reported transaction speaks against a node that calls the
 * authorization unused, so that node has to say so for longer.
 */
export const apartOf = <Proof>(finding: Finding<Proof>, isReported: boolean, sweepMillis: number) =>
  finding.is === "void" && finding.reason === "authorization_expired" && isReported
    ? reportedSweeps * sweepMillis
    : sweepMillis

/** Seconds until the next inquiry about a pending attempt, by how many it has seen: 2, 4, 8 … 60. */
export const retryAfterSeconds = (checks: number) => Math.min(60, 2 ** Math.min(checks + 1, 6))
