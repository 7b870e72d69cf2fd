/** The processes of this machine: which live, and which another one has started. */
import { execFileSync } from "node:child_process"

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

export const descendantsOf = (pid: number): ReadonlyArray<Listed> => {
  const all = processes()
  const below = (parent: number): ReadonlyArray<Listed> =>
    all.flatMap((one) => (one.parent === parent ? [one, ...below(one.pid)] : []))
  return below(pid)
}

export const isAlive = (pid: number) => processes().some((one) => one.pid === pid)
