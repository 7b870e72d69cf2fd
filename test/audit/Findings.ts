/** The checks of each promise, and the failures. */

/** The facts of a failure by their names; its check says what should be. */
type Facts = Readonly<Record<string, unknown>>

export type Findings = ReturnType<typeof findings>

export type AuditReport = ReturnType<Findings["report"]>

const textOf = (value: unknown) =>
  typeof value === "string" ? value : JSON.stringify(value, (_, one) => (typeof one === "bigint" ? String(one) : one))

const sentenceOf = (facts: Facts) =>
  Object.entries(facts)
    .map(([name, value]) => `${name} ${(textOf(value) ?? "missing").slice(0, 600)}`)
    .join(", ")

export const findings = () => {
  /** How many things were held against each promise. */
  const examined = new Map<string, number>()
  /** The facts that do not fit, each with its name. */
  const violations: Array<{ readonly check: string; readonly what: string }> = []
  const examine = (check: string, count = 1) => void examined.set(check, (examined.get(check) ?? 0) + count)
  const violate = (check: string, facts: Facts) => void violations.push({ check, what: sentenceOf(facts) })
  return {
    examine,
    violate,
    hold: (check: string, holds: boolean, facts: Facts) => {
      examine(check)
      if (!holds) violate(check, facts)
    },
    report: () => ({ examined, violations }),
  }
}
