/** A server to be attacked: a process of its own over a real PostgreSQL, behind a trusted proxy that may name any address. */
import { readdir } from "node:fs/promises"
import * as Databases from "../../lab/Databases.ts"
import * as Ledger from "../../lab/Ledger.ts"
import { residentMegabytes } from "../../lab/ProcessUse.ts"
import { serving, soldBy } from "../../lab/server/Programs.ts"

export interface Sample {
  /** Resident, in MB. */
  readonly resident: number
  /** Open files and sockets. */
  readonly files: number
}

/** Maximum resident memory in MB. */
export const memoryBound = 350

/** `stones` are sold before it starts. */
export const open = async (stones: number) => {
  const databases = await Databases.open()
  const ledger = Ledger.open(databases.ours)
  const { close, serve } = serving()
  await ledger.seed(stones, 256)
  const environment = {
    ...soldBy(await serve("lab/proxy/Doubles.ts", {})),
    DATABASE_URL: databases.ours,
    TRUSTED_PROXIES: "127.0.0.1",
    RATE_LIMIT_SECRET: "hostile-input-is-counted-by-this-secret",
  }
  const { pid, url } = await serve("../src/start.js", environment)
  return {
    url,
    pid,
    sample: async (): Promise<Sample> => ({
      resident: residentMegabytes(pid),
      files: (await readdir(`/proc/${pid}/fd`)).length,
    }),
    close: async () => {
      await close()
      await ledger.close()
      await databases.close()
    },
  }
}

export type Target = Awaited<ReturnType<typeof open>>
