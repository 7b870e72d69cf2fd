/** The altar beside a stock Hono and x402 server: on databases with the same stones, with the same facilitator and node. */
import { deepStrictEqual } from "node:assert"
import { randomBytes } from "node:crypto"
import * as Ledger from "../lab/Ledger.ts"
import { type Shot, work } from "./Load.ts"
import { type Figure, type Held, rates, type Side, type Sides, sliceOf, takeTurns } from "./Measure.ts"
import { newCommitment, nextOf, offerOf, signMany, unpaid } from "./Payments.ts"
import * as Store from "./peer/Store.ts"
import type { Servers } from "./Servers.ts"

/** Stones waiting at once while chain appends are measured: two batches of the ledger. */
const waiting = 256

/** Stones in the databases before anything is measured. */
const stones = 1_000

const get = (path: string): Shot => ({ method: "GET", path })
const list = "/api/witness?limit=20"
const bare: Shot = { method: "POST", path: "/api/witness" }

const jsonAt = async (url: string) => (await fetch(url)).json()

/** The request of each plain contest, and the expected answer. */
const reads = (): Readonly<Record<string, { readonly status: number; readonly shot: () => Shot }>> => {
  const always = (shot: Shot, status = 200) => ({ status, shot: () => shot })
  const segment = `/api/witness/chain?from=${Math.floor(stones / 2) + 1}&limit=100`
  return {
    spirits: always(get("/api/spirits")),
    list: always(get(list)),
    segment: always(get(segment)),
    bare402: always(bare, 402),
    keyed402: { status: 402, shot: unpaid },
  }
}

/** Fails when the two answer a read differently: then they would not be doing the same work. */
const compare = async ({ ours, peer }: Sides, path: string) => {
  const [mine, theirs] = await Promise.all([jsonAt(ours + path), jsonAt(peer + path)])
  deepStrictEqual(mine, theirs, `${path} differs`)
}

const peerAppend = (sql: Store.Sql) => {
  const id = randomBytes(32).toString("hex")
  const stone = { commitment: newCommitment(), kind: "prediction", spirit: "moss-hare", agentName: "Wren" }
  const answerOf = (row: Ledger.StoneRow) => JSON.stringify({ ok: true, record: row, replayed: false })
  return Store.append(sql, `bench-${id}`, { ...stone, payer: "0x", transaction: `0x${id}` }, answerOf)
}

/** The environment of a server that sells by the doubles of a facilitator and a node. */
const soldBy = (url: string) => ({
  PUBLIC_URL: Ledger.publicUrl,
  PAY_TO: Ledger.payTo,
  X402_NETWORK: Ledger.network,
  FACILITATOR_URL: url,
  RPC_URL: `${url}/rpc`,
})

export const run = async (
  chosen: ReadonlyArray<string>,
  held: Held,
  { databases, serve }: Servers,
): Promise<ReadonlyArray<Figure>> => {
  const ledger = Ledger.open(databases.ours)
  const peerSql = Store.connect(databases.peer)
  try {
    held.say(`Preparing two databases with ${stones} stones each`)
    await ledger.seed(stones, waiting)
    await Store.createTables(peerSql)
    await Store.seed(peerSql, await ledger.stones())

    const doubles = await serve("peer/Doubles.ts", {})
    const ours = await serve("ours", { ...soldBy(doubles), DATABASE_URL: databases.ours })
    const peer = await serve("peer/Server.ts", { ...soldBy(doubles), DATABASE_URL: databases.peer })
    const sides: Sides = { ours, peer }
    const asked = reads()
    for (const { shot, status } of Object.values(asked)) if (status === 200) await compare(sides, shot().path)

    const paid = async () => {
      const count = 600
      const total = count * (held.rounds + 1)
      const sign = async (side: Side) => nextOf(await signMany(await offerOf(sides[side]), total))
      const signed = { ours: await sign("ours"), peer: await sign("peer") }
      const figure = await rates("paid", held, sides, 201, (side) => signed[side], { count })
      // Every payment must have become a stone on both sides, or they did not do the same work.
      for (const side of [ours, peer]) {
        const { head } = await jsonAt(side + list)
        if (head.sequence !== stones + total) throw new Error(`${head.sequence} stones`)
      }
      return figure
    }

    const appends = async (): Promise<Figure> => {
      const count = 1_000
      const one = async (side: Side) => {
        if (side === "peer") return sliceOf(() => work(count, waiting, () => peerAppend(peerSql)))
        const ids = await ledger.claim(count)
        return sliceOf(() => ledger.settle(ids, waiting))
      }
      return { name: "appends", rounds: await takeTurns(held.rounds, one) }
    }

    const figures: Array<Figure> = []
    for (const name of chosen) {
      held.say(`  ${name}`)
      const read = asked[name]
      if (read !== undefined) figures.push(await rates(name, held, sides, read.status, () => read.shot))
      else figures.push(await (name === "paid" ? paid : appends)())
    }
    return figures
  } finally {
    await peerSql.end()
    await ledger.close()
  }
}
