/** `npm run campaign -- stories`: as many random stories of each kind as one likes, played by the files that tests play few of. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { complaintsOf, runTests } from "../../lab/run/Tests.ts"
import { add, type Outcome, type Run } from "../Run.ts"

export interface StoriesOptions {
  readonly only?: "relayer" | "facilitator" | undefined
  /** The token of a story that went wrong. */
  readonly replay?: string | undefined
}

export const stories = async (
  { home, minutes, seed, size }: Run,
  { only, replay }: StoriesOptions,
): Promise<Outcome> => {
  const told = join(await home(), "counts.jsonl")
  const verdict = await runTests(["test/campaign/stories"], {
    args: [
      "--maxWorkers=1",
      "--silent=false",
      "--disableConsoleIntercept",
      ...(only === undefined ? [] : ["-t", `says: ${only}`]),
    ],
    env: {
      STORIES_RUNS: String(size),
      STORIES_SEED: String(seed),
      STORIES_MINUTES: String(minutes),
      STORIES_TOLD: told,
      ...(replay === undefined ? {} : { STORIES_REPLAY: replay }),
    },
    isHeard: true,
  })
  const counts = new Map<string, number>()
  for (const line of existsSync(told) ? readFileSync(told, "utf8").trim().split("\n") : [])
    for (const [what, count] of Object.entries<number>(JSON.parse(line))) add(counts, what, count)
  return { counts: Object.fromEntries(counts), violations: complaintsOf(verdict) }
}
