/** Progress of a long check on stderr: a bar at a terminal, a line for each tenth elsewhere. */
import { Effect } from "effect"

const width = 30

const write = (text: string) => Effect.sync(() => void process.stderr.write(text))

/** Reports how many of `total` are done; `what` names them. */
export const make = (what: string) => {
  let told = -1
  return (done: number, total: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      const part = total === 0 ? 1 : done / total
      const isTerminal = process.stderr.isTTY
      const step = Math.floor(part * (isTerminal ? 1000 : 10))
      if (step === told) return Effect.void
      told = step
      const percent = `${Math.floor(part * 100)} %`.padStart(5)
      if (!isTerminal) return write(`  ${percent}  ${done} of ${total} ${what}\n`)
      const bar = "█".repeat(Math.floor(part * width)).padEnd(width, "░")
      return write(`\r  ${bar} ${percent}  ${done} of ${total} ${what}${part >= 1 ? "\n" : ""}`)
    })
}
