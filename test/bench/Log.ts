/** The cost of the transparency log: a stone's share, a backlog, a proof, a whole check, and selling with and without it. */
import { createHash, randomUUID } from "node:crypto"
import { join } from "node:path"
import { parseArgs } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import * as Download from "../../src/cli/verify/Download.ts"
import { at } from "../../src/cli/log/LogSource.ts"
import { openLog } from "../../src/cli/log/OpenedLog.ts"
import { verifyLog } from "../../src/cli/log/VerifyLog.ts"
import { defaults, Integrator } from "../../src/log/Integrator.ts"
import { Confirmation } from "../../src/log/Confirmation.ts"
import { LastSigned } from "../../src/log/LastSigned.ts"
import { LogStore } from "../../src/log/LogStore.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { Publisher } from "../../src/log/Publisher.ts"
import { fromText, generate } from "../../src/log/Signer.ts"
import * as StoneEntries from "../../src/log/StoneEntries.ts"
import { Witnesses } from "../../src/log/Witnesses.ts"
import * as Migrator from "../../src/platform/Migrator.ts"
import * as Sql from "../../src/platform/Sql.ts"
import * as Databases from "../lab/Databases.ts"
import { fire, type Shot } from "./Load.ts"
import { newPayer, offerOf, signMany } from "./Payments.ts"
import { cpuSeconds } from "../lab/ProcessUse.ts"
import { serving, soldBy } from "../lab/server/Programs.ts"
import { type Side, slice, takeTurns } from "./Rounds.ts"
import { median } from "./Figures.ts"
import { newFolder, ownTemporaryFolder } from "../lab/Folders.ts"
import { endOnSignals } from "../lab/Program.ts"

const origin = "bench.example/log"
const key = Result.getOrThrow(generate(origin))
const signer = Result.getOrThrow(fromText(key))
const say = (text: string) => Effect.sync(() => console.log(`  ${text}`))

/** Unpaid stones, inserted as a settlement inserts them. */
const lay = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const chain = yield* WitnessChain
  yield* sql`ALTER TABLE witness_stones DROP CONSTRAINT IF EXISTS witness_stones_id_fkey`
  const ids: Array<string> = []
  for (let left = count; left > 0; left -= 5_000) {
    const stones = Array.from({ length: Math.min(5_000, left) }, () => {
      const id = randomUUID()
      const commitment = createHash("sha256").update(id).digest("hex")
      const whose = {
        kind: "intention",
        spirit: "moss-hare",
        agentName: null,
        payer: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
      } as const
      return { ...whose, id, commitment, transaction: `0x${commitment}` }
    })
    yield* sql.withTransaction(chain.append(stones))
    ids.push(...stones.map(({ id }) => id))
  }
  yield* sql`ANALYZE witness_stones`
  return ids
})

const servicesOf = (url: string) =>
  Layer.mergeAll(
    Integrator.layerNoLoop(defaults),
    Publisher.layerNoLoop({ signer, origin, publishSeconds: 0 }),
    PublishedLog.layer({ signer, origin }),
  ).pipe(
    Layer.provideMerge(LogStore.layer),
    Layer.provide(StoneEntries.layer),
    Layer.provideMerge(WitnessChain.layer),
    Layer.provide([LastSigned.none, Witnesses.none, Confirmation.layer]),
    Layer.provide(Migrator.layer),
    Layer.provideMerge(Sql.layer(Redacted.make(url))),
    Layer.orDie,
  )

/** Integrates a backlog, publishes it, and proves stones out of it. */
const backlog = Effect.fnUntraced(function* (stones: number) {
  const sql = yield* SqlClient.SqlClient
  yield* say(`laying ${stones} stones`)
  const ids = yield* lay(stones)
  const { integrate } = yield* Integrator
  const [cpu, started] = [process.cpuUsage(), performance.now()]
  while ((yield* integrate) > 0);
  const seconds = (performance.now() - started) / 1000
  const used = process.cpuUsage(cpu)
  const [tiles] = yield* sql<{ rows: bigint; bytes: bigint }>`
    SELECT count(*) AS rows, sum(octet_length(hashes)) AS bytes FROM log_tiles`
  yield* say(`integrated ${Math.round(stones / seconds)} stones/s from a backlog (wanted 10,000)`)
  yield* say(
    `a stone's share: ${((used.user + used.system) / stones).toFixed(1)} µs CPU with its reads, ${(Number(tiles?.rows ?? 0) / stones).toFixed(4)} rows, ${(Number(tiles?.bytes ?? 0) / stones).toFixed(1)} bytes`,
  )
  yield* Effect.flatMap(Publisher, ({ publish }) => publish)
  const { proof } = yield* PublishedLog
  const millis: Array<number> = []
  for (let n = 0; n < 300; n += 1) {
    const asked = performance.now()
    yield* proof(ids[Math.floor(Math.random() * ids.length)] ?? "")
    millis.push(performance.now() - asked)
  }
  yield* say(`a proof out of ${stones} stones: median ${median(millis).toFixed(2)} ms, one statement`)
})

const logOn = { LOG_KEY: Redacted.value(key), LOG_ORIGIN: origin, LOG_PUBLISH_SECONDS: "1" }

const LastLink = Schema.Struct({ entries: Schema.Tuple([Schema.Struct({ chainHash: Schema.String })]) })

/** Walks the log of a real server. */
const walk = async (url: string, stones: number) => {
  const programs = serving()
  const server = await programs.serve("../src/start.js", { DATABASE_URL: url, ...logOn })
  const seen = Option.some(join(newFolder(), "seen.json"))
  const started = performance.now()
  const walking = Effect.gen(function* () {
    const opened = yield* openLog({
      source: at(`${server.url}/log`),
      vkey: Option.some(signer.vkey),
      policy: Option.none(),
      seen,
    })
    const { size } = opened.checkpoint
    const last = yield* Download.json(`${server.url}/api/witness/chain?from=${size}&limit=1`, LastLink)
    return yield* verifyLog(opened, { stones: size, markedHash: last.entries[0].chainHash })
  })
  await Effect.runPromise(Effect.provide(walking, Layer.provideMerge(Download.client(server.url), NodeServices.layer)))
  const rate = stones / ((performance.now() - started) / 1000)
  console.log(
    `  walked ${Math.round(rate)} entries/s: a million in ${(1_000_000 / rate / 60).toFixed(1)} min at this rate; peak ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`,
  )
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

  --only backlog --stones 1000000   integrates and publishes a backlog, then walks the log of a real server:
                                    rates, CPU and bytes a stone, the time of a proof, peak memory
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
