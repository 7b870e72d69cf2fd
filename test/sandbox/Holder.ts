// A process that is killed while it holds something of the sandbox, and its end.
import { join } from "node:path"
import { Effect } from "effect"
import { until } from "../lab/Eventually.ts"
import { run } from "../lab/Process.ts"
import { isAlive } from "../lab/Processes.ts"

/** Starts hold.ts, waits until it holds, and kills it with SIGKILL; the process that it leaves behind, by `pidOf` its place. */
export const holdAndKill = (kind: "chain" | "database", place: string, pidOf: (place: string) => number) =>
  Effect.promise(async () => {
    const holder = run([join(import.meta.dirname, "hold.ts"), kind, place], { env: process.env })
    await holder.says("holding")
    // Before the kill: its remaining processes end soon after it, and PostgreSQL then forgets its process id.
    const held = pidOf(place)
    await holder.kill()
    return held
  })

/** Waits until a process is gone. */
export const awaitGone = (pid: number) =>
  Effect.sync(() => isAlive(pid)).pipe(until(`process ${pid} stays`, (alive) => !alive))
