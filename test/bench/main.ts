/** Measures this server beside a stock Hono and x402 server doing the same work, in one run, turn by turn. */
import { randomBytes } from "node:crypto"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import * as Contest from "./Contest.ts"
import { ask, fire, inFlight, type Shot, work } from "./Load.ts"
import { challengeIn, newCommitment, signMany, unpaid } from "./Payments.ts"
import * as Store from "./peer/Store.ts"
import { cpuSeconds } from "./Processes.ts"
import { type Side, slice, takeTurns } from "./Rounds.ts"
import { type Row, table } from "./Table.ts"

const help = `Usage: npm run bench [-- --quick | --rounds N]

Compares this server with a peer built from Hono, @hono/node-server, @x402/hono and postgres.js. Both use the same
PostgreSQL (DATABASE_URL, where databases can be created, or our own in a temporary folder, fsync on), the same
facilitator and node doubles, and the same load: ${inFlight} requests in flight over keep-alive connections.
Every round measures both, one right after the other. Rates and ratios are medians of rounds. "CPU ms" is the
processor time of the measured server process for one request: the figure that a busy machine disturbs least.

  --quick     2 rounds instead of 5
  --rounds N  N rounds, 10 at most: a day has room for 5,000 stones
  --help      this text
`

const { values } = parseArgs({
  options: { help: { type: "boolean" }, quick: { type: "boolean" }, rounds: { type: "string" } },
})
if (values.help === true) {
  console.log(help)
  process.exit(0)
}
const rounds = Number(values.rounds ?? (values.quick === true ? 2 : 5))
if (!Number.isInteger(rounds) || rounds < 1 || rounds > 10) {
  console.error("--rounds takes a whole number from 1 to 10")
  process.exit(1)
}
// An exit ends the servers and the database too; a signal alone would leave them behind.
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))

const stoneCount = 1_000
const bare: Shot = { method: "POST", path: "/api/witness" }
const list: Shot = { method: "GET", path: "/api/witness?limit=20" }
const segment: Shot = { method: "GET", path: "/api/witness/chain?from=501&limit=100" }

const progress = (text: string) => process.stderr.write(`${text}\n`)

progress(`Preparing two databases with ${stoneCount} stones each`)
const contest = await Contest.open(stoneCount, [list, segment])

const rows: Array<Row> = []
const measure = async (what: string, one: Parameters<typeof takeTurns>[1], wanted: Row["wanted"]) => {
  const done = await takeTurns(rounds, one)
  rows.push({ what, rounds: done, wanted })
  progress(`  ${what}: ${done.map(({ ours, peer }) => (ours.rate / peer.rate).toFixed(2)).join(" ")}`)
}

const requests = (what: string, ratio: number, count: number, expected: number, shotOf: (side: Side) => Shot) =>
  measure(
    what,
    (side) => {
      const { pid, to } = contest[side]
      return slice(
        count,
        () => cpuSeconds(pid),
        () => fire(to, count, expected, () => shotOf(side)),
      )
    },
    { ratio },
  )

const sign = async (side: Side, count: number) => {
  const { headers } = await ask(contest[side].to, bare)
  return [...(await signMany(challengeIn(headers["payment-required"]), count))]
}

const paidStones = async (count: number) => {
  progress("  signing payments")
  const total = count * (rounds + 1)
  const signed = { ours: await sign("ours", total), peer: await sign("peer", total) }
  await requests("paid stones", 2, count, 201, (side) => {
    const shot = signed[side].pop()
    if (shot === undefined) throw new Error("no signed payment is left")
    return shot
  })
  await countStones(stoneCount + total)
}

/** Every payment must have become a stone on both sides, or they did not do the same work. */
const countStones = async (expected: number) => {
  for (const side of ["ours", "peer"] as const) {
    const { text } = await ask(contest[side].to, list)
    const { head }: { readonly head: { readonly sequence: number } } = JSON.parse(text)
    if (head.sequence !== expected) throw new Error(`${side} has ${head.sequence} stones instead of ${expected}`)
  }
}

/** The processor time of this process, where both sides' appends run. */
const ownCpu = () => cpuSeconds(process.pid)

const peerAppend = () => {
  const id = randomBytes(32).toString("hex")
  const stone = { commitment: newCommitment(), kind: "prediction", spirit: "moss-hare", agentName: "Wren" }
  const answerOf = (row: Store.StoneRow) => JSON.stringify({ ok: true, record: row, replayed: false })
  return Store.append(contest.peerSql, `bench-${id}`, { ...stone, payer: "0x", transaction: `0x${id}` }, answerOf)
}

const appends = (count: number) =>
  measure(
    "chain appends",
    async (side) => {
      if (side === "peer") return slice(count, ownCpu, () => work(count, Contest.waiting, peerAppend))
      const ids = await contest.ledger.claim(count)
      return slice(count, ownCpu, () => contest.ledger.settle(ids, Contest.waiting))
    },
    { rate: 3_000 },
  )

try {
  progress(`Measuring ${rounds} rounds; ours to the peer's in each:`)
  await requests("402 to a bare probe", 2, 4_000, 402, () => bare)
  await requests("402 to a keyed request with body", 2, 3_000, 402, unpaid)
  await requests("GET /api/witness?limit=20", 1.5, 2_000, 200, () => list)
  await requests("GET a 100-entry chain segment", 1.5, 1_000, 200, () => segment)
  await paidStones(400)
  await appends(1_000)
} finally {
  await contest.close()
}

console.log(`
${table(rows)}

Chain appends: Settle.settle with ${Contest.waiting} attempts waiting at once (stone, act and stored answer, up to 128 in one
transaction); the peer's: one transaction a stone. Without HTTP; the CPU is that of the benchmark's own process.
${availableParallelism()} cores are shared by the measured server, PostgreSQL, the doubles and the load generator.
${contest.about}; Node ${process.version}.`)
process.exit(0)
