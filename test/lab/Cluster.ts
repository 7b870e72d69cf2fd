/** A durable PostgreSQL of a campaign's own: killed and started again where it stood. */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Redacted } from "effect"
import postgres from "postgres"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { takePort } from "./Ports.ts"
import { isAlive } from "./Processes.ts"
import { withDatabase, started } from "./Databases.ts"

export type Cluster = Awaited<ReturnType<typeof cluster>>

/** Its folder, and its port: reserved also while it is dead. */
interface Place {
  readonly dataDir: string
  readonly port: number
}

const launch = async (place: Place) => {
  const { close, service } = await started(LocalDatabase, LocalDatabase.layer({ ...place, durable: true }))
  return { ...place, end: close, url: Redacted.value(service.url) }
}

export const cluster = async (folder: string) => {
  let life = await launch({ dataDir: join(folder, "postgres"), port: await takePort() })
  const inCluster = (file = "") => join(life.dataDir, "cluster", file)

  /** Its processes may still be ending: tried again for ten seconds. */
  const start = async () => {
    for (let left = 40; ; left -= 1) {
      try {
        life = await launch({ dataDir: life.dataDir, port: life.port })
        return
      } catch (cause) {
        if (left === 0) throw cause
        await setTimeout(250)
      }
    }
  }

  const signal = async (name: NodeJS.Signals) => {
    const pid = Number((await readFile(inCluster("postmaster.pid"), "utf8")).split("\n")[0])
    process.kill(pid, name)
    while (isAlive(pid)) await setTimeout(20)
    await life.end()
  }

  /** Of a database, with the password, at the cluster itself or at another port. */
  const urlOf = (name: string, port = life.port) => {
    const made = new URL(withDatabase(life.url, name))
    made.port = String(port)
    return made.href
  }

  const runOnce = async (statement: string, database: string, port?: number) => {
    const sql = postgres(urlOf(database, port), { max: 1, onnotice: () => {} })
    try {
      return await sql.unsafe(statement)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  /** One statement on a connection of its own, tried again for half a minute: it may still recover from a strike. */
  const run = async (statement: string, database = "altar"): Promise<ReadonlyArray<Record<string, unknown>>> => {
    for (const end = performance.now() + 30_000; ; await setTimeout(200)) {
      try {
        return await runOnce(statement, database)
      } catch (cause) {
        const code = String(cause instanceof Error && "code" in cause ? cause.code : "")
        if (!/^(?:57P|CONN|ECONN)/u.test(code) || performance.now() > end) throw cause
      }
    }
  }

  return {
    port: () => life.port,
    urlOf,
    run,
    /** SIGKILL to its first process: nothing is written any more, and all others end with it. */
    kill: () => signal("SIGKILL"),
    /** SIGQUIT: every session is thrown out, and the next start recovers. */
    stopImmediately: () => signal("SIGQUIT"),
    /** SIGKILL to one session: the database throws all out and recovers by itself. */
    killSession: async (database: string) => {
      const [row] = await run(
        `SELECT pid FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid() LIMIT 1`,
      )
      if (row === undefined) throw new Error("there is no session to kill")
      process.kill(Number(row["pid"]), "SIGKILL")
    },
    start,
    close: () => life.end(),
  }
}
