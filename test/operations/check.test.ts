/** The obstacles to selling and starting, as `serve --check`, a start, a log and a command name them. */
import { spawnSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { main, run } from "../lab/Process.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { database } from "../lab/Database.ts"
import { newFolder } from "../lab/Folders.ts"
import { freePort } from "../lab/Ports.ts"
import { ask, realClock } from "../lab/Fixture.ts"
import { usdcOwner } from "../lab/buyer/ThirdParty.ts"
import { direct, serving } from "../lab/server/ServerProcess.ts"

const checked = Effect.fnUntraced(function* (more: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env["PATH"] ?? "", ...(yield* direct), ...more }
  return yield* Effect.promise(() => run([main, "serve", "--check"], { env }).ended)
})

const fails = (says: RegExp) =>
  Effect.map(checked(), ({ code, stderr }) => {
    assert.strictEqual(code, 1)
    assert.match(stderr, says)
  })

describe.concurrent("serve --check", () => {
  it.live("fails for an absent node, a paused token and a blocked PAY_TO, and names the cause without a secret", () =>
    Effect.gen(function* () {
      const { payTo } = yield* LocalChain
      const { code, stderr, stdout } = yield* checked()
      assert.strictEqual(code, 0, stderr)
      for (const part of ["database", "chain", "token", "relayer"]) assert.match(stdout, new RegExp(`^${part} `, "mu"))
      const away = yield* checked({ RPC_URL: "http://127.0.0.1:1/hush" })
      assert.strictEqual(away.code, 1)
      assert.match(away.stderr, /^The node of RPC_URL cannot be used: eth_chainId /mu)
      assert.notInclude(away.stdout + away.stderr, "hush")
      yield* usdcOwner(["pause"])
      yield* fails(/paused all transfers/u)
      yield* usdcOwner(["unpause"])
      yield* usdcOwner(["blacklist", payTo])
      yield* fails(/blocked PAY_TO/u)
    }).pipe(Effect.provide(stage)),
  )
})

/** A check and a start with the same environment, and how both end. */
const bothEnd = Effect.fnUntraced(function* (env: Readonly<Record<string, string>>) {
  const base = { PATH: process.env["PATH"] ?? "", DATABASE_URL: "postgres://u:hush@127.0.0.1:1/d", ...env }
  return yield* Effect.forEach([["--check"], []], (more) =>
    Effect.promise(() => run([main, "serve", ...more], { env: base }).ended),
  )
})

/** In a mount namespace of its own, where a path is mounted on itself. */
const mounted = (path: string, args: ReadonlyArray<string>, env: Record<string, string>) =>
  Effect.promise(
    () =>
      run(
        ["-m", "sh", "-c", 'mount --bind "$MOUNTED" "$MOUNTED" && exec "$@"', "sh", process.execPath, main, ...args],
        {
          command: "unshare",
          env: { PATH: process.env["PATH"] ?? "", MOUNTED: path, ...env },
        },
      ).ended,
  )

describe.concurrent("a wrong value", () => {
  it.live("is refused by a start with the sentences of serve --check, all at once", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const wrong = {
        PAY_TO: `0x${"0".repeat(40)}`,
        PUBLIC_URL: "https://altar.example/?x=1",
        HOST: "[::1]",
        METRICS_PORT: "99999",
        RPC_URL: "https://a%b:c@rpc.example",
        CDP_API_KEY_SECRET: "-----BEGIN EC PRIVATE KEY-----\\nMHc=\\n-----END EC PRIVATE KEY-----",
        TERMS_FILE: join(folder, "absent"),
        PRIVACY_FILE: folder,
        LOG_WITNESSES: join(folder, "absent"),
        LOG_CHECKPOINT_FILE: folder,
        PAYTO: "0x",
      }
      const [check, start] = yield* bothEnd(wrong)
      assert.deepStrictEqual([check?.code, start?.code], [1, 1])
      assert.strictEqual(start?.stderr, check?.stderr)
      for (const name of Object.keys(wrong)) assert.match(check?.stderr ?? "", new RegExp(`^${name} is `, "mu"))
    }),
  )

  it.live.each([
    ["an address of another machine", { HOST: "203.0.113.7" }, /^HOST is wrong: /mu],
    ["a metrics address of another machine", { METRICS_PORT: "203.0.113.7:9464" }, /^METRICS_PORT is wrong: /mu],
  ] as const)("that the system refuses is named: %s", ([, env, sentence]) =>
    Effect.gen(function* () {
      const { code, stderr } = yield* checked(env).pipe(Effect.provide(stage))
      assert.strictEqual(code, 1)
      assert.match(stderr, sentence)
    }),
  )

  it.live("of OpenTelemetry costs its exports alone, and is named by both", () =>
    Effect.gen(function* () {
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_HEADERS: "api-key=%hush",
      }
      const check = yield* checked(env)
      assert.strictEqual(check.code, 0, check.stderr)
      const sentence = /OTEL_EXPORTER_OTLP_HEADERS cannot be used, so no traces or metrics are sent/u
      assert.match(check.stdout, sentence)
      const server = yield* serving({ ...(yield* direct), ...env })
      assert.match(yield* server.says("server listening"), sentence)
      assert.notInclude(check.stdout + server.output(), "hush")
    }).pipe(Effect.provide(stage)),
  )
})

