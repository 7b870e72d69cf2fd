/** `npm run model`: explores the large worlds as well, and prints who catches which fault. */
import { beyond, farBeyond, large, small } from "./Configurations.ts"
import { explore } from "./Explorer.ts"
import { mutants } from "./Mutations.ts"
import { specificationOf } from "./Payment.ts"
import type { Configuration } from "./State.ts"

/** States of one world at most, which is a minute's work. */
const most = 1_000_000

const run = (configuration: Configuration) => {
  const before = process.cpuUsage().user
  const found = explore(specificationOf(configuration), most)
  return { ...found, seconds: ((process.cpuUsage().user - before) / 1_000_000).toFixed(1) }
}

const stories = process.argv.includes("--stories")
let isKept = true
for (const configuration of [...Object.values(small), ...Object.values(large)]) {
  const { depth, isWhole, seconds, states, steps, violation } = run(configuration)
  isKept &&= violation === undefined
  console.log(
    `${configuration.name}: ${states} states, ${steps} steps, depth ${depth}, ${seconds} s${isWhole || violation ? "" : ", not all of them"}`,
  )
  if (violation !== undefined) console.log(`BROKEN: ${violation.name}\n  ${violation.story.join("\n  ")}`)
}
for (const configuration of [...beyond, ...farBeyond]) {
  const { violation } = run(configuration)
  isKept &&= violation?.name === configuration.breaks
  console.log(`not promised: ${configuration.name}: ${violation?.name ?? "NOTHING BREAKS"}`)
  if (stories && violation !== undefined) console.log(`  ${violation.story.join("\n  ")}`)
}
for (const mutant of mutants) {
  const { states, violation } = run(mutant)
  isKept &&= violation !== undefined
  console.log(
    violation === undefined
      ? `NOT CAUGHT: ${mutant.fault}, in ${states} states of "${mutant.name}"`
      : `${mutant.fault}: "${mutant.name}", ${states} states, ${violation.story.length} steps, "${violation.name}"`,
  )
  if (stories && violation !== undefined) console.log(`  ${violation.story.join("\n  ")}`)
}
process.exitCode = isKept ? 0 : 1
