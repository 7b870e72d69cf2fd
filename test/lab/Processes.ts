/** Which processes of this machine live. */
import { spawnSync } from "node:child_process"

/** A process that has ended but was not yet reaped counts as gone. */
export const isAlive = (pid: number) => {
  const state = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" }).stdout
  return state !== "" && !state.startsWith("Z")
}
