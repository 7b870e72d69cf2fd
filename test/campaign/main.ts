/** `npm run fire` (docs/testing.md): the flags of the campaign, its result, and the folder it leaves; exit code 1 is a violation. */
import { rmSync } from "node:fs"
import { parseArgs } from "node:util"
import { buildCheckout } from "../../src/build/build.ts"
import { endOnSignals, homeOf, ownTemporaryFolder } from "../lab/Folders.ts"
import { fire } from "./fire/Campaign.ts"

const help = `Usage: npm run fire [-- --size N]

Buys acts of every kind from real servers while seeded faults strike. Then an auditor compares chain, database, public
API and every answer. Exit code 1 means a violation.

  --size N       purchases (1000)
  --kills N      servers and databases killed (a fiftieth of the purchases)
  --seed N       seed of all chance; drawn and printed otherwise
  --phase N      this phase of the seed alone
  --keep FOLDER  keep logs and answers there; otherwise they are kept when anything is wrong

Example: npm run fire -- --seed 7 --phase 4 --keep /tmp/four`

const text = { type: "string" } as const
const options = { help: { type: "boolean" }, size: text, seed: text, kills: text, phase: text, keep: text } as const
const { values } = parseArgs({ options })
if (values.help === true) {
  console.log(help)
  process.exit()
}

ownTemporaryFolder()
endOnSignals()
await buildCheckout()
const folder = homeOf(values.keep, "fire")
const began = performance.now()
const log = (line: string) => console.log(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${line}`)
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
const size = Number(values.size ?? 1_000)
log(`seed ${seed}`)
const { counts, violations } = await fire({
  seed,
  size,
  kills: Number(values.kills ?? Math.ceil(size / 50)),
  phase: values.phase === undefined ? undefined : Number(values.phase),
  folder,
  log,
})
for (const [name, count] of Object.entries(counts)) console.log(`${String(count).padStart(9)} ${name}`)
console.log([`${violations.length} violations`, ...violations].join("\n  "))
if (values.keep === undefined && violations.length === 0) rmSync(folder, { recursive: true, force: true })
else log(`logs and answers are in ${folder}`)
process.exit(violations.length > 0 ? 1 : 0)
