/** A server to be attacked: a process of its own over a real PostgreSQL, behind a trusted proxy that may name any address. */
import { readdir } from "node:fs/promises"
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

export interface Target {
  readonly url: string
  /** Of the server's process. */
  readonly pid: number
  sample(): Promise<Sample>
  close(): Promise<void>
}

/** MB of resident memory at most. */
export const memoryBound = 350

/** `stones` are sold before it starts; `further` flags are told to its Node. */
export const open = async (stones: number, further: ReadonlyArray<string>): Promise<Target> => {
  const databases = await Databases.open()
  const ledger = Ledger.open(databases.ours)
  const { close, serve } = serving()
  await ledger.seed(stones, 256)
  const doubles = await serve("lab/proxy/Doubles.ts", {})
  const port = await takePort()
  const url = `http://127.0.0.1:${port}`
  const server = await start(
    [...flags, ...further, fileURLToPath(new URL("../../../src/start.js", import.meta.url)), "serve"],
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
    },
    url,
  )
  return {
    url,
    pid: server.pid,
    sample: async () => ({
      resident: residentMegabytes(server.pid),
      files: (await readdir(`/proc/${server.pid}/fd`)).length,
    }),
    close: async () => {
      await server.stop()
      await close()
      await ledger.close()
      await databases.close()
    },
  }
}
