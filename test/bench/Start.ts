/** How long a start takes until the first answer, on tables that are there already. */
import type { Contest } from "./Contests.ts"
import * as Databases from "../lab/Databases.ts"
import { ask } from "./Load.ts"
import * as Store from "./peer/Store.ts"
import { serving, soldBy } from "../lab/server/Programs.ts"
import type { Held, Outcome } from "./Running.ts"
import { type Side, takeTurns } from "./Rounds.ts"

export const run = async (chosen: ReadonlyArray<Contest>, held: Held): Promise<Outcome> => {
  const outcome: Outcome = { figures: [] }
  const databases = await Databases.open()
  const sql = Store.connect(databases.peer)
  const { close, serve } = serving()
  try {
    await Store.createTables(sql)
    const doubles = await serve("lab/proxy/Doubles.ts", {})
    const one = async (side: Side) => {
      const started = performance.now()
      const served =
        side === "peer"
          ? await serve("bench/peer/Server.ts", { ...soldBy(doubles), DATABASE_URL: databases.peer })
          : await serve("../src/start.js", { ...soldBy(doubles), DATABASE_URL: databases.ours })
      const { status } = await ask(served.url, { method: "GET", path: "/api/witness?limit=20" })
      const value = performance.now() - started
      if (status !== 200) throw new Error(`the first answer is ${status}`)
      await served.stop()
      return { value }
    }
    for (const { most, name, what } of chosen) {
      held.say(`  ${name}`)
      const rounds = await takeTurns(held.rounds, one)
      outcome.figures.push({ name, what, unit: "ms", rounds, most })
    }
    return { ...outcome, about: databases.about }
  } finally {
    await close()
    await sql.end()
    await databases.close()
  }
}
