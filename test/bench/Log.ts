/** The cost of the transparency log: a backlog, its walk, the memory of both, and selling with and without the log. */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Integrator } from "../../src/log/Integrator.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { Publisher } from "../../src/log/Publisher.ts"
import * as Databases from "../lab/Databases.ts"
import { newFolder, ownTemporaryFolder } from "../lab/Folders.ts"
import { main, run } from "../lab/Process.ts"
import { endOnSignals } from "../lab/Program.ts"
import { cpuSeconds, residentMegabytes } from "../lab/Processes.ts"
import { serving, soldBy } from "../lab/server/Programs.ts"
import { median } from "./Figures.ts"
import { fire, type Shot } from "./Load.ts"
import { newPayer, offerOf, signMany } from "./Payments.ts"
import { type Side, slice, takeTurns } from "./Rounds.ts"
import { lay, logOn, servicesOf, signer } from "./Stones.ts"

const say = (text: string) => Effect.sync(() => console.log(`  ${text}`))

/** Resident memory of a process while it works: after a tenth of the time, when it is warm, at most and at last. */
const memoryOf = (pid: number) => {
  const samples: Array<number> = []
  const sample = () => void samples.push(residentMegabytes(pid))
  const timer = setInterval(sample, 200)
  return () => {
    clearInterval(timer)
    const seen = samples.filter((one) => Number.isFinite(one))
    const [warm = Number.NaN] = seen.slice(Math.floor(seen.length / 10))
    return `${Math.round(warm)} MB after a tenth, ${Math.round(Math.max(...seen))} at most, ${Math.round(seen.at(-1) ?? warm)} at last`
  }
}

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** The bytes that a collection leaves, in MB. Resident memory also follows how lazily V8 and the allocator give back. */
const heldMegabytes = () => {
  collect()
  const { external, heapUsed } = process.memoryUsage()
  return Math.round((heapUsed + external) / 2 ** 20)
}

/** A process with a heap that grows beyond this ends. */
const heapMegabytes = 128
const limited = { NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` }

/** Integrates a backlog, publishes it, and proves stones out of it. */
const backlog = Effect.fnUntraced(function* (stones: number) {
  const sql = yield* SqlClient.SqlClient
  yield* say(`laying ${stones} stones`)
  const ids = yield* lay(stones)
  const { integrate } = yield* Integrator
  const memory = memoryOf(process.pid)
  const [cpu, started] = [process.cpuUsage(), performance.now()]
  const held: Array<number> = []
  for (let done = 0, added = 1; added > 0; done += added) {
    added = yield* integrate
    if (done >= ((held.length + 1) * stones) / 10) held.push(heldMegabytes())
  }
  const seconds = (performance.now() - started) / 1000
  const used = process.cpuUsage(cpu)
  yield* Effect.flatMap(Publisher, ({ publish }) => publish)
  const inAll = (performance.now() - started) / 1000
  const resident = memory()
  const [tiles] = yield* sql<{ rows: bigint; bytes: bigint }>`
    SELECT count(*) AS rows, sum(octet_length(hashes)) AS bytes FROM log_tiles`
  const { checkpoint, proof } = yield* PublishedLog
  const { size } = yield* checkpoint
  yield* say(
    `integrated and published ${size} of ${stones} stones in ${inAll.toFixed(1)} s: ${Math.round(stones / seconds)} stones/s (wanted 10,000)`,
  )
  yield* say(
    `a stone's share: ${((used.user + used.system) / stones).toFixed(1)} µs CPU with its reads, ${(Number(tiles?.rows ?? 0) / stones).toFixed(4)} rows, ${(Number(tiles?.bytes ?? 0) / stones).toFixed(1)} bytes`,
  )
  yield* say(`memory of integrator and publisher: ${resident}; after a collection at each tenth: ${held.join(" ")} MB`)
  const millis: Array<number> = []
  for (let n = 0; n < 300; n += 1) {
    const asked = performance.now()
    yield* proof(ids[Math.floor(Math.random() * ids.length)] ?? "")
    millis.push(performance.now() - asked)
  }
  yield* say(`a proof out of ${stones} stones: median ${median(millis).toFixed(2)} ms, one statement`)
})

