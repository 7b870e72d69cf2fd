// What the sandbox's tests share: a folder of their own, a process that is killed while it holds something, and whether a process lives.
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schedule } from "effect"

/** A folder that every user may pass through, as PostgreSQL's must when the tests run as root. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "spirit-altar-test-"))
    chmodSync(folder, 0o755)
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
)

/** Starts hold.ts, waits until it holds, and kills it with SIGKILL. */
export const holdAndKill = (kind: "chain" | "database", place: string) =>
  Effect.callback<void>((resume) => {
    const script = join(import.meta.dirname, "hold.ts")
    const child = spawn(process.execPath, [script, kind, place], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    child.stdout.once("data", () => child.kill("SIGKILL"))
    child.once("exit", (_code, signal) =>
      resume(signal === "SIGKILL" ? Effect.void : Effect.die(new Error("did not come to hold"))),
    )
  })

/** A process that has ended but was not yet reaped counts as gone. */
export const isAlive = (pid: number) =>
  Effect.sync(() => {
    if (process.platform !== "linux") {
      const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" })
      return stdout.trim() !== "" && !stdout.startsWith("Z")
    }
    const stat = `/proc/${pid}/stat`
    return existsSync(stat) && !/\) [ZX] /.test(readFileSync(stat, "utf8"))
  })

/** Waits until a process is gone; the test's own timeout is the limit. */
export const awaitGone = (pid: number) =>
  isAlive(pid).pipe(Effect.repeat({ schedule: Schedule.spaced("20 millis"), while: (alive) => alive }))
