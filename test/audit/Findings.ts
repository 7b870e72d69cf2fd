/** The checks of each promise, and the failures. */
import type { AuditReport, Violation } from "./Audit.ts"

/** The facts of a failure by their names; its check says what should be. */
type Facts = Readonly<Record<string, unknown>>

export interface Findings {
  /** One more thing is looked at, or several. */
  examine(check: string, count?: number): void
  violate(check: string, facts: Facts): void
  /** Looks at one thing. */
  hold(check: string, holds: boolean, facts: Facts): void
  readonly report: () => AuditReport
}

const textOf = (value: unknown) =>
  typeof value === "string" ? value : JSON.stringify(value, (_, one) => (typeof one === "bigint" ? String(one) : one))

const sentenceOf = (facts: Facts) =>
  Object.entries(facts)
    .map(([name, value]) => `${name} ${(textOf(value) ?? "missing").slice(0, 600)}`)
    .join(", ")

export const findings = (): Findings => {
  const examined = new Map<string, number>()
  const violations: Array<Violation> = []
  const examine = (check: string, count = 1) => {
    examined.set(check, (examined.get(check) ?? 0) + count)
  }
  const violate = (check: string, facts: Facts) => {
    violations.push({ check, what: sentenceOf(facts) })
  }
  return {
    examine,
    violate,
    hold: (check, holds, facts) => {
      examine(check)
      if (!holds) violate(check, facts)
    },
    report: () => ({ checks: [...examined].map(([name, count]) => ({ name, examined: count })), violations }),
  }
}
