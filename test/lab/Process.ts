/** A program as a process of its own: its output, its exit code, and a SIGKILL when this process ends before it. */
import { spawn } from "node:child_process"
import { tmpdir } from "node:os"

/** The program that starts every command of ours. */
export const main = new URL("../../src/start.js", import.meta.url).pathname

export interface Ended {
  /** Null where a signal ended it. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export type Running = ReturnType<typeof run>

interface RunOptions {
  readonly env: NodeJS.ProcessEnv
  readonly command?: string
  readonly cwd?: string
  /** Standard input; closed if absent. */
  readonly stdin?: string
  /** Receives its output as it arrives. */
  readonly hear?: (text: string) => void
}

/** Starts a program, Node unless another `command` is named. */
export const run = (args: ReadonlyArray<string>, { command = process.execPath, cwd, env, hear, stdin }: RunOptions) => {
  const child = spawn(command, args, {
    env: { TMPDIR: tmpdir(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  })
  const streams = { stdout: "", stderr: "" }
  let output = ""
  const looks = new Set<() => void>()
  for (const name of ["stdout", "stderr"] as const) {
    // A character of several bytes may arrive in two parts.
    child[name]?.setEncoding("utf8").on("data", (part: string) => {
      streams[name] += part
      output += part
      hear?.(part)
      for (const look of looks) look()
    })
  }
  // It may have ended before it reads.
  child.stdin?.on("error", () => {}).end(stdin)
  const leave = () => child.kill("SIGKILL")
  process.once("exit", leave)
  const exited = new Promise<void>((resolve, reject) => {
    child.once("error", reject).once("exit", () => resolve())
  }).finally(() => process.off("exit", leave))
  exited.catch(() => {})
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, ...streams })))
  return {
    child,
    pid: child.pid ?? 0,
    /** Both streams, in the order in which they came. */
    output: () => output,
    signal: (name: NodeJS.Signals) => void child.kill(name),
    /** SIGKILL, and waits until nothing of it runs. */
    kill: () => {
      child.kill("SIGKILL")
      return exited
    },
    /** Resolves when the process has exited. */
    exited,
    /** Resolves when it has exited and all of its output was read. */
    ended,
    /** Waits until it has written this so often, on stdout or stderr; answers all it has written so far. */
    says: (text: string, times = 1) =>
      new Promise<string>((resolve, reject) => {
        const look = () => {
          if (output.split(text).length <= times) return
          looks.delete(look)
          resolve(output)
        }
        looks.add(look)
        look()
        exited.catch(reject)
        void ended.then(({ code }) => reject(new Error(`it never said ${text}, and ended with ${code}: ${output}`)))
      }),
  }
}
