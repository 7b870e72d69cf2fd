/** The payment protocol: every cell of the table in docs/payment-protocol.md, and when two inquiries agree. */
import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import type { Submission } from "../../src/payments/x402/settle/Settlement.ts"
import {
  apartOf,
  column,
  couldNotPay,
  decide,
  type Doubt,
  type FindingKind,
  type Finding,
  type SubmissionState,
  submissionStateOf,
  table,
} from "../../src/payments/decision.ts"
import { textOf } from "../lab/Sources.ts"
import { alreadyUsed } from "../../src/payments/x402/chain/Eip3009.ts"
import { type Conclusion, findingOf } from "../../src/payments/x402/chain/Evidence.ts"

const proof = { transaction: "0x1" }
const apart = 5_000

const found: Readonly<Record<FindingKind, Finding<typeof proof>>> = {
  paid: { is: "paid", proof },
  ruled: { is: "ruled", reason: "declined" },
  void: { is: "void", reason: "expired" },
  spent: { is: "spent" },
  unused: { is: "unused" },
  nothing: { is: "nothing" },
  silence: { is: "silence" },
}

const standings: Readonly<Record<keyof typeof column, SubmissionState>> = {
  waiting: { is: "waiting" },
  submitted: { is: "submitted" },
  unsent: { is: "unsent", reason: "gas" },
  settled: { is: "settled" },
}

const reasonOf = (one: object) => ("reason" in one ? String(one.reason) : undefined)

/** The decision that a word of the page means for these two. */
const meantBy = (
  rule: string,
  finding: FindingKind,
  standing: keyof typeof column,
): { readonly is: string; readonly reason?: string; readonly proof?: object } => {
  if (rule === "settle") return { is: rule, proof }
  if (["submit", "wait", "keep"].includes(rule)) return { is: rule }
  const reason = reasonOf(found[finding]) ?? reasonOf(standings[standing]) ?? couldNotPay
  return { is: rule === "agree" ? "doubt" : rule, reason }
}

const page = textOf("docs/payment-protocol.md")

const rowsOf = (first: RegExp) =>
  page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([name = ""]) => first.test(name))

const names = Object.keys(column) as ReadonlyArray<keyof typeof column>
const findings = Object.keys(table) as ReadonlyArray<FindingKind>

describe("the payment protocol's table", () => {
  const cells = findings.flatMap((finding) => {
    const [, ...rules] = rowsOf(new RegExp(`^\`${finding}\`$`, "u")).find((row) => row.length > 2) ?? []
    return names.map((standing, index) => ({
      finding,
      standing,
      decision: meantBy(rules[index] ?? "nothing", finding, standing),
    }))
  })
  it.each(cells)("decides $finding × $standing as $decision.is, and lets two inquiries agree only in doubt", (cell) => {
    const { decision: once, finding, standing } = cell
    const after = (before: Doubt | null) => decide(found[finding], standings[standing], before, apart)
    assert.deepStrictEqual<object>(after(null), once)
    for (const reason of ["expired", couldNotPay])
      assert.strictEqual(after({ reason, ageMillis: apart }).is === "settle", finding === "paid")
    const isDoubt = once.is === "doubt"
    const doubt = { reason: once.reason ?? "expired", ageMillis: apart }
    const agreed = { is: "agreed", doubt }
    assert.deepStrictEqual<object>(after(doubt), isDoubt ? agreed : once)
    assert.deepStrictEqual<object>(after({ ...doubt, ageMillis: apart - 1 }), once)
    assert.deepStrictEqual<object>(after({ ...doubt, reason: "another" }), once)
  })
})

describe("the submission state of a pending attempt", () => {
  const unclear: Submission = { _tag: "Unclear", reason: "?", transaction: Option.none() }
  type Row = readonly [what: string, Submission | undefined, first: SubmissionState["is"], later: SubmissionState["is"]]
  const rows: ReadonlyArray<Row> = [
    ["it was never submitted", undefined, "waiting", "waiting"],
    ["a transaction is named", { _tag: "Submitted", transaction: "0x1" }, "submitted", "submitted"],
    ["its answer is unclear", unclear, "submitted", "submitted"],
    ["our relayer refuses it", { _tag: "Refused", reason: "gas" }, "unsent", "submitted"],
    ["our relayer reports it as used", { _tag: "Refused", reason: alreadyUsed }, "submitted", "submitted"],
  ]
  it.each(rows)("is decided when %s", (_, submission, first, later) => {
    for (const [is, isFirst] of [
      [first, true],
      [later, false],
    ] as const)
      assert.deepEqual<unknown>(
        submissionStateOf(submission, isFirst),
        is === "unsent" ? { is, reason: reasonOf(submission ?? {}) } : { is },
      )
  })
})

describe("the chain's evidence", () => {
  const paid = { _tag: "Paid", transaction: "0x1", block: { number: 1n, hash: "0x2" } } as const
  const rows: ReadonlyArray<readonly [Conclusion, Finding<unknown>]> = [
    [paid, { is: "paid", proof: paid }],
    [
      { _tag: "Void", reason: "authorization_expired" },
      { is: "void", reason: "authorization_expired" },
    ],
    [{ _tag: "Open", unused: true }, { is: "unused" }],
    [{ _tag: "Open", unused: false }, { is: "nothing" }],
  ]
  it.each(rows)("%o is the finding %o", (evidence, finding) => {
    assert.deepStrictEqual(findingOf(evidence), finding)
  })
})

describe("the time between two inquiries that agree", () => {
  it.each([
    ["an expired authorization", "authorization_expired", false, 5_000],
    ["an expired authorization of a reported transaction", "authorization_expired", true, 50_000],
    ["a cancelled authorization of a reported transaction", "authorization_canceled", true, 5_000],
  ] as const)("is right for %s", (_, reason, isReported, millis) => {
    assert.strictEqual(apartOf({ is: "void", reason }, isReported, 5_000), millis)
  })
})
