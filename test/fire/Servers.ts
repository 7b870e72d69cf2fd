/** Our own servers as processes that are killed, stopped and started again, each at the port it was given first. */
import { type ChildProcess, spawn } from "node:child_process"
import { appendFileSync, existsSync } from "node:fs"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { freePort } from "../bench/Processes.ts"

const program = fileURLToPath(new URL("../../src/start.js", import.meta.url))

/** Where Debian's `libfaketime` is. */
const fakeTime = ["x86_64", "aarch64"]
  .map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file))

export const canSkewClocks = fakeTime !== undefined

export interface ServerOptions {
  readonly environment: Readonly<Record<string, string>>
  /** Its output goes there. */
  readonly folder: string
  readonly name: string
  /** By how many seconds its clock is ahead; needs libfaketime where it is not 0. */
  readonly skewSeconds: number
}

export interface Server {
  readonly name: string
  readonly port: number
  readonly url: string
  readonly start: () => void
  readonly isRunning: () => boolean
  /** Waits until it says that it is ready. */
  readonly ready: (patienceMs: number) => Promise<boolean>
  /** SIGKILL. */
  readonly kill: () => Promise<void>
  /** SIGTERM; whether it has ended by itself in a minute. */
  readonly stop: () => Promise<boolean>
  /** How often it has ended although nobody told it to. */
  readonly crashes: () => number
}

export const server = async ({ environment, folder, name, skewSeconds }: ServerOptions): Promise<Server> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let child: ChildProcess | undefined
  let ended: Promise<void> = Promise.resolve()
  let isMeant = false
  let crashes = 0
  const skew =
    skewSeconds === 0 || fakeTime === undefined
      ? {}
      : {
          LD_PRELOAD: fakeTime,
          FAKETIME: `${skewSeconds > 0 ? "+" : ""}${skewSeconds}`,
          FAKETIME_DONT_FAKE_MONOTONIC: "1",
          FAKETIME_NO_CACHE: "1",
        }
  const start = () => {
    isMeant = false
    const one = spawn(process.execPath, [program, "serve"], {
      env: {
        PATH: process.env["PATH"] ?? "",
        NODE_ENV: "production",
        HOST: "127.0.0.1",
        PORT: String(port),
        ...environment,
        ...skew,
      },
      stdio: ["ignore", "pipe", "pipe"],
    })
    child = one
    const hear = (chunk: Buffer) => appendFileSync(join(folder, `${name}.log`), chunk)
    one.stdout.on("data", hear)
    one.stderr.on("data", hear)
    ended = new Promise((resolve) => {
      one.once("exit", () => {
        if (!isMeant) crashes += 1
        if (child === one) child = undefined
        resolve()
      })
    })
  }
  const kill = async () => {
    isMeant = true
    child?.kill("SIGKILL")
    await ended
  }
  process.once("exit", () => child?.kill("SIGKILL"))
  return {
    name,
    port,
    url,
    start,
    isRunning: () => child !== undefined,
    ready: async (patienceMs) => {
      for (const end = performance.now() + patienceMs; performance.now() < end; await setTimeout(50)) {
        const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
        await answer?.body?.cancel()
        if (answer?.ok === true) return true
      }
      return false
    },
    kill,
    stop: async () => {
      isMeant = true
      child?.kill("SIGTERM")
      const inTime = await Promise.race([ended.then(() => true), setTimeout(60_000, false, { ref: false })])
      if (!inTime) await kill()
      return inTime
    },
    crashes: () => crashes,
  }
}
