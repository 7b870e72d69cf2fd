/** All bundles of a log in turns beside ready bytes, the same bundle each time: of one server, which may keep all of them. */
import { Effect } from "effect"
import { bundlePath, fullWidth } from "../../schema/log/Tile.ts"
import * as Databases from "../lab/Databases.ts"
import { serving } from "../lab/server/Programs.ts"
import type { Contest } from "./Contests.ts"
import { fire, type Shot } from "./Load.ts"
import { type Held, type Outcome, rates } from "./Running.ts"
import { cover, lay, logOn, servicesOf } from "./Stones.ts"

/** More than a server keeps when nothing is set. */
const manyBundles = 400

export const run = async (chosen: ReadonlyArray<Contest>, held: Held): Promise<Outcome> => {
  const outcome: Outcome = { figures: [] }
  const databases = await Databases.open()
  const { close, serve } = serving()
  try {
    const stones = manyBundles * fullWidth
    held.say(`Laying, integrating and publishing ${stones} stones`)
    await Effect.runPromise(Effect.provide(Effect.andThen(lay(stones), cover), servicesOf(databases.ours)))
    const server = await serve("../src/start.js", { DATABASE_URL: databases.ours, ...logOn })
    const inTurns = (count: number) => {
      let next = 0
      return (): Shot => {
        next = (next + 1) % count
        return { method: "GET", path: `/log/${bundlePath({ index: next, width: fullWidth })}` }
      }
    }
    const all = inTurns(manyBundles)
    await fire(server.url, { count: manyBundles }, 200, all)
    for (const contest of chosen) {
      held.say(`  ${contest.name}`)
      const shots = { ours: all, peer: inTurns(1) }
      const sides = { ours: server, peer: server }
      outcome.figures.push(await rates(contest, held, sides, held.span, 200, (side) => shots[side]))
    }
    return { ...outcome, about: databases.about }
  } finally {
    await close()
    await databases.close()
  }
}
