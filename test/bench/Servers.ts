/** Two databases, and programs as processes of their own with the flags that `npm run serve` has; all end together. */
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import postgres from "postgres"
import { ownDatabase, withDatabase } from "../lab/Databases.ts"
import { takePort } from "../lab/Ports.ts"
import { main, run, type Running } from "../lab/Process.ts"
import { isReady } from "../lab/server/ServerProcess.ts"
import { jsonOf } from "../lab/Sources.ts"

type Environment = Readonly<Record<string, string>>

const start = (args: ReadonlyArray<string>, environment: Environment) =>
  run(args, { env: { PATH: process.env["PATH"] ?? "", NODE_ENV: "production", ...environment } })

/** The measured program is the production one. */
const ours = async (environment: Environment) => {
  const port = String(await takePort())
  const url = `http://127.0.0.1:${port}`
  const args = [...jsonOf("package.json").scripts.serve.match(/--\S+/gu), main, "serve"]
  const program = start(args, { PORT: port, LOG_LEVEL: "None", ...environment })
  const ended = program.ended.then(({ code }) => {
    throw new Error(`it ended with ${code}:\n${program.output()}`)
  })
  ended.catch(() => {})
  await Promise.race([isReady(url, Infinity), ended])
  return { program, url }
}

/** A program of the tests, which prints where it listens. */
const other = async (file: string, environment: Environment) => {
  const program = start([fileURLToPath(new URL(file, import.meta.url))], environment)
  const said = await program.says("Listening on ")
  return { program, url: /Listening on (http\S+?)\.?\s/u.exec(`${said} `)?.[1] ?? "" }
}

const pids = new Map<string, number>()

/** Milliseconds of processor time that the program at a URL has used; NaN where the system has no /proc. */
export const processorMillis = (url: string): number => {
  const pid = pids.get(url)
  if (pid === undefined || !existsSync("/proc/self/stat")) return Number.NaN
  // The name in parentheses may hold spaces; user and system time are the 12th and 13th fields after it, in 10 ms.
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export interface Servers {
  /** URLs of the databases, one for each side. */
  readonly databases: { readonly ours: string; readonly peer: string }
  /** Starts our server, or the program in this file beside the bench; answers its URL. */
  readonly serve: (program: "ours" | `${string}.ts`, environment: Environment) => Promise<string>
}

/** On the given PostgreSQL, else on one of its own, whose commits wait for the disk. */
export const withServers = async <A>(use: (servers: Servers) => Promise<A>, given = process.env["DATABASE_URL"]) => {
  const own = given === undefined ? await ownDatabase(true) : undefined
  const url = given ?? own?.url ?? ""
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const suffix = randomBytes(4).toString("hex")
  const names = [`bench_ours_${suffix}`, `bench_peer_${suffix}`] as const
  const programs: Array<Running> = []
  try {
    for (const name of names) await sql`CREATE DATABASE ${sql(name)}`
    return await use({
      databases: { ours: withDatabase(url, names[0]), peer: withDatabase(url, names[1]) },
      serve: async (file, environment) => {
        const started = await (file === "ours" ? ours(environment) : other(file, environment))
        programs.push(started.program)
        pids.set(started.url, started.program.pid)
        return started.url
      },
    })
  } finally {
    for (const program of programs.reverse()) {
      program.signal("SIGTERM")
      await program.exited
    }
    for (const name of names) await sql`DROP DATABASE IF EXISTS ${sql(name)} WITH (FORCE)`
    await sql.end()
    await own?.close()
  }
}

/** Lets the pools of today and tomorrow, with room for 5,000 stones each, begin a million below. */
export const withoutCeiling = (sql: postgres.Sql) =>
  sql`INSERT INTO payment_pools (name, drawn, highest)
    SELECT 'witness:' || (now() AT TIME ZONE 'UTC' + days * interval '1 day')::date, 0, -1000000 FROM generate_series(0, 1) AS days`
