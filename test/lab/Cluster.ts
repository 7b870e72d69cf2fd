/** A durable PostgreSQL of a campaign's own, which is killed and started again where it stood. */
import { readFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import postgres from "postgres"
import { takePort } from "./Ports.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"

export interface Cluster {
  readonly port: () => number
  /** Of a database, with the password, at the cluster itself or at another port. */
  readonly urlOf: (name: string, port?: number) => string
  /** One statement on a connection of its own. */
  readonly run: (statement: string, database?: string) => Promise<ReadonlyArray<Record<string, unknown>>>
  /** SIGKILL to its first process: nothing is written any more, and all others end with it. */
  readonly kill: () => Promise<void>
  /** SIGQUIT: every session is thrown out, and the next start recovers. */
  readonly stopImmediately: () => Promise<void>
  /** SIGKILL to one session: the database throws all out and recovers by itself. */
  readonly killSession: (database: string) => Promise<void>
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export const cluster = async (folder: string): Promise<Cluster> => {
  const dataDir = join(folder, "postgres")
  // It is started again at its port, which stays reserved while it is dead.
  const port = await takePort()
  let scope = Scope.makeUnsafe()
  let url = ""

  const begin = async () => {
    scope = Scope.makeUnsafe()
    const started = Layer.build(LocalDatabase.layer({ dataDir, durable: true, port })).pipe(
      Effect.flatMap((context) => Effect.provideContext(LocalDatabase, context)),
      Scope.provide(scope),
    )
    url = Redacted.value((await Effect.runPromise(started)).url)
  }

  const end = () => Effect.runPromise(Scope.close(scope, Exit.void))

  /** Its processes may still be ending: tried again for ten seconds. */
  const start = async () => {
    for (let left = 40; ; left -= 1) {
      try {
        return await begin()
      } catch (cause) {
        await end()
        if (left === 0) throw cause
        await setTimeout(250)
      }
    }
  }

  const signal = async (name: NodeJS.Signals) => {
    const pid = Number((await readFile(join(dataDir, "cluster", "postmaster.pid"), "utf8")).split("\n")[0])
    process.kill(pid, name)
    while (isAlive(pid)) await setTimeout(20)
    await end()
  }

  const urlOf = (name: string, port?: number) => {
    const made = new URL(url)
    made.pathname = `/${name}`
    if (port !== undefined) made.port = String(port)
    return made.href
  }

  const runOnce = async (statement: string, database: string) => {
    const sql = postgres(urlOf(database), { max: 1, onnotice: () => {} })
    try {
      return await sql.unsafe(statement)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  /** It may still recover from a strike: tried again for half a minute. */
  const run: Cluster["run"] = async (statement, database = "altar") => {
    for (const end = performance.now() + 30_000; ; await setTimeout(200)) {
      try {
        return await runOnce(statement, database)
      } catch (cause) {
        const code = String(cause instanceof Error && "code" in cause ? cause.code : "")
        if (!/^(?:57P|CONN|ECONN)/u.test(code) || performance.now() > end) throw cause
      }
    }
  }

  await begin()
  // A harness that is killed leaves nothing behind.
  process.once("exit", () => {
    try {
      process.kill(Number(readFileSync(join(dataDir, "cluster", "postmaster.pid"), "utf8").split("\n")[0]), "SIGQUIT")
    } catch {
      // It has ended by itself.
    }
  })
  return {
    port: () => port,
    urlOf,
    run,
    kill: () => signal("SIGKILL"),
    stopImmediately: () => signal("SIGQUIT"),
    killSession: async (database) => {
      const [row] = await run(
        `SELECT pid FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid() LIMIT 1`,
      )
      if (row === undefined) throw new Error("there is no session to kill")
      process.kill(Number(row["pid"]), "SIGKILL")
    },
    start,
    close: end,
  }
}