/** Walks the log of a real server by the command. */
const walk = async (url: string, stones: number) => {
  const programs = serving()
  const server = await programs.serve("../src/start.js", { DATABASE_URL: url, ...logOn, ...limited })
  const seen = join(newFolder(), "seen.json")
  const command = [main, "verify", "--log", "--url", server.url, "--vkey", signer.vkey, "--seen", seen]
  const memory = memoryOf(server.pid)
  const started = performance.now()
  const walking = run(command, { env: { PATH: process.env["PATH"] ?? "", ...limited } })
  const own = memoryOf(walking.pid)
  const { code, stderr, stdout } = await walking.ended
  const seconds = (performance.now() - started) / 1000
  if (code !== 0 || !stdout.includes(`${stones} entries of `)) {
    throw new Error(`The walk ended with ${code}: ${stdout}${stderr}`)
  }
  console.log(
    `  walked ${stones} entries in ${seconds.toFixed(1)} s: ${Math.round(stones / seconds)}/s, a million in ${(1_000_000 / (stones / seconds) / 60).toFixed(1)} min`,
  )
  console.log(`  memory of the walk: ${own()}; of the server: ${memory()}; each in a heap of ${heapMegabytes} MB`)
  await programs.close()
}

/** Paid stones with the log (ours) and without it (peer), in turns: the rates' ratio in each round. */
const selling = async (databases: Databases.Databases, rounds: number, count: number) => {
  const programs = serving()
  const environment = soldBy(await programs.serve("lab/proxy/Doubles.ts", {}))
  const contestant = (url: string, more: Record<string, string>) =>
    programs.serve("../src/start.js", { DATABASE_URL: url, ...environment, ...more })
  const sides = { ours: await contestant(databases.ours, logOn), peer: await contestant(databases.peer, {}) }
  const payers = Array.from({ length: 50 }, newPayer)
  const signed = async (side: Side): Promise<Array<Shot>> => [
    ...(await signMany(await offerOf(sides[side].url), count * (rounds + 1), payers)),
  ]
  const shots = { ours: await signed("ours"), peer: await signed("peer") }
  const done = await takeTurns(rounds, (side) =>
    slice(
      () => cpuSeconds(sides[side].pid),
      () =>
        fire(sides[side].url, { count }, 201, () => {
          const shot = shots[side].pop()
          if (shot === undefined) throw new Error("no signed payment is left")
          return shot
        }),
    ),
  )
  await programs.close()
  return done.map(({ ours, peer }) => ours.rate / peer.rate)
}

const usage = `npm run bench:log -- [--only backlog,selling] [--stones 1000000] [--rounds 10] [--payments 400]

  --only backlog --stones 1000000   integrates and publishes a backlog, then walks the log of a real server, with one
                                    interruption: rates, CPU and bytes a stone, the time of a proof, memory of each
  --only selling --rounds 10        sells stones with the log and without it in turns: the ratio of the rates`

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean", default: false },
      only: { type: "string", default: "backlog,selling" },
      stones: { type: "string", default: "1000000" },
      rounds: { type: "string", default: "10" },
      payments: { type: "string", default: "400" },
    },
  })
  if (values.help) {
    console.log(usage)
    process.exit(0)
  }
  ownTemporaryFolder()
  endOnSignals()
  const stones = Number(values.stones)
  const parts = values.only.split(",")
  if (parts.includes("backlog")) {
    const log = await Databases.open()
    try {
      console.log(`\n  ${log.about}; Node ${process.version}\n`)
      await Effect.runPromise(Effect.provide(backlog(stones), servicesOf(log.ours)))
      await walk(log.ours, stones)
    } finally {
      await log.close()
    }
  }
  if (!parts.includes("selling")) process.exit(0)
  const shop = await Databases.open()
  try {
    const ratios = await selling(shop, Number(values.rounds), Number(values.payments))
    const middle = median(ratios)
    console.log(
      `  selling with the log to without it: ${middle.toFixed(2)} (${ratios.map((one) => one.toFixed(2)).join(" ")}), wanted 0.97`,
    )
  } finally {
    await shop.close()
  }
  process.exit(0)
}
