/** `npm run hostile -- flood`: connections and rooms from many addresses, against a real server. */
import { parseArgs } from "node:util"
import { flood, memoryBound } from "./Flood.ts"
import { open } from "./Target.ts"

const help = `Floods a real server with connections and with rooms from many addresses, and shows what that leaves.

  npm run hostile -- flood --connections 5000 --addresses 2000

  --connections N  each from an address of its own; each asks once and rests (5000)
  --addresses N    each asks for rooms, sends, polls and tries wrong tokens, most until they are refused (2000)

Then the rows are made a week older, and the server is started anew. Exit code 1: memory above ${memoryBound} MB, more
connections or rows than the bounds of docs/limits.md, an answer that the document does not know, rows that stay.`

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: {
    help: { type: "boolean", short: "h", default: false },
    connections: { type: "string", default: "5000" },
    addresses: { type: "string", default: "2000" },
  },
})
const number = (name: "connections" | "addresses") => {
  if (/^[1-9]\d{0,5}$/u.test(values[name])) return Number(values[name])
  console.error(`--${name} is a number from 1 to 999999.\n\n${help}`)
  return process.exit(2)
}
if (values.help) {
  console.log(help)
  process.exit(0)
}
const [connections, addresses] = [number("connections"), number("addresses")]
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1))
const target = await open(0)
const began = performance.now()
const log = (line: string) => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`)
const { faults } = await flood(target, { connections, addresses, patience: 60_000, log })
await target.close()
console.log([faults.length === 0 ? "No fault." : `${faults.length} faults`, ...faults].join("\n  "))
process.exit(faults.length > 0 ? 1 : 0)
