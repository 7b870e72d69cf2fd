/** The guide's configurations around the servers, run unchanged except for names, ports and certificates. */
import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { assert, describe, layer } from "../lab/It.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { ServerConfig } from "../../src/server/config/Config.ts"
import { findIdentity, LocalDatabase, runAs } from "../../src/sandbox/LocalDatabase.ts"
import * as OwnedProcess from "../../src/sandbox/OwnedProcess.ts"
import * as Sandbox from "../../src/sandbox/Sandbox.ts"
import { buyAt } from "../lab/buyer/Purchase.ts"
import { database, sql } from "../lab/Database.ts"
import { follow, programOf } from "../lab/DocumentAgent.ts"
import { freePort } from "../lab/Ports.ts"
import { loopback } from "../lab/server/Rooms.ts"
import { chain } from "../lab/Chain.ts"
import { newFolder } from "../lab/Folders.ts"
import { exampleOf } from "../lab/Sources.ts"
import { serverWith, ask, realClock } from "../lab/Fixture.ts"

const programs = ["nginx", "caddy", "pgbouncer"] as const
type Program = (typeof programs)[number]

const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"]
const pathOf = (program: Program) => folders.map((folder) => join(folder, program)).find((file) => existsSync(file))

/** The guide excludes versions of PgBouncer without prepared statements. */
const isTooOld = (path: string) =>
  path.endsWith("pgbouncer") && Number(/ 1\.(\d+)/u.exec(execFileSync(path, ["--version"]).toString())?.[1]) < 21

const missing = programs.filter((program) => {
  const path = pathOf(program)
  return path === undefined || isTooOld(path)
})
if (missing.length > 0) {
  process.stdout.write(
    `Not in the PATH, or too old, so their part of the operator's guide is not run: ${missing.join(", ")}.\n`,
  )
}

const guide = "docs/operating.md"
const ended = { signal: "SIGTERM", force: "SIGKILL", patienceMs: 5000 } as const

/** A folder that programs of other users can read, too. */
const folder = Effect.sync(newFolder)

const replaced = (text: string, changes: ReadonlyArray<readonly [from: string | RegExp, to: string]>) =>
  changes.reduce((before, [from, to]) => {
    const after = before.replace(from, to)
    assert.notStrictEqual(after, before, `the guide no longer has ${from}`)
    return after
  }, text)

const start = (program: Program, args: ReadonlyArray<string>, ready: RegExp, identity: OwnedProcess.Identity = {}) =>
  OwnedProcess.start({ command: pathOf(program) ?? program, args: [...args], ready, stop: ended, identity })

const nginx = Effect.fnUntraced(function* (port: number, servers: readonly [number, number]) {
  const at = yield* folder
  const server = replaced(exampleOf(guide, "upstream altar"), [
    ["127.0.0.1:3000", `127.0.0.1:${servers[0]}`],
    ["127.0.0.1:3001", `127.0.0.1:${servers[1]}`],
    ["listen 443 ssl http2", `listen 127.0.0.1:${port}`],
    [/ +ssl_certificate [^\n]+\n/u, ""],
    [/ +ssl_certificate_key [^\n]+\n/u, ""],
  ])
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((one) => `${one}_temp_path ${at}/${one};`)
  const user = process.getuid?.() === 0 ? "user root;" : ""
  const file = join(at, "nginx.conf")
  writeFileSync(
    file,
    `${user} daemon off; worker_processes 1; pid ${at}/pid; error_log stderr notice; events {}
http { access_log off; ${paths.join(" ")}
${server} }`,
  )
  yield* start("nginx", ["-p", at, "-c", file, "-e", "stderr"], /start worker process /u)
})

const caddy = Effect.fnUntraced(function* (port: number, servers: readonly [number, number]) {
  const site = replaced(exampleOf(guide, "altar.example {"), [
    ["127.0.0.1:3000", `127.0.0.1:${servers[0]}`],
    ["127.0.0.1:3001", `127.0.0.1:${servers[1]}`],
    ["altar.example", `http://127.0.0.1:${port}`],
  ])
  const file = join(yield* folder, "Caddyfile")
  writeFileSync(file, `{\n  admin off\n}\n${site}`)
  yield* start("caddy", ["run", "--adapter", "caddyfile", "--config", file], /serving initial configuration/u)
})

