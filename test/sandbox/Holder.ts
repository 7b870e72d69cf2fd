// The shared parts of the sandbox's tests: a folder of their own, a process that is killed while it holds something, and whether a process lives.
import { spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Schedule } from "effect"

/** Starts hold.ts, waits until it holds, and kills it with SIGKILL; the process that it leaves behind, by `pidOf` its place. */
export const holdAndKill = (kind: "chain" | "database", place: string, pidOf: (place: string) => number) =>
  Effect.callback<number>((resume) => {
    const script = join(import.meta.dirname, "hold.ts")
    const child = spawn(process.execPath, [script, kind, place], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    let held = 0
    child.stdout.once("data", () => {
      // Before the kill: its remaining processes end soon after it, and PostgreSQL then forgets its process id.
      held = pidOf(place)
      child.kill("SIGKILL")
    })
    child.once("exit", (_code, signal) =>
      resume(signal === "SIGKILL" ? Effect.succeed(held) : Effect.die(new Error("did not come to hold"))),
    )
  })

/** A process that has ended but was not yet reaped counts as gone. */
export const isAlive = (pid: number) =>
  Effect.sync(() => {
    if (process.platform !== "linux") {
      const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" })
      return stdout.trim() !== "" && !stdout.startsWith("Z")
    }
    // Read without a look before: it may end between the two.
    try {
      return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
    } catch {
      return false
    }
  })

/** Waits until a process is gone; the test's own timeout is the limit. */
export const awaitGone = (pid: number) =>
  isAlive(pid).pipe(Effect.repeat({ schedule: Schedule.spaced("20 millis"), while: (alive) => alive }))
