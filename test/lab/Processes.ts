/** The processes of this machine: which live, which another one has started, and what each uses. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

export interface Listed {
  readonly pid: number
  readonly parent: number
  readonly since: string
  readonly command: string
}

/** A process that has ended but was not yet reaped counts as gone. */
export const processes = (): ReadonlyArray<Listed> =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,lstart=,command="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, state, since = "", command = ""] =
        /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(.*)$/u.exec(line) ?? []
      return state?.startsWith("Z") === false ? [{ pid: Number(pid), parent: Number(parent), since, command }] : []
    })

export const isAlive = (pid: number) => processes().some((one) => one.pid === pid)

const ticksPerSecond = (() => {
  try {
    return Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }))
  } catch {
    return 100
  }
})()

/** Seconds of processor time a process has used, NaN where the system has no /proc. */
export const cpuSeconds = (pid: number): number => {
  try {
    // The name in parentheses may hold spaces; user and system time are the 12th and 13th fields after it.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
  } catch {
    return Number.NaN
  }
}
