/** `npm run campaign -- hostile` and `-- flood`: strangers against a real server, whose memory and open files are watched. */
import { cpuSeconds } from "../../lab/ProcessUse.ts"
import { type Outcome, type Run, tableOf } from "../Run.ts"
import { attack } from "./Attack.ts"
import { flood } from "./Flood.ts"
import { memoryBound, open, type Sample } from "./Target.ts"

export interface HostileOptions {
  readonly connections: number
  /** Sold before it begins. */
  readonly stones: number
  /** Told to the server's Node. */
  readonly node: ReadonlyArray<string>
  /** Requests between two looks at the server's memory. */
  readonly every: number
}

/** Milliseconds: a million requests take minutes, and an answer that takes longer than this is none. */
const patience = 60_000

/** Until so many requests are done caches fill. */
const warmAfter = 100_000

export const hostile = async (run: Run, { connections, every, node, stones }: HostileOptions): Promise<Outcome> => {
  const { isOver, log, seed, size } = run
  const target = await open(stones, node)
  const samples: Array<Sample & { readonly done: number }> = []
  const look = async (done: number) => {
    const sample = { done, ...(await target.sample()) }
    samples.push(sample)
    log(`${done} requests: ${sample.resident.toFixed(0)} MB resident, ${sample.files} open files`)
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
  const { external, heap } = await target.used()
  log(`after a collection ${heap.toFixed(0)} MB in use, ${external.toFixed(0)} MB beside`)
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
    "different bodies": report.bodies,
    "MB at most": Math.round(highest),
    "processor seconds of the server": Math.round(theirs),
  }
  const tables = {
    "Answers by status": tableOf(report.statuses),
    "Not available, by reason": tableOf(report.unavailable),
  }
  return { counts, tables, violations }
}

export const flooding = async ({ log, size }: Run, connections: number): Promise<Outcome> => {
  const target = await open(0)
  const { counts, faults } = await flood(target, { connections, addresses: size, patience, log })
  await target.close()
  return { counts, violations: faults }
}
