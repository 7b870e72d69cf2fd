/** What every campaign is given, and what it answers. */

export interface Run {
  /** Of all chance: the same seed plans the same run. */
  readonly seed: number
  /** How much is done; each campaign names its unit. */
  readonly size: number
  readonly minutes: number
  /** Whether these minutes have passed: then nothing new begins. */
  readonly isOver: () => boolean
  /** Builds the checkout, and answers a new folder for logs and databases, which is kept when something was wrong. */
  readonly home: () => Promise<string>
  readonly log: (line: string) => void
}

/** Numbers by row and column. */
export type Table = ReadonlyMap<string, Readonly<Record<string, number>>>

export interface Outcome {
  /** The sums that a report keeps. */
  readonly counts: Readonly<Record<string, number>>
  /** Details by title: printed, not kept. */
  readonly tables?: Readonly<Record<string, Table>>
  readonly violations: ReadonlyArray<string>
}

export const add = (sums: Map<string, number>, name: string, count = 1) => sums.set(name, (sums.get(name) ?? 0) + count)

/** Sums as a table of one column. */
export const tableOf = (sums: ReadonlyMap<string, number>): Table =>
  new Map([...sums].map(([name, times]) => [name, { times }]))

export const tableText = (table: Table): string => {
  const rows = [...table].sort(([one], [other]) => one.localeCompare(other))
  const columns = [...new Set(rows.flatMap(([, row]) => Object.keys(row)))]
  const width = Math.max(0, ...rows.map(([name]) => name.length))
  const line = (name: string, cells: ReadonlyArray<string>) =>
    `  ${name.padEnd(width)} ${cells.map((cell, at) => cell.padStart(Math.max(5, columns[at]?.length ?? 0))).join(" ")}`
  return [
    line("", columns),
    ...rows.map(([name, row]) =>
      line(
        name,
        columns.map((column) => String(row[column] ?? "")),
      ),
    ),
  ].join("\n")
}
