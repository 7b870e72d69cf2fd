/** Whether memory grows with requests: what the server holds after 1,000,000 of them, beside what it held after 10,000. */
import { setTimeout } from "node:timers/promises"
import type { Contest } from "./Contests.ts"
import * as Databases from "../lab/Databases.ts"
import * as Ledger from "../lab/Ledger.ts"
import { fire, type Shot } from "./Load.ts"
import { unpaid } from "./Payments.ts"
import { takePort } from "../lab/Ports.ts"
import { residentMegabytes } from "../lab/ProcessUse.ts"
import { serving } from "../lab/server/Programs.ts"
import type { Held, Outcome } from "./Running.ts"

const few = 10_000
const many = 1_000_000
/** To see that it runs. */
const quick = 30_000
/** Requests of one kind before the other kind comes again. */
const turn = 10_000

const paths = ["/api/spirits", "/api/witness?limit=20", "/api/witness/chain?limit=100", "/api/acts?limit=20"]

/** Milliseconds without requests before memory is read. */
const pause = 3_000

export const run = async (chosen: ReadonlyArray<Contest>, held: Held): Promise<Outcome> => {
  const outcome: Outcome = { figures: [], latencies: [] }
  const databases = await Databases.open()
  const ledger = Ledger.open(databases.ours)
  const { close, serve } = serving()
  try {
    await ledger.seed(held.stones, 256)
    const doubles = await serve("lab/proxy/Doubles.ts", {})
    const { pid, url } = await serve("../src/start.js", {
      PUBLIC_URL: Ledger.publicUrl,
      PAY_TO: Ledger.payTo,
      FACILITATOR_URL: doubles.url,
      X402_NETWORK: Ledger.network,
      DATABASE_URL: databases.ours,
      RPC_URL: `${doubles.url}/rpc`,
      PORT: String(await takePort()),
      LOG_LEVEL: "None",
    })
    let asked = 0
    const read = (): Shot => ({ method: "GET", path: paths[asked++ % paths.length] ?? "" })
    /** Half of them reads, half keyed requests without payment, each with a key of its own. */
    const requests = async (count: number) => {
      await fire(url, { count: count / 2 }, 200, read)
      await fire(url, { count: count / 2 }, 402, unpaid)
    }
    const resident = async () => (await setTimeout(pause), { value: residentMegabytes(pid) })
    for (const { least, name, what } of chosen) {
      held.say(`  ${name}`)
      await requests(few)
      const peer = await resident()
      held.say(`    ${peer.value.toFixed(0)} MB after ${few}`)
      for (let done = few; done < (held.isQuick ? quick : many); done += turn) await requests(turn)
      outcome.figures.push({ name, what, unit: "MB", least, rounds: [{ ours: await resident(), peer }] })
    }
    return { ...outcome, about: databases.about }
  } finally {
    await close()
    await ledger.close()
    await databases.close()
  }
}
