/** A server to be attacked: a process of its own over a real PostgreSQL, behind a trusted proxy that may name any address. */
import { readFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as Databases from "../../lab/Databases.ts"
import * as Ledger from "../../lab/Ledger.ts"
import { flags, serving, start } from "../../lab/server/Programs.ts"
import { takePort } from "../../lab/Ports.ts"
import { residentMegabytes } from "../../lab/ProcessUse.ts"

export interface Sample {
  /** Resident, in MB. */
  readonly resident: number
  /** Open files and sockets. */
  readonly files: number
}

/** In MB, after a collection: of JavaScript, and beside it. */
export interface Used {
  readonly heap: number
  readonly external: number
}

export interface Target {
  readonly url: string
  /** Of the server's process. */
  readonly pid: number
  sample(): Promise<Sample>
  /** Collects, so what is resident afterwards is not what it would have been. */
  used(): Promise<Used>
  close(): Promise<void>
}

/** MB of resident memory at most. */
export const memoryBound = 350

const megabytes = 1024 * 1024

/** `stones` are sold before it starts; `further` flags are told to its Node. */
export const open = async (stones: number, further: ReadonlyArray<string>): Promise<Target> => {
  const databases = await Databases.open()
  const ledger = Ledger.open(databases.ours)
  const { close, serve } = serving()
  await ledger.seed(stones, 256)
  const doubles = await serve("lab/proxy/Doubles.ts", {})
  const port = await takePort()
  const url = `http://127.0.0.1:${port}`
  const report = `${databases.folder}/memory.json`
  const server = await start(
    [
      ...flags,
      ...further,
      "--expose-gc",
      "--import",
      fileURLToPath(new URL("Probe.ts", import.meta.url)),
      fileURLToPath(new URL("../../../src/start.js", import.meta.url)),
      "serve",
    ],
    {
      PUBLIC_URL: Ledger.publicUrl,
      PAY_TO: Ledger.payTo,
      FACILITATOR_URL: doubles.url,
      X402_NETWORK: Ledger.network,
      DATABASE_URL: databases.ours,
      RPC_URL: `${doubles.url}/rpc`,
      PORT: String(port),
      TRUSTED_PROXIES: "127.0.0.1",
      RATE_LIMIT_SECRET: "hostile-input-is-counted-by-this-secret",
      LOG_LEVEL: "None",
      MEMORY_REPORT: report,
    },
    url,
  )
  const read = (): { readonly asked: number; readonly heap: number; readonly external: number } | undefined => {
    try {
      return JSON.parse(readFileSync(report, "utf8"))
    } catch {
      return undefined
    }
  }
  let asked = 0
  return {
    url,
    pid: server.pid,
    sample: async () => ({
      resident: residentMegabytes(server.pid),
      files: (await readdir(`/proc/${server.pid}/fd`)).length,
    }),
    used: async () => {
      asked += 1
      process.kill(server.pid, "SIGUSR2")
      for (let tries = 0; tries < 100 && read()?.asked !== asked; tries += 1) await setTimeout(50)
      const { external = Number.NaN, heap = Number.NaN } = read() ?? {}
      return { heap: heap / megabytes, external: external / megabytes }
    },
    close: async () => {
      await server.stop()
      await close()
      await ledger.close()
      await databases.close()
    },
  }
}
