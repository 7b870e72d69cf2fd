/** `npm run fire` (docs/testing.md): the flags of the campaign, its result, and the folder it leaves; exit code 1 is a violation. */
import { rmSync } from "node:fs"
import { parseArgs } from "node:util"
import { buildCheckout } from "../../src/build/build.ts"
import { endOnSignals, homeOf, ownTemporaryFolder } from "../lab/Folders.ts"
import { fire } from "./fire/Campaign.ts"

const text = { type: "string" } as const
const { values } = parseArgs({ options: { size: text, seed: text, kills: text, phase: text, keep: text } })

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
