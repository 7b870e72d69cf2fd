// A program that ends with its scope, and also when this process is killed.
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { createRequire } from "node:module"
import { Config, Effect, FileSystem, Path, Schedule, Schema, type Scope } from "effect"

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

const exited = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

const awaitExit = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const done = () => resume(Effect.void)
    if (exited(child)) return done()
    child.once("exit", done)
    return Effect.sync(() => child.off("exit", done))
  })

const stopChild = Effect.fnUntraced(function* (child: ChildProcess, stop: Stop) {
  if (exited(child)) return
  child.kill(stop.signal)
  yield* awaitExit(child).pipe(
    Effect.timeoutOrElse({
      duration: stop.patienceMs,
      orElse: () => Effect.sync(() => child.kill(stop.force)).pipe(Effect.andThen(awaitExit(child))),
    }),
  )
})

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
  readonly hear?: (text: string) => void
}): Effect.fn.Return<{ readonly pid: number; readonly ready: RegExpExecArray }, ProcessError, Scope.Scope> {
  let output = ""
  const failed = (reason: string) => new ProcessError({ message: `${options.command}: ${reason}\n${output}`.trim() })
  const child = yield* Effect.acquireRelease(
    Effect.callback<ChildProcess, ProcessError>((resume) => {
      const child = spawn(options.command, options.args, {
        ...options.identity,
        ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
        env: { ...process.env, LC_ALL: "C" },
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      })
      // Read for as long as the program lives: a full pipe would block it.
      const keep = (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-8192)
        options.hear?.(chunk.toString())
      }
      child.stdout.on("data", keep)
      child.stderr.on("data", keep)
      child.once("spawn", () => resume(Effect.succeed(child)))
      child.once("error", (error) => resume(Effect.fail(failed(error.message))))
    }),
    (child) => stopChild(child, options.stop),
  )
  const pid = child.pid
  if (pid === undefined) return yield* failed("has no process id")
  if (process.platform !== "win32") {
    const shell = yield* watchdog(pid, options.stop)
    child.once("exit", () => shell.kill("SIGKILL"))
  }
  const ready = yield* Effect.callback<RegExpExecArray, ProcessError>((resume) => {
    const settle = () => {
      const match = options.ready.exec(output)
      if (match !== null) resume(Effect.succeed(match))
      else if (exited(child)) resume(Effect.fail(failed("ended before it was ready")))
    }
    child.stdout?.on("data", settle)
    child.stderr?.on("data", settle)
    child.once("close", settle)
    settle()
    return Effect.sync(() => {
      child.stdout?.off("data", settle)
      child.stderr?.off("data", settle)
      child.off("close", settle)
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: "2 minutes",
      orElse: () => Effect.fail(failed("was not ready in time")),
    }),
  )
  return { pid, ready }
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
 * Ends a program that an earlier, killed process of ours left behind. The process id may belong to another program by
 * now, so its command line must hold all of `marks`.
 */
export const endLeftover = Effect.fn("OwnedProcess.endLeftover")(function* (
  pid: number,
  marks: ReadonlyArray<string>,
  stop: Stop,
) {
  const alive = Effect.map(commandLine(pid), (line) => marks.every((mark) => line.includes(mark)))
  const signal = (name: NodeJS.Signals) => Effect.ignore(Effect.try(() => process.kill(pid, name)))
  const gone = alive.pipe(Effect.repeat({ schedule: Schedule.spaced("20 millis"), while: (still) => still }))
  if (!(yield* alive)) return
  yield* signal(stop.signal)
  yield* gone.pipe(
    Effect.timeoutOrElse({
      duration: stop.patienceMs,
      orElse: () => Effect.andThen(signal(stop.force), gone),
    }),
  )
})

export const searchPath = Effect.gen(function* () {
  const value = yield* Config.String("PATH").pipe(Config.withDefault(""))
  return value.split(process.platform === "win32" ? ";" : ":").filter((folder) => folder !== "")
})

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
