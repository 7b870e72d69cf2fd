// The data folder of a sandbox, locked by one sandbox at a time; a second one learns the owner and changes nothing.
import { DatabaseSync } from "node:sqlite"
import { Context, Effect, FileSystem, Layer, Path, Schedule, Schema } from "effect"
import { listen } from "../server/config/Config.ts"
import { sandbox } from "../server/config/Table.ts"

const Owner = Schema.Struct({ pid: Schema.Int, url: Schema.String })
const OwnerFile = Schema.fromJsonString(Owner)

/** A running sandbox has this folder; `owner` is absent when it is unknown. */
export class FolderInUse extends Schema.TaggedError<FolderInUse>()("FolderInUse", {
  folder: Schema.String,
  owner: Schema.optionalKey(Owner),
}) {}

/** The folder cannot be locked, for instance because it belongs to another user. */
export class FolderError extends Schema.TaggedError<FolderError>()("FolderError", { message: Schema.String }) {}

const isBusy = (error: unknown) => error instanceof Error && "errcode" in error && Number(error.errcode) % 256 === 5

/** SQLite's lock on an empty file: exactly one process holds it, and the system frees it when its holder dies. */
const lock = Effect.fn("DataFolder.lock")(function* (folder: string) {
  const path = yield* Path.Path
  const failed = (cause: unknown) =>
    isBusy(cause)
      ? new FolderInUse({ folder })
      : new FolderError({ message: `${folder} cannot be locked: ${cause instanceof Error ? cause.message : cause}` })
  const database = yield* Effect.acquireRelease(
    Effect.try({
      try: () => new DatabaseSync(path.join(folder, "sandbox.lock"), { timeout: 0 }),
      catch: failed,
    }),
    (opened) => Effect.sync(() => opened.close()),
  )
  // No journal file: after a kill, one would need a rollback before the next lock.
  yield* Effect.try({
    try: () => database.exec("PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE"),
    catch: failed,
  })
})

const ownerFile = (folder: string) => Effect.map(Path.Path, (path) => path.join(folder, "sandbox.json"))

/** Written atomically, because other processes read it. */
const sign = Effect.fn("DataFolder.sign")(function* (folder: string, url: string) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* ownerFile(folder)
  yield* fs.writeFileString(`${file}.half`, JSON.stringify({ pid: process.pid, url }))
  yield* fs.rename(`${file}.half`, file)
})

/** The running sandbox that signed the folder. */
const livingIn = Effect.fn("DataFolder.livingIn")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(yield* ownerFile(folder)).pipe(
    Effect.flatMap(Schema.decodeEffect(OwnerFile)),
    Effect.tap(({ pid }) => Effect.try(() => process.kill(pid, 0))),
  )
})

const dataDir = Effect.zipWith(Path.Path, sandbox.dataDir, (path, folder) => path.resolve(folder))

/** The sandbox that runs on this folder, for commands beside it. */
export const processesHere = Effect.option(Effect.flatMap(dataDir, livingIn))

/** The owner of a locked folder. A new owner signs a moment after locking; until then the name may be a dead one's. */
const ownerOf = (folder: string) =>
  livingIn(folder).pipe(
    Effect.retry(Schedule.spaced("50 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))),
    Effect.map((owner) => ({ owner })),
    Effect.orElseSucceed(() => ({})),
  )

const make = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { publicUrl } = yield* listen
  const folder = yield* dataDir
  yield* fs.makeDirectory(folder, { recursive: true })
  yield* Effect.catchTag(lock(folder), "FolderInUse", () =>
    Effect.flatMap(ownerOf(folder), (owner) => new FolderInUse({ folder, ...owner })),
  )
  yield* sign(folder, publicUrl)
  return { folder }
})

/** The folder that only this sandbox uses, absolute, until its layer ends. */
export class DataFolder extends Context.Service<DataFolder>()("spirit-altar/sandbox/DataFolder", { make }) {
  static readonly layer = Layer.effect(DataFolder, DataFolder.make)

  /** The folder that the process which started this one has locked. */
  static readonly ofParent = Layer.effect(
    DataFolder,
    Effect.map(dataDir, (folder) => DataFolder.of({ folder })),
  )
}
