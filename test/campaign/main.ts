/** `npm run fire`: the flags of the campaign, its result, and the folder it leaves. */
import { rmSync } from "node:fs"
import { parseArgs } from "node:util"
import { buildCheckout } from "../../src/build/build.ts"
import { fire, faultNames } from "./fire/Campaign.ts"
import { ownTemporaryFolder, endOnSignals, homeOf } from "../lab/Folders.ts"

const help = `Usage: npm run fire [-- --size 10000 --minutes 60]

Buys acts of every kind from real servers while seeded faults strike. Then an auditor compares chain, database, public API
and every answer (docs/testing.md). Exit code 1 means a violation.

  --size N       purchases (1000)
  --seed N       seed of all chance; drawn and printed otherwise
  --kills N      servers and databases killed in all (a fiftieth of the purchases)
  --servers N    servers on one database; otherwise each phase draws 1 to 3
  --minutes N    begin no phase after so many minutes
  --phase N      this phase of the seed alone, as it was planned in the whole campaign
  --only TEXT    only faults whose name has this in it, such as "database:"
  --keep FOLDER  keep logs and answers there; otherwise they are kept when anything is wrong
  --list         name every fault and run nothing
`

const text = { type: "string" } as const
const flag = { type: "boolean" } as const
const numbers = { size: text, seed: text, kills: text, servers: text, minutes: text, phase: text }
const { values } = parseArgs({ options: { ...numbers, only: text, keep: text, list: flag, help: flag } })
const number = (name: keyof typeof numbers) => (values[name] === undefined ? undefined : Number(values[name]))

if (values.help === true || values.list === true) {
  console.log(values.help === true ? help : faultNames())
  process.exit(0)
}
ownTemporaryFolder()
endOnSignals()
await buildCheckout()
const folder = homeOf(values.keep, "fire")
const began = performance.now()
const log = (line: string) => console.log(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${line}`)
const seed = number("seed") ?? Math.floor(Math.random() * 1_000_000)
log(`seed ${seed}`)
const { counts, violations } = await fire({
  seed,
  size: number("size") ?? 1_000,
  kills: number("kills"),
  servers: number("servers"),
  minutes: number("minutes"),
  phase: number("phase"),
  only: values.only,
  folder,
  log,
})
for (const [name, count] of Object.entries(counts)) console.log(`${String(count).padStart(9)} ${name}`)
console.log([`${violations.length} violations`, ...violations].join("\n  "))
if (values.keep === undefined && violations.length === 0) rmSync(folder, { recursive: true, force: true })
else log(`logs and answers are in ${folder}`)
process.exit(violations.length > 0 ? 1 : 0)
