/** The altar beside a stock Hono and x402 server: on databases with the same stones, with the same facilitator and node. */
import { deepStrictEqual } from "node:assert"
import { fire, type Shot } from "./Load.ts"
import { type Figure, type Held, rates, type Side, type Sides } from "./Measure.ts"
import { network, nextOf, offerOf, signMany, unpaid } from "./Payments.ts"
import * as Store from "./peer/Store.ts"
import { type Servers, withoutCeiling } from "./Servers.ts"

/** Stones in the databases before anything is measured. */
const stones = 1_000

/** Payments of one slice. */
const count = 600

const list = "/api/witness?limit=20"
const segment = `/api/witness/chain?from=${stones / 2 + 1}&limit=100`

/** The request of each plain contest, and the expected answer. */
const contests: Readonly<Record<string, readonly [status: number, shot: () => Shot]>> = {
  spirits: [200, () => ({ method: "GET", path: "/api/spirits" })],
  list: [200, () => ({ method: "GET", path: list })],
  segment: [200, () => ({ method: "GET", path: segment })],
  bare402: [402, () => ({ method: "POST", path: "/api/witness" })],
  keyed402: [402, unpaid],
}

const jsonAt = async (url: string) => (await fetch(url)).json()

/** Fails when the two answer a read differently: then they would not be doing the same work. */
const compare = async ({ ours, peer }: Sides, path: string) => {
  const [mine, theirs] = await Promise.all([jsonAt(ours + path), jsonAt(peer + path)])
  deepStrictEqual(mine, theirs, `${path} differs`)
}

export const run = async (
  chosen: ReadonlyArray<string>,
  held: Held,
  { databases, serve }: Servers,
): Promise<ReadonlyArray<Figure>> => {
  const sql = { ours: Store.connect(databases.ours), peer: Store.connect(databases.peer) }
  try {
    held.say(`Preparing two databases with ${stones} stones each`)
    const doubles = await serve("peer/Doubles.ts", {})
    const sold = {
      PUBLIC_URL: "https://altar.example",
      PAY_TO: "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc",
      X402_NETWORK: network,
      FACILITATOR_URL: doubles,
      RPC_URL: `${doubles}/rpc`,
    }
    const ours = await serve("ours", { ...sold, DATABASE_URL: databases.ours })
    const peer = await serve("peer/Server.ts", { ...sold, DATABASE_URL: databases.peer })
    const sides: Sides = { ours, peer }
    await withoutCeiling(sql.ours)
    await fire(ours, { count: stones }, 201, nextOf(await signMany(await offerOf(ours), stones)))
    // They are old: a measurement of the server must not include searches for transfers that never existed.
    await sql.ours`UPDATE payment_attempts SET finality = 'final'`
    await Store.createTables(sql.peer)
    await Store.seed(sql.peer, sql.ours)
    for (const path of ["/api/spirits", list, segment]) await compare(sides, path)

    const paid = async () => {
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

    const figures: Array<Figure> = []
    for (const name of chosen) {
      held.say(`  ${name}`)
      const [status, shot] = contests[name] ?? []
      figures.push(
        await (status === undefined || shot === undefined ? paid() : rates(name, held, sides, status, () => shot)),
      )
    }
    return figures
  } finally {
    await Promise.all([sql.ours.end(), sql.peer.end()])
  }
}