const mayMount = spawnSync("unshare", ["-m", "true"]).status === 0

describe.runIf(mayMount)("a checkpoint file that is a mount", () => {
  it.live("is refused by a check and a start, since it cannot be replaced; its folder may be one", () =>
    Effect.gen(function* () {
      const folder = newFolder()
      const file = join(folder, "check point")
      writeFileSync(file, "as it was")
      const PORT = String(yield* freePort)
      const env = { DATABASE_URL: "postgres://u:hush@127.0.0.1:1/d", LOG_CHECKPOINT_FILE: file, PORT }
      for (const args of [["serve", "--check"], ["serve"]]) {
        const { code, stderr } = yield* mounted(file, args, env)
        assert.strictEqual(code, 1)
        assert.match(stderr, /^LOG_CHECKPOINT_FILE is wrong: .* It is a mount/mu)
      }
      assert.match((yield* mounted(folder, ["serve", "--check"], env)).stderr, /^The database cannot be used/mu)
      assert.deepStrictEqual([readdirSync(folder), readFileSync(file, "utf8")], [["check point"], "as it was"])
    }),
  )
})

const role = `poor_${randomBytes(4).toString("hex")}`

const asOwner = (url: Redacted.Redacted<string>, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(Sql.layer(url, 1)),
    Effect.orDie,
  )

/** The database as a role that may connect and nothing else. */
const poor = Effect.gen(function* () {
  const { url } = yield* LocalDatabase
  yield* Effect.acquireRelease(asOwner(url, `CREATE ROLE ${role} LOGIN PASSWORD 'hush'`), () =>
    Effect.andThen(asOwner(url, `DROP OWNED BY ${role}`), asOwner(url, `DROP ROLE ${role}`)),
  )
  const theirs = new URL(Redacted.value(url))
  theirs.username = role
  theirs.password = "hush"
  return { url, theirs: theirs.href }
})

const serve = (env: Record<string, string>) => {
  const { HOME = "", PATH = "" } = process.env
  return Effect.promise(() => run([main, "serve"], { env: { PATH, HOME, ...env } }).ended)
}

layer(database, realClock)("a database role without a grant", (it) => {
  it.effect("is told of at start, in the log of a request and by admin", () =>
    Effect.gen(function* () {
      const { theirs, url } = yield* poor
      const port = yield* freePort
      const start = yield* serve({ DATABASE_URL: theirs, PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` })
      assert.strictEqual(start.code, 1)
      assert.include(start.stderr, `The database role ${role} lacks a privilege: permission denied for table`)
      assert.match(start.stderr, /Use the owner's DATABASE_URL\.$/mu)

      const admin = yield* commandRun(["admin", "pause", "--why", "test", "--json"], { DATABASE_URL: theirs })
      assert.strictEqual(admin.code, 1)
      assert.match(JSON.parse(admin.stdout).message, /payment_pause\. Use the owner's DATABASE_URL\.$/u)

      yield* asOwner(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
      yield* asOwner(url, `REVOKE SELECT ON acts FROM ${role}`)
      const server = yield* serving({ DATABASE_URL: theirs })
      yield* server.says("server listening")
      assert.strictEqual((yield* ask(`${server.url}/api/acts`)).status, 500)
      yield* server.says(
        `permission denied for table acts. Use the owner's DATABASE_URL, or have the owner run the grants`,
      )
      for (const said of [start.stderr, admin.stdout, server.output()]) {
        assert.notInclude(said, "hush")
        assert.notInclude(said, "GRANT", "a server's role may be closed to a table on purpose")
      }
    }),
  )
})
