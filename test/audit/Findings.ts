/** The checks of each promise, and the failures. */
import type { AuditReport, Violation } from "./Audit.ts"

export interface Findings {
  /** One more thing is looked at, or several. */
  examine(check: string, count?: number): void
  /** Something does not stand, in one sentence. */
  violate(check: string, what: string): void
  /** Looks at one thing: the message of a failure. */
  hold(check: string, holds: boolean, what: () => string): void
  readonly report: () => AuditReport
}

export const findings = (): Findings => {
  const examined = new Map<string, number>()
  const violations: Array<Violation> = []
  const examine = (check: string, count = 1) => {
    examined.set(check, (examined.get(check) ?? 0) + count)
  }
  const violate = (check: string, what: string) => {
    violations.push({ check, what })
  }
  return {
    examine,
    violate,
    hold: (check, holds, what) => {
      examine(check)
      if (!holds) violate(check, what())
    },
    report: () => ({ checks: [...examined].map(([name, count]) => ({ name, examined: count })), violations }),
  }
}
