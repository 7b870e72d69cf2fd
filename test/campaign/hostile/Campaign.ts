/** `npm run campaign -- hostile`: strangers against a real server, whose memory and open files are watched. */
import { readdir } from "node:fs/promises"
import * as Databases from "../../lab/Databases.ts"
import * as Ledger from "../../lab/Ledger.ts"
import { cpuSeconds, residentMegabytes } from "../../lab/Processes.ts"
import { serving, soldBy } from "../../lab/server/Programs.ts"
import { attack } from "../../lab/hostile/Attack.ts"
import type { Outcome, Run } from "../Run.ts"

/** Maximum resident memory in MB. */
const memoryBound = 350

/** A process of its own over a real PostgreSQL, behind a trusted proxy that may name any address; it has sold so many stones. */
const open = async (stones: number) => {
  const databases = await Databases.open()
  const ledger = Ledger.open(databases.ours)
  const { close, serve } = serving()
  await ledger.seed(stones, 256)
  const environment = {
    ...soldBy(await serve("lab/proxy/Doubles.ts", {})),
    DATABASE_URL: databases.ours,
    TRUSTED_PROXIES: "127.0.0.1",
  }
  const { pid, url } = await serve("../src/start.js", environment)
  return {
    url,
    pid,
    close: async () => {
      await close()
      await ledger.close()
      await databases.close()
    },
  }
}

/** Milliseconds: a million requests take minutes, and an answer that takes longer than this is none. */
const patience = 60_000

/** Concurrent connections of the attack, and requests between two samples of the server's memory. */
const connections = 16
const every = 10_000

/** Until so many requests are done caches fill. */
const warmAfter = 100_000

export const hostile = async ({ isOver, log, seed, size }: Run, stones: number): Promise<Outcome> => {
  const target = await open(stones)
  const samples: Array<{ readonly done: number; readonly resident: number; readonly files: number }> = []
  const look = async (done: number) => {
    const resident = residentMegabytes(target.pid)
    const files = (await readdir(`/proc/${target.pid}/fd`)).length
    samples.push({ done, resident, files })
    log(`${done} requests: ${resident.toFixed(0)} MB resident, ${files} open files`)
  }
  await look(0)
  let next = every
  const progress = async (done: number) => {
    if (done < next) return
    next += every
    await look(done)
  }
  const report = await attack({
    url: target.url,
    requests: size,
    seed: String(seed),
    connections,
    patience,
    isOver,
    progress,
  })
  await look(report.requests)
  const theirs = cpuSeconds(target.pid)
  await target.close()

  const violations = [...report.faults]
  const warm = samples.find(({ done }) => done >= warmAfter)
  const last = samples.at(-1)
  const highest = Math.max(...samples.map(({ resident }) => resident))
  if (highest > memoryBound) violations.push(`memory: ${highest.toFixed(0)} MB, above ${memoryBound}`)
  if (warm !== undefined && last !== undefined) {
    const since = `after ${warm.done} requests, and after ${last.done}`
    if (last.resident > warm.resident * 1.1)
      violations.push(`memory: ${warm.resident.toFixed(0)} MB ${since} ${last.resident.toFixed(0)} MB`)
    if (last.files > warm.files + 8) violations.push(`open files: ${warm.files} ${since} ${last.files}`)
  }
  const counts = {
    requests: report.requests,
    "of them no HTTP": report.broken,
    "answers held against the document": report.judged,
    "MB at most": Math.round(highest),
    "processor seconds of the server": Math.round(theirs),
  }
  return { counts, violations }
}