const pgbouncer = Effect.fnUntraced(function* (database: Redacted.Redacted<string>) {
  const at = yield* folder
  const port = yield* freePort
  const url = new URL(Redacted.value(database))
  const users = join(at, "userlist.txt")
  writeFileSync(users, `"${url.username}" "${decodeURIComponent(url.password)}"\n`)
  const text = replaced(exampleOf(guide, "[databases]"), [
    [/host=\S+ port=\S+ dbname=\S+/u, `host=${url.hostname} port=${url.port || 5432} dbname=${url.pathname.slice(1)}`],
    ["listen_port = 6432", `listen_port = ${port}\nunix_socket_dir =`],
    ["/etc/pgbouncer/userlist.txt", users],
  ])
  const file = join(at, "pgbouncer.ini")
  writeFileSync(file, text)
  const identity = yield* Effect.provide(findIdentity, NodeServices.layer)
  yield* start("pgbouncer", [file], /process up/u, runAs(identity))
  url.hostname = "127.0.0.1"
  url.port = String(port)
  url.pathname = "/altar"
  return Redacted.make(url.href)
})

const serve = (change: Partial<ServerConfig>) => Effect.map(serverWith({}, change, Sandbox.routes), ({ port }) => port)

/** An agent with the documents alone does everything, through whatever stands between. */
const everything = Effect.fnUntraced(function* (url: string) {
  const { text } = yield* ask(`${url}/llms.txt`)
  const { stdout } = yield* Effect.promise(() => follow(programOf(text)))
  assert.match(stdout, /"entries":\[\{"sequence":1,.*"next":null/u)
  const db = yield* SqlClient.SqlClient
  const [row] = yield* db<{ settled: bigint; stones: bigint }>`
    SELECT (SELECT count(*) FROM payment_attempts WHERE state = 'settled') AS settled,
      (SELECT count(*) FROM witness_stones) AS stones`
  assert.deepEqual(row, { settled: 6n, stones: 1n })
})

const crowd = ["/api/witness", "/api/acts", "/api/candles", "/api/altars", "/api/field", "/api/health", "/v2/"]

const world = sql.pipe(Layer.provideMerge(Layer.merge(database, chain)))

for (const [program, proxy] of [
  ["nginx", nginx],
  ["caddy", caddy],
] as const) {
  describe.skipIf(missing.includes(program))(`behind ${program} as the guide configures it,`, () => {
    layer(world, realClock)("two servers", (it) => {
      it.effect("sell, and know each client's address", function* () {
        const port = yield* freePort
        const url = `http://127.0.0.1:${port}`
        const first = yield* serve({ publicUrl: url, trustedProxies: loopback })
        const second = yield* serve({ publicUrl: url, trustedProxies: loopback })
        yield* Effect.provide(proxy(port, [first, second]), NodeServices.layer)
        yield* everything(url)
        // A forged address is ignored.
        const left = yield* Effect.forEach(["203.0.113.1", "203.0.113.2"], (address) =>
          Effect.map(
            ask(`${url}/api/rooms`, {
              method: "POST",
              headers: { "x-forwarded-for": address, forwarded: `for=${address}` },
            }),
            ({ headers }) => Number(/"creations-hour";r=(\d+)/u.exec(headers.get("ratelimit") ?? "")?.[1]),
          ),
        )
        assert.deepStrictEqual(left, [3, 2])
      })
    })
  })
}

describe.skipIf(missing.includes("pgbouncer"))("with PgBouncer as the guide configures it,", () => {
  layer(world, realClock)("a server", (it) => {
    it.effect("sells", function* () {
      const { url } = yield* LocalDatabase
      const databaseUrl = yield* Effect.provide(pgbouncer(url), NodeServices.layer)
      const server = `http://127.0.0.1:${yield* serve({ databaseUrl })}`
      yield* everything(server)
      yield* Effect.forEach(Array.from({ length: 16 }), () => buyAt(server), { concurrency: 12 })
      // Many at once, so that transactions of one client meet several connections of the database.
      const answers = yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => `${server}${crowd[index % crowd.length]}`),
        (address) => ask(address),
        { concurrency: 40 },
      )
      assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
    })
  })
})
