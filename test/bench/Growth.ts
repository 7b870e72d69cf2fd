/** Whether a read costs more with a long history: the same reads beside 1,000 and 1,000,000 acts, interleaved. */
import { createHash, randomBytes } from "node:crypto"
import type { Contest } from "./Contests.ts"
import * as Databases from "../lab/Databases.ts"
import { median } from "./Figures.ts"
import { fill, type Middle } from "./History.ts"
import { inTurn } from "./Load.ts"
import { serving } from "../lab/server/Programs.ts"
import type { Held, Outcome } from "./Running.ts"
import { type Side, takeTurns } from "./Rounds.ts"

/** Acts, and as many rooms. */
const small = 1_000
const large = 1_000_000
/** To see that it runs. */
const quick = 20_000

const token = randomBytes(32).toString("base64url")
const digest = createHash("sha256").update(token).digest()

/** The measured reads, with a place in the middle of each history. */
const reads = ({ act, link, publication, room, stone }: Middle): ReadonlyArray<readonly [string, string]> => [
  ["/api/spirits", "/api/spirits"],
  ["/api/altars", "/api/altars"],
  ["/api/field", "/api/field"],
  ["/api/candles", "/api/candles?limit=20"],
  ["/api/acts", "/api/acts?limit=20"],
  ["/api/acts (deep page)", `/api/acts?limit=20&before=${act}`],
  ["/api/acts/{id}", `/api/acts/${act}`],
  ["/api/elements", "/api/elements"],
  ["/api/companions", "/api/companions"],
  ["/api/pixels", "/api/pixels"],
  ["/api/publish-chain", `/api/publish-chain?from=${publication}&limit=50`],
  ["/api/witness", "/api/witness?limit=20"],
  ["/api/witness (deep page)", `/api/witness?limit=20&before=${link}`],
  ["/api/witness/{id}", `/api/witness/${stone}`],
  ["/api/witness/chain", `/api/witness/chain?from=${link}&limit=50`],
  ["/api/health", "/api/health"],
  ["/api/rooms/{id}", `/api/rooms/${room}`],
]

const medianOf = async (to: string, path: string, times: number) => {
  // Another caller for each, so that none meets a limit.
  const shots = Array.from({ length: times }, () => ({
    method: "GET" as const,
    path,
    headers: { authorization: `Bearer ${token}`, "x-forwarded-for": `10.${[...randomBytes(3)].join(".")}` },
  }))
  return { value: median(await inTurn(to, shots, 200)) }
}

export const run = async (chosen: ReadonlyArray<Contest>, held: Held): Promise<Outcome> => {
  const outcome: Outcome = { figures: [] }
  const databases = await Databases.open()
  const { close, serve } = serving()
  // The newest act of both is of the same full five minutes, so both have the same candles and prayers of today.
  const until = new Date(Math.floor(Date.now() / 300_000) * 300_000).toISOString()
  /** Serving once migrates and publishes, as a start does; then the history is put in. */
  const filled = async (database: string, acts: number) => {
    const { url } = await serve("../src/start.js", { DATABASE_URL: database, TRUSTED_PROXIES: "127.0.0.1" })
    held.say(`  filling ${acts} acts and rooms`)
    const started = performance.now()
    const paths = reads(await fill(database, acts, until, digest))
    held.say(`    ${((performance.now() - started) / 1000).toFixed(0)} s`)
    return { url, paths }
  }
  try {
    const sides = {
      ours: await filled(databases.ours, held.isQuick ? quick : large),
      peer: await filled(databases.peer, small),
    }
    for (const [index, [name]] of sides.ours.paths.entries()) {
      const one = (side: Side) =>
        medianOf(sides[side].url, sides[side].paths[index]?.[1] ?? "", held.isQuick ? 40 : 200)
      for (const { least, name: contest } of chosen) {
        const rounds = await takeTurns(held.rounds, one)
        outcome.figures.push({ name: contest, what: name, unit: "ms", least, rounds })
      }
    }
    return { ...outcome, about: databases.about }
  } finally {
    await close()
    await databases.close()
  }
}
