/** `npm run scale`: growth past one machine, and what it has shown. */
import { rmSync } from "node:fs"
import { buildCheckout } from "../../../src/build/build.ts"
import { endOnSignals, homeOf, told } from "../../lab/Program.ts"
import { bouncer } from "./Bouncer.ts"
import { failover } from "./Failover.ts"
import { growth } from "./Growth.ts"
import { rows } from "./Rows.ts"
import { help, optionsOf, type Run } from "./Options.ts"

const options = told(optionsOf)
if (options.command === "help") {
  console.log(help)
  process.exit(0)
}
endOnSignals()

await buildCheckout()
const folder = homeOf(options.keep, "scale")
const began = performance.now()
const log = (line: string) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`)
const run: Run = { folder, seconds: options.seconds, buyers: options.buyers, seed: options.seed, log }
const violations =
  options.command === "servers"
    ? await growth(run)
    : options.command === "failover"
      ? await failover(run, options.isSync)
      : options.command === "rows"
        ? await rows(run)
        : await bouncer(run, options.files)
for (const what of violations) console.log(`VIOLATION ${what}`)
console.log(`${options.command}: ${violations.length} violations`)
if (options.keep === undefined && violations.length === 0) rmSync(folder, { recursive: true, force: true })
else console.log(`logs and answers are in ${folder}`)
process.exit(violations.length > 0 ? 1 : 0)
