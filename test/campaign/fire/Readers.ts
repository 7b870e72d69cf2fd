/** Readers during the campaign, which remember: chains, the log's checkpoints and acts as they were shown. */
import { setTimeout } from "node:timers/promises"
import type { Answers } from "../../lab/buyer/Answers.ts"
import type { Random } from "../../lab/Random.ts"

const paths = [
  "/log/checkpoint",
  "/api/witness/log",
  "/api/witness/chain?limit=100",
  "/api/publish-chain?limit=100",
  "/api/witness?limit=20",
  "/api/acts?limit=20",
  "/api/candles?limit=20",
  "/api/field",
]

/** Milliseconds between two questions. */
const pause = { least: 200, most: 900 }

/** Asks until it is told to stop; answers what waits for its end. */
export const reading = (url: string, answers: Answers, random: Random) => {
  const over = new AbortController()
  const done = (async () => {
    while (!over.signal.aborted) {
      await answers.ask({ method: "GET", url: url + random.pick(paths), headers: {} }, 15_000)
      await setTimeout(random.between(pause.least, pause.most))
    }
  })()
  return () => {
    over.abort()
    return done
  }
}
