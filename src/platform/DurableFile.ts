/** Atomic, durable file writes that survive a power failure. */
import { randomUUID } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { Effect, FileSystem, type PlatformError, Schema } from "effect"

/** A file cannot be used as configured. The message is a sentence that names no path. */
export class FileUnfit extends Schema.TaggedError<FileUnfit>()("FileUnfit", { message: Schema.String }) {}

/** The system's words without the path: `EACCES: permission denied`. */
export const reasonOf = ({ reason }: PlatformError.PlatformError): string =>
  reason.cause instanceof Error ? reason.cause.message.replace(/, .*$/su, "") : reason._tag

const unfit = <A, R>(use: Effect.Effect<A, FileUnfit | PlatformError.PlatformError, R>) =>
  Effect.catchTag(use, "PlatformError", (error) => new FileUnfit({ message: `The system says ${reasonOf(error)}.` }))

const regular = Effect.fnUntraced(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  if ((yield* files.stat(file)).type !== "File") return yield* new FileUnfit({ message: "It is no file." })
})

export const readText = Effect.fn("DurableFile.readText")(function* (file: string) {
  yield* regular(file)
  return yield* (yield* FileSystem.FileSystem).readFileString(file)
}, unfit)

/** Replaces a file, which its owner alone reads where no other mode is named. Durable when it returns. */
export const write = Effect.fn("DurableFile.write")(function* (
  file: string,
  content: string | Uint8Array,
  mode = 0o600,
) {
  const files = yield* FileSystem.FileSystem
  // A unique name: concurrent writers replace the file as a whole instead of mixing their content.
  const fresh = `${file}.${randomUUID()}.new`
  yield* Effect.gen(function* () {
    const opened = yield* files.open(fresh, { flag: "wx", mode })
    yield* opened.writeAll(typeof content === "string" ? new TextEncoder().encode(content) : content)
    yield* opened.sync
    yield* files.rename(fresh, file)
  }).pipe(Effect.onError(() => Effect.ignore(files.remove(fresh, { force: true }))))
  // The rename is durable once the folder is synced.
  const folder = yield* files.open(dirname(file), { flag: "r" })
  yield* folder.sync
}, Effect.scoped)

/** Whether something is mounted at a path; false where the system does not list its mounts as Linux does. */
const isMount = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  const mounts = yield* Effect.orElseSucceed(files.readFileString("/proc/self/mountinfo"), () => "")
  const places = mounts.split("\n").map((line) => line.split(" ")[4] ?? "")
  return places.some((place) => place.replaceAll("\\040", " ") === path)
})

/** Fails where `write` would, and leaves the file as it is: writes and renames a file of its own beside it. */
export const rehearse = Effect.fn("DurableFile.rehearse")(function* (file: string) {
  const files = yield* FileSystem.FileSystem
  if (yield* files.exists(file)) yield* regular(file)
  const folder = yield* files.realPath(dirname(file))
  if (yield* isMount(join(folder, basename(file))))
    return yield* new FileUnfit({ message: "It is a mount, which cannot be replaced. Mount its folder." })
  const fresh = `${file}.${randomUUID()}.check`
  const renamed = `${fresh}.new`
  yield* files
    .writeFileString(fresh, "x".repeat(4096))
    .pipe(
      Effect.andThen(files.rename(fresh, renamed)),
      Effect.ensuring(Effect.ignore(Effect.all([fresh, renamed].map((path) => files.remove(path, { force: true }))))),
    )
}, unfit)
