// A program that ends with its scope, and also when this process is killed.
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { createRequire } from "node:module"
import { Config, Deferred, Effect, FileSystem, Path, Schedule, Schema } from "effect"

/** The program could not be started, or ended before it was ready. `message` has the end of its output. */
export class ProcessError extends Schema.TaggedError<ProcessError>()("ProcessError", {
  message: Schema.String,
}) {}

/** The user a program runs as; empty means our own. */
export interface Identity {
  readonly uid?: number
  readonly gid?: number
}

/** The signal that ends a program, and the one that follows after `patienceMs`. */
export interface Stop {
  readonly signal: NodeJS.Signals
  readonly force: NodeJS.Signals
  readonly patienceMs: number
}

const messageOf = (cause: unknown) => (cause instanceof Error ? cause.message : String(cause))

export const run = (
  command: string,
  args: ReadonlyArray<string>,
  options: Identity & { readonly cwd?: string } = {},
): Effect.Effect<string, ProcessError> =>
  Effect.callback((resume) => {
    const env = { ...process.env, LC_ALL: "C" }
    execFile(command, args, { ...options, env, encoding: "utf8" }, (error, stdout, stderr) => {
      resume(
        error === null
          ? Effect.succeed(stdout)
          : Effect.fail(new ProcessError({ message: stderr.trim() || error.message })),
      )
    })
  })

/** Sends the first signal, and the second if the program stays. */
const ended = <R>(
  signal: (name: NodeJS.Signals) => Effect.Effect<unknown>,
  gone: Effect.Effect<unknown, never, R>,
  stop: Stop,
) =>
  Effect.andThen(
    signal(stop.signal),
    Effect.timeoutOrElse(gone, {
      duration: stop.patienceMs,
      orElse: () => Effect.andThen(signal(stop.force), gone),
    }),
  )

const stopChild = (child: ChildProcess, stop: Stop) => {
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  const gone = Effect.promise(async (signal) => isGone() || (await once(child, "exit", { signal })))
  return ended((name) => Effect.sync(() => isGone() || child.kill(name)), gone, stop)
}

// A process that got SIGKILL cannot run anything, but the kernel closes its end of this pipe, and the shell then acts.
const watchdog = (pid: number, stop: Stop) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn("/bin/sh", ["-c", `read -r _; kill -s ${stop.signal.slice(3)} ${pid}`], {
        detached: true,
        stdio: ["pipe", "ignore", "ignore"],
      }).on("error", () => {}),
    ),
    (shell) => Effect.sync(() => shell.kill("SIGKILL")),
  )

/**
 * Starts a program and returns its process id and the match once its output matches `ready`. It has its own process
 * group: a Ctrl-C in the terminal reaches only us, and we end the program last.
 */
export const start = Effect.fn("OwnedProcess.start")(function* (options: {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly ready: RegExp
  readonly stop: Stop
  readonly identity?: Identity
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly hear?: (text: string) => void
}) {
  const { args, command, cwd, env: more, hear, identity, stop } = options
  let output = ""
  const failed = (reason: string) => new ProcessError({ message: `${command}: ${reason}\n${output}`.trim() })
  const ready = yield* Deferred.make<RegExpExecArray, ProcessError>()
  const child = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const env = { ...process.env, LC_ALL: "C", ...more }
        const spawned = spawn(command, args, {
          ...identity,
          ...(cwd === undefined ? {} : { cwd }),
          env,
          detached: true,
          stdio: ["ignore", "pipe", "pipe"],
        })
        // Read for as long as the program lives: a full pipe would block it.
        const keep = (chunk: Buffer) => {
          output = (output + chunk.toString()).slice(-8192)
          hear?.(chunk.toString())
          const match = options.ready.exec(output)
          if (match !== null) Deferred.doneUnsafe(ready, Effect.succeed(match))
        }
        spawned.stdout.on("data", keep)
        spawned.stderr.on("data", keep)
        spawned.once("close", () => Deferred.doneUnsafe(ready, Effect.fail(failed("ended before it was ready"))))
        await once(spawned, "spawn")
        return spawned
      },
      catch: (cause) => failed(messageOf(cause)),
    }),
    (spawned) => stopChild(spawned, stop),
  )
  const { pid = 0 } = child
  const shell = yield* watchdog(pid, stop)
  child.once("exit", () => shell.kill("SIGKILL"))
  const late = Effect.suspend(() => Effect.fail(failed("was not ready in time")))
  return {
    pid,
    ready: yield* Effect.timeoutOrElse(Deferred.await(ready), { duration: "2 minutes", orElse: () => late }),
  }
})

const commandLine = Effect.fnUntraced(function* (pid: number) {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.readFileString(`/proc/${pid}/cmdline`).pipe(
    Effect.map((line) => line.replaceAll("\0", " ")),
    Effect.catch(() => run("ps", ["-ww", "-o", "command=", "-p", String(pid)])),
    Effect.orElseSucceed(() => ""),
  )
})

/**
 * Ends a program that an earlier, killed process of ours left behind, and removes its pid file. The process id may belong
 * to another program by now, so its command line must hold all of `marks`.
 */
export const endLeftover = Effect.fn("OwnedProcess.endLeftover")(function* (
  pidFile: string,
  marks: ReadonlyArray<string>,
  stop: Stop,
) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.orElseSucceed(fs.readFileString(pidFile), () => "")
  const pid = Number(text.split("\n")[0])
  if (!Number.isSafeInteger(pid) || pid < 2) return
  const alive = Effect.map(commandLine(pid), (line) => marks.every((mark) => line.includes(mark)))
  const gone = alive.pipe(Effect.repeat({ schedule: Schedule.spaced("20 millis"), while: (still) => still }))
  if (yield* alive) {
    yield* ended((name) => Effect.ignore(Effect.try(() => process.kill(pid, name))), gone, stop)
  }
  yield* fs.remove(pidFile, { force: true })
})

export const searchPath = Config.String("PATH").pipe(
  Config.withDefault(""),
  Config.map((value) => value.split(":").filter((folder) => folder !== "")),
)

/**
 * A file inside a package that `parent` depends on for this platform, in any layout of `node_modules`. `entry` is the
 * path that the package exports; `file` is relative to it.
 */
export const packageFile = Effect.fnUntraced(function* (parent: string, entry: string, file: string) {
  const path = yield* Path.Path
  return yield* Effect.try({
    try: () => {
      const near = createRequire(createRequire(import.meta.url).resolve(parent))
      return path.join(path.dirname(near.resolve(entry)), file)
    },
    catch: (cause) => new ProcessError({ message: messageOf(cause) }),
  })
})
