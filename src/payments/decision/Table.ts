/** The payment protocol as a table: evidence and the submission state of an attempt give the decision. */

/** Evidence about a payment, of either rail. `docs/payment-protocol.md` defines each word. */
export type Finding = "paid" | "ruled" | "void" | "ended" | "poor" | "reverts" | "unused" | "nothing" | "silence"

/** The submission state of an attempt, and its column in the table. */
export const column = {
  waiting: 0,
  declined: 1,
  refused: 2,
  submitted: 3,
  unsent: 4,
  disputed: 5,
  settled: 6,
  failed: 7,
} as const

/** `agree` fails the attempt when an earlier inquiry had the same reason. */
export type UnpaidRule = "fail" | "agree" | "fail unsent" | "submit" | "wait" | "keep"

/** Only a proof of payment settles an attempt, and nothing else follows from one. */
export type RuleOf<F extends Finding> = F extends "paid" ? "settle" : UnpaidRule

type Row<Rule> = readonly [Rule, Rule, Rule, Rule, Rule, Rule, Rule, Rule]

// A missing row, cell or column does not compile.
// prettier-ignore
export const table: { readonly [F in Finding]: Row<RuleOf<F>> } = {
  //         waiting   declined  refused   submitted unsent         disputed       settled   failed
  paid:    ["settle", "settle", "settle", "settle", "settle",      "settle",      "settle", "settle"],
  ruled:   ["fail",   "fail",   "fail",   "fail",   "fail",        "fail",        "wait",   "fail"],
  void:    ["agree",  "agree",  "agree",  "agree",  "fail unsent", "fail unsent", "agree",  "fail"],
  ended:   ["wait",   "wait",   "wait",   "wait",   "wait",        "wait",        "wait",   "wait"],
  poor:    ["agree",  "agree",  "agree",  "agree",  "fail unsent", "wait",        "submit", "wait"],
  reverts: ["submit", "agree",  "agree",  "wait",   "fail unsent", "wait",        "submit", "wait"],
  unused:  ["submit", "submit", "wait",   "wait",   "fail unsent", "wait",        "submit", "wait"],
  nothing: ["wait",   "wait",   "wait",   "wait",   "wait",        "wait",        "wait",   "wait"],
  silence: ["keep",   "keep",   "keep",   "keep",   "keep",        "keep",        "keep",   "keep"],
}
