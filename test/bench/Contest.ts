/** Both servers, listening, on databases that hold the same stones and with the same facilitator and node behind them. */
import { deepStrictEqual } from "node:assert"
import { fileURLToPath } from "node:url"
import * as Databases from "./Databases.ts"
import * as Ledger from "./Ledger.ts"
import { ask, type Connections, connect, type Shot } from "./Load.ts"
import * as Store from "./peer/Store.ts"
import { freePort, type Served, start } from "./Processes.ts"
import type { Side } from "./Rounds.ts"

export interface Contestant {
  readonly pid: number
  readonly to: Connections
}

export interface Contest extends Readonly<Record<Side, Contestant>> {
  readonly ledger: Ledger.Ledger
  readonly peerSql: Store.Sql
  /** What PostgreSQL says of itself. */
  readonly about: string
  close(): Promise<void>
}

/** Stones waiting at once while chain appends are measured: two batches of the ledger. */
export const waiting = 256

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Fails when the two answer a read differently: then they would not be doing the same work. */
const compare = async (ours: Connections, peer: Connections, read: Shot) => {
  const [mine, theirs] = await Promise.all([ask(ours, read), ask(peer, read)])
  deepStrictEqual(JSON.parse(mine.text), JSON.parse(theirs.text), `${read.path} differs`)
}

export const open = async (stoneCount: number, reads: ReadonlyArray<Shot>): Promise<Contest> => {
  const databases = await Databases.open()
  const ledger = Ledger.open(databases.ours)
  const peerSql = Store.connect(databases.peer)
  const served: Array<Served> = []
  const close = async () => {
    for (const one of served.reverse()) await one.stop()
    await peerSql.end()
    await ledger.close()
    await databases.close()
  }
  const serve = async (program: string, args: ReadonlyArray<string>, environment: Record<string, string>) => {
    const one = await start([file(program), ...args], environment)
    served.push(one)
    return one
  }
  const prepare = async (): Promise<Contest> => {
    await ledger.settle(await ledger.claim(stoneCount), waiting)
    await Store.createTables(peerSql)
    await Store.seed(peerSql, await ledger.stones())

    const doubles = await serve("Doubles.ts", [], {})
    const environment = { PUBLIC_URL: Ledger.publicUrl, PAY_TO: Ledger.payTo, FACILITATOR_URL: doubles.url }
    const port = await freePort()
    const ours = await serve("../../src/start.js", ["serve"], {
      ...environment,
      X402_NETWORK: Ledger.network,
      DATABASE_URL: databases.ours,
      RPC_URL: `${doubles.url}/rpc`,
      PORT: String(port),
      LOG_LEVEL: "None",
    })
    const peer = await serve("peer/Server.ts", [], { ...environment, DATABASE_URL: databases.peer })
    const contest = {
      ours: { pid: ours.pid, to: connect(`http://127.0.0.1:${port}`) },
      peer: { pid: peer.pid, to: connect(peer.url) },
    }
    for (const read of reads) await compare(contest.ours.to, contest.peer.to, read)
    return { ...contest, ledger, peerSql, about: databases.about, close }
  }
  try {
    return await prepare()
  } catch (cause) {
    await close()
    throw cause
  }
}
