/** All tests with a database through PgBouncer in transaction mode, with every statement they send read by PostgreSQL's own parser. */
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { takePort } from "../../lab/Ports.ts"
import { cluster } from "../../lab/Cluster.ts"
import { withDatabase } from "./DirectTests.ts"
import { complaintsOf, runTests } from "../../lab/run/Tests.ts"
import type { Outcome, Run } from "../Run.ts"
import { violationsOf } from "./Portability.ts"
import * as Postgres from "../../lab/proxy/Postgres.ts"

/**
 * What only tests do: they watch sessions and row versions, make databases, move their clock, change many tables by a loop,
 * hold an auditor's facts by a trigger, and play the version before, which locked a table and had a procedural function.
 */
const ofTests = [
  /\b(?:CREATE|DROP|ALTER) DATABASE\b|pg_stat_activity|pg_terminate_backend|pg_locks|DISTINCT xmin|\bDO \$\$/u,
  /LOCK TABLE "effect_sql_migrations"|FUNCTION (?:later|payment_fits|fits_before)\([^$]*LANGUAGE plpgsql/u,
]

/** One that is no SQL, as a test may send on purpose, is told of as any other. */
const found = (statement: string): ReadonlyArray<string> => {
  try {
    return violationsOf(statement)
  } catch (cause) {
    return [`not read by PostgreSQL's parser (${cause instanceof Error ? cause.message : String(cause)})`]
  }
}

const programOf = () => {
  const program = process.env["PGBOUNCER"] ?? "pgbouncer"
  const version = (() => {
    try {
      return Number(/ 1\.(\d+)/u.exec(execFileSync(program, ["--version"]).toString())?.[1])
    } catch {
      throw new Error("PgBouncer is not in the PATH: install it, or name it with PGBOUNCER")
    }
  })()
  if (version < 21) throw new Error(`PgBouncer 1.${version} does not know prepared statements: 1.21 or newer is needed`)
  return program
}

export const pgBouncer = async ({ home, log }: Run, files: ReadonlyArray<string>): Promise<Outcome> => {
  const program = programOf()
  const folder = await home()
  const database = await cluster(folder)
  const { password, username } = new URL(database.urlOf("altar"))
  const port = await takePort()
  const users = join(folder, "users.txt")
  const file = join(folder, "pgbouncer.ini")
  writeFileSync(users, `"${username}" "${decodeURIComponent(password)}"\n`)
  writeFileSync(
    file,
    `[databases]
* = host=127.0.0.1 port=${database.port()}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
; Roles that a test makes.
auth_user = ${username}
auth_dbname = postgres
pool_mode = transaction
max_prepared_statements = 200
max_client_conn = 2000
default_pool_size = 8
; A database that is copied or dropped must have no sessions left.
server_idle_timeout = 1
`,
  )
  for (const one of [users, file]) chmodSync(one, 0o644)
  const asRoot = process.getuid?.() === 0 ? ["-u", "postgres"] : []
  const child = spawn(program, ["-q", ...asRoot, file], { stdio: ["ignore", "ignore", "ignore"] })
  process.once("exit", () => child.kill("SIGKILL"))
  const scope = Scope.makeUnsafe()
  const tap = await Effect.runPromise(Postgres.make(`postgres://127.0.0.1:${port}`).pipe(Scope.provide(scope)))
  try {
    const tests = files.length > 0 ? files : withDatabase()
    log(`through PgBouncer: ${files.length > 0 ? files.join(", ") : `${tests.length} test files`}`)
    const verdict = await runTests(tests, {
      args: ["--project", "core", "--project", "deep", "--maxWorkers=1"],
      env: { DATABASE_URL: `${database.urlOf("altar", tap.port)}?sslmode=disable` },
      isHeard: true,
    })
    const statements = [...tap.statements].filter((one) => !ofTests.some((kind) => kind.test(one)))
    return {
      counts: {
        "test files": tests.length,
        "tests passed": verdict.kind === "passed" ? verdict.tests : 0,
        "different statements": tap.statements.size,
      },
      violations: [
        ...complaintsOf(verdict),
        ...statements.flatMap((one) => found(one).map((what) => `${what}: ${one.slice(0, 300)}`)),
      ],
    }
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    child.kill("SIGTERM")
    await database.close()
  }
}
