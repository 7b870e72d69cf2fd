/** `npm run campaign -- soak`: stones sold by a server that is killed twice, round after round, each stone proved. */
import { complaintsOf, runTests } from "../lab/run/Tests.ts"
import type { Outcome, Run } from "./Run.ts"

/** Its test sells few. */
export const soaked = "test/log/killed.test.ts"

export const soak = async ({ isOver, log, minutes, size }: Run): Promise<Outcome> => {
  const violations: Array<string> = []
  const isLast = () => minutes === Infinity || isOver() || violations.length > 0
  let rounds = 0
  do {
    rounds += 1
    const verdict = await runTests([soaked], { env: { LOG_STONES: String(size) }, isHeard: true })
    violations.push(...complaintsOf(verdict).map((what) => `round ${rounds}: ${what}`))
    log(`round ${rounds} is over`)
  } while (!isLast())
  return { counts: { rounds, stones: rounds * size, kills: 2 * rounds }, violations }
}
