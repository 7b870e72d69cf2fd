/** The processor time and memory of a process. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

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

/** Resident memory of a process in MB, NaN where the system has no /proc. */
export const residentMegabytes = (pid: number): number => {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
    return Number(kilobytes) / 1024
  } catch {
    return Number.NaN
  }
}
