/** The servers under test as processes of their own, and the processor time each of them has used. */
import { execFileSync, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import * as Ports from "../support/Ports.ts"

export interface Served {
  readonly pid: number
  readonly url: string
  stop(): Promise<void>
}

/** What `npm run serve` tells its Node: what is measured is what is run. */
export const flags: ReadonlyArray<string> = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
).scripts.serve.match(/--\S+/gu)

/** A port nobody listens on at this moment, nor will while its program is away. */
export const freePort = () => Effect.runPromise(Ports.freePort)

/** Starts a node program and answers once it is ready at `url` or, without one, prints where it listens. */
export const start = (
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
  url?: string,
): Promise<Served> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env["PATH"] ?? "", NODE_ENV: "production", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    })
    let output = ""
    const ended = new Promise<void>((done) => child.once("exit", () => done()))
    const answers = async (at: string): Promise<void> => {
      const { ok } = await fetch(`${at}/readyz`).catch(() => ({ ok: false }))
      if (ok && child.pid !== undefined) resolve({ pid: child.pid, url: at, stop })
      else if (child.exitCode === null) setTimeout(() => void answers(at), 20)
    }
    const stop = () => (child.kill("SIGTERM"), ended)
    // Ours is asked: what it says of itself depends on its level of logging.
    if (url !== undefined) void answers(url)
    const look = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4096)
      const found = /Listening on (http\S+?)\.?\s/u.exec(output)?.[1]
      if (url === undefined && found !== undefined && child.pid !== undefined) {
        resolve({ pid: child.pid, url: found, stop })
      }
    }
    child.stdout.on("data", look)
    child.stderr.on("data", look)
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}:\n${output}`)))
    const kill = () => child.kill("SIGKILL")
    process.once("exit", kill)
    child.once("exit", () => process.off("exit", kill))
  })

/** Starts programs of this folder and ends them together; our own start.js gets its flags and its command. */
export const serving = () => {
  const served: Array<Served> = []
  return {
    serve: async (program: string, environment: Readonly<Record<string, string>>): Promise<Served> => {
      const file = fileURLToPath(new URL(program, import.meta.url))
      const args = program.endsWith("start.js") ? [...flags, file, "serve"] : [file]
      const port = environment["PORT"]
      const url = port === undefined ? undefined : `http://127.0.0.1:${port}`
      const one = await start(args, environment, url)
      served.push(one)
      return one
    },
    close: async () => {
      for (const one of served.reverse()) await one.stop()
    },
  }
}

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
