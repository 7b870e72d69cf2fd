/** `sslmode` and `sslrootcert` of a database's URL mean what they mean to psql. */
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { patience } from "../lab/Patience.ts"
import { assert, describe, it } from "../lab/It.ts"
import { Clock, Effect, Exit, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import postgres from "postgres"
import * as Sql from "../../src/platform/Sql.ts"
import { ownDatabase } from "../lab/Databases.ts"
import { newFolder } from "../lab/Folders.ts"
import * as Silence from "../lab/proxy/Silence.ts"

/** Two authorities, of which the first signed the certificate of `localhost`. */
const certificates = () => {
  const folder = newFolder()
  const openssl = (line: string) => execFileSync("openssl", line.split(" "), { cwd: folder, stdio: "pipe" })
  const key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
  for (const name of ["ours", "other"])
    openssl(`req -x509 ${key} -keyout ${name}.key -out ${name}.crt -days 2 -subj /CN=${name}`)
  openssl(`req ${key} -keyout server.key -out server.csr -subj /CN=localhost`)
  writeFileSync(join(folder, "names"), "subjectAltName=DNS:localhost\n")
  openssl(
    "x509 -req -in server.csr -CA ours.crt -CAkey ours.key -CAcreateserial -out server.crt -days 2 -extfile names",
  )
  return (name: string) => join(folder, name)
}

const cluster = Effect.acquireRelease(
  Effect.promise(async () => {
    const { close, url } = await ownDatabase(false)
    const admin = postgres(url, { max: 1, onnotice: () => {} })
    const [row] = await admin`SELECT current_setting('data_directory') AS data, current_setting('hba_file') AS hba`
    const file = certificates()
    const data = String(row?.["data"])
    const hba = String(row?.["hba"])
    for (const name of ["server.key", "server.crt"]) {
      const copy = join(data, name)
      writeFileSync(copy, readFileSync(file(name)))
      chownSync(copy, statSync(data).uid, statSync(data).gid)
      chmodSync(copy, 0o600)
    }
    const rules = readFileSync(hba, "utf8")
    /** Applies to connections from now on. */
    const set = async (ssl: "on" | "off", kind: "host" | "hostssl" | "hostnossl") => {
      await admin.unsafe(`ALTER SYSTEM SET ssl = ${ssl}`)
      writeFileSync(hba, rules.replaceAll(/^host\b/gmu, kind))
      const [before] = await admin`SELECT pg_conf_load_time() AS at`
      await admin`SELECT pg_reload_conf()`
      while ((await admin`SELECT pg_conf_load_time() AS at`)[0]?.["at"] <= before?.["at"]);
    }
    return { close: async () => (await admin.end(), close()), file, set, url }
  }),
  ({ close }) => Effect.promise(close),
)

type Way = "plain" | "encrypted" | "refused"

/** How a pool connects, twice: the second connection repeats the first one's choice. */
const wayOf = (url: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<{ ssl: boolean }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`
    const more = yield* sql.withTransaction(
      sql<{ ssl: boolean }>`SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()`,
    )
    assert.deepStrictEqual(more, rows)
    return rows[0]?.ssl === true ? ("encrypted" as const) : ("plain" as const)
  }).pipe(
    Effect.provide(Sql.layer(Redacted.make(url), 2)),
    Effect.catchCause(() => Effect.succeed<Way>("refused")),
  )

describe.concurrent("a database's URL", () => {
  it.live("connects by its sslmode and sslrootcert as psql does", () =>
    Effect.gen(function* () {
      const { file, set, url } = yield* cluster
      const trusting = (name: string) => `&sslrootcert=${encodeURIComponent(file(name))}`
      const at = (host: string, query: string) => {
        const made = new URL(url)
        made.hostname = host
        return `${made.href}?${query}`
      }
      const check = Effect.fnUntraced(function* (what: string, ways: ReadonlyArray<readonly [string, Way, string?]>) {
        for (const [query, way, host = "127.0.0.1"] of ways)
          assert.strictEqual(yield* wayOf(at(host, query)), way, `${what}: ${query} at ${host}`)
      })
      yield* Effect.promise(() => set("on", "host"))
      yield* check("a database with TLS", [
        ["", "plain"],
        ["sslmode=disable", "plain"],
        ["sslmode=allow", "plain"],
        ["sslmode=prefer", "encrypted"],
        ["sslmode=require", "encrypted"],
        [`sslmode=require${trusting("ours.crt")}`, "encrypted"],
        [`sslmode=require${trusting("other.crt")}`, "refused"],
        [`sslmode=verify-ca${trusting("ours.crt")}`, "encrypted"],
        [`sslmode=verify-ca${trusting("other.crt")}`, "refused"],
        ["sslmode=verify-ca", "refused"],
        [`sslmode=verify-full${trusting("ours.crt")}`, "refused"],
        [`sslmode=verify-full${trusting("ours.crt")}`, "encrypted", "localhost"],
        ["sslmode=verify-full", "refused", "localhost"],
        ["sslrootcert=system", "refused", "localhost"],
      ])
      yield* Effect.promise(() => set("on", "hostssl"))
      yield* check("a database that wants TLS", [
        ["sslmode=disable", "refused"],
        ["sslmode=allow", "encrypted"],
        ["sslmode=prefer", "encrypted"],
      ])
      yield* Effect.promise(() => set("on", "hostnossl"))
      yield* check("a database that refuses TLS", [
        ["sslmode=allow", "plain"],
        ["sslmode=prefer", "plain"],
        ["sslmode=require", "refused"],
      ])
      yield* Effect.promise(() => set("off", "host"))
      yield* check("a database without TLS", [
        ["sslmode=allow", "plain"],
        ["sslmode=prefer", "plain"],
        ["sslmode=require", "refused"],
      ])
    }).pipe(Effect.scoped),
  )

  it.live("with TLS does not keep a session that falls silent either", () =>
    Effect.gen(function* () {
      const { set, url } = yield* cluster
      yield* Effect.promise(() => set("on", "host"))
      const relay = yield* Silence.make(url)
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`SELECT 1`
        yield* relay.silence
        const before = yield* Clock.currentTimeMillis
        assert.isTrue(Exit.isFailure(yield* Effect.exit(sql`SELECT 1`)))
        yield* sql`SELECT 1`
        assert.isBelow((yield* Clock.currentTimeMillis) - before, patience(15))
      }).pipe(Effect.provide(Sql.layer(Redacted.make(`${relay.url}?sslmode=require`))))
    }).pipe(Effect.scoped),
  )
})
