/** `npm run scale`: growth past one machine, and what it has shown. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buildCheckout } from "../../src/build.ts"
import { bouncer } from "./Bouncer.ts"
import { failover } from "./Failover.ts"
import { growth } from "./Growth.ts"
import { rows } from "./Rows.ts"
import { help, optionsOf, type Run } from "./Options.ts"

const options = (() => {
  try {
    return optionsOf(process.argv.slice(2))
  } catch (cause) {
    console.error(cause instanceof Error ? cause.message : String(cause))
    return process.exit(2)
  }
})()
if (options.command === "help") {
  console.log(help)
  process.exit(0)
}
// Every process that is started ends with this one.
process.setMaxListeners(0)
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))

await buildCheckout()
const folder = options.keep ?? mkdtempSync(join(tmpdir(), "spirit-altar-scale-"))
mkdirSync(folder, { recursive: true })
// The cluster's own user has to reach its folder.
chmodSync(folder, 0o755)
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
