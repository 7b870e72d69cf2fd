/** The altar beside a stock Hono and x402 server: on databases with the same stones, with the same facilitator and node. */
import { deepStrictEqual } from "node:assert"
import { randomBytes } from "node:crypto"
import type { Contest } from "./Contests.ts"
import * as Databases from "../lab/Databases.ts"
import * as Ledger from "../lab/Ledger.ts"
import { askJson, type Shot, work } from "./Load.ts"
import { newCommitment, offerOf, signMany, unpaid } from "./Payments.ts"
import * as Store from "./peer/Store.ts"
import { cpuSeconds } from "../lab/Processes.ts"
import { serving, soldBy } from "../lab/server/Programs.ts"
import { type Held, type Outcome, rates, type Sides } from "./Running.ts"
import { type Side, slice, takeTurns } from "./Rounds.ts"
import { ofRates } from "./Figures.ts"

/** Stones waiting at once while chain appends are measured: two batches of the ledger. */
const waiting = 256

const gzip = { "accept-encoding": "gzip" }
const get = (path: string, headers: Shot["headers"] = {}): Shot => ({ method: "GET", path, headers })
const spirits = "/api/spirits"
const list = "/api/witness?limit=20"
const bare: Shot = { method: "POST", path: "/api/witness" }

/** The request of each plain contest, and the expected answer. */
const reads = (stones: number): Readonly<Record<string, { readonly status: number; readonly shot: () => Shot }>> => {
  const always = (shot: Shot, status = 200) => ({ status, shot: () => shot })
  const segment = `/api/witness/chain?from=${Math.floor(stones / 2) + 1}&limit=100`
  return {
    spirits: always(get(spirits)),
    "spirits-gzip": always(get(spirits, gzip)),
    list: always(get(list)),
    "list-gzip": always(get(list, gzip)),
    segment: always(get(segment)),
    bare402: always(bare, 402),
    keyed402: { status: 402, shot: unpaid },
  }
}

/** Fails when the two answer a read differently: then they would not be doing the same work. */
const compare = async ({ ours, peer }: Sides, path: string) => {
  const [mine, theirs] = await Promise.all([askJson(ours.url, path), askJson(peer.url, path)])
  deepStrictEqual(mine, theirs, `${path} differs`)
}

/** The processor time of this process, where both sides' appends run. */
const ownCpu = () => cpuSeconds(process.pid)

const peerAppend = (sql: Store.Sql) => {
  const id = randomBytes(32).toString("hex")
  const stone = { commitment: newCommitment(), kind: "prediction", spirit: "moss-hare", agentName: "Wren" }
  const answerOf = (row: Ledger.StoneRow) => JSON.stringify({ ok: true, record: row, replayed: false })
  return Store.append(sql, `bench-${id}`, { ...stone, payer: "0x", transaction: `0x${id}` }, answerOf)
}

export const run = async (chosen: ReadonlyArray<Contest>, held: Held): Promise<Outcome> => {
  const outcome: Outcome = { figures: [] }
  const databases = await Databases.open()
  const ledger = Ledger.open(databases.ours)
  const peerSql = Store.connect(databases.peer)
  const { close, serve } = serving()
  try {
    held.say(`Preparing two databases with ${held.stones} stones each`)
    await ledger.seed(held.stones, waiting)
    await Store.createTables(peerSql)
    await Store.seed(peerSql, await ledger.stones())

    const doubles = await serve("lab/proxy/Doubles.ts", {})
    const ours = await serve("../src/start.js", { ...soldBy(doubles), DATABASE_URL: databases.ours })
    const peer = await serve("bench/peer/Server.ts", { ...soldBy(doubles), DATABASE_URL: databases.peer })
    const sides: Sides = { ours, peer }
    const asked = reads(held.stones)
    for (const { shot, status } of Object.values(asked)) if (status === 200) await compare(sides, shot().path)

    /** Every payment must have become a stone on both sides, or they did not do the same work. */
    const countStones = async (expected: number) => {
      for (const side of [ours, peer]) {
        const { head } = await askJson(side.url, list)
        if (head.sequence !== expected) throw new Error(`${head.sequence} stones instead of ${expected}`)
      }
    }

    const paid = async (contest: Contest) => {
      const count = 600
      const total = count * (held.rounds + 1)
      const sign = async (side: Side) => [...(await signMany(await offerOf(sides[side].url), total))]
      const signed = { ours: await sign("ours"), peer: await sign("peer") }
      const next = (side: Side) => () => {
        const shot = signed[side].pop()
        if (shot === undefined) throw new Error("no signed payment is left")
        return shot
      }
      outcome.figures.push(await rates(contest, held, sides, { count }, 201, next))
      await countStones(held.stones + total)
    }

    const appends = async (contest: Contest) => {
      const count = held.isQuick ? 500 : 1_000
      const one = async (side: Side) => {
        if (side === "peer") return slice(ownCpu, () => work(count, waiting, () => peerAppend(peerSql)))
        const ids = await ledger.claim(count)
        return slice(ownCpu, () => ledger.settle(ids, waiting))
      }
      outcome.figures.push(ofRates(contest, await takeTurns(held.rounds, one)))
    }

    for (const contest of chosen) {
      held.say(`  ${contest.name}`)
      const read = asked[contest.name]
      if (contest.name === "paid") await paid(contest)
      else if (contest.name === "appends") await appends(contest)
      else if (read !== undefined) {
        outcome.figures.push(await rates(contest, held, sides, held.span, read.status, () => read.shot))
      }
    }
    return { ...outcome, about: databases.about }
  } finally {
    await close()
    await peerSql.end()
    await ledger.close()
    await databases.close()
  }
}
