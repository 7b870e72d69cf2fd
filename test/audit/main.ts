/** Audits a running sandbox by hand. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { audit } from "./Audit.ts"

const help = `Usage: node test/audit/main.ts --sandbox URL [--data FOLDER]

Checks from the chain's logs, SQL and the public API alone that everything the sandbox promised still holds. It changes
nothing. Run it while nobody buys.

  --sandbox URL  names node, token and recipient; its database is found in its data folder
  --data FOLDER  that folder (.data)

Exit code 1 when something does not hold.
`

const { values } = parseArgs({
  options: { data: { type: "string" }, help: { type: "boolean" }, sandbox: { type: "string" } },
})
const { data = ".data", help: isAsked = false, sandbox: server } = values
if (isAsked || server === undefined) {
  console.log(help)
  process.exit(isAsked ? 0 : 2)
}

const { asset: token, payTo, rpcUrl } = await (await fetch(`${server}/sandbox`)).json()
const [, , , port = ""] = readFileSync(join(data, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n")
const password = readFileSync(join(data, "postgres", "password"), "utf8").trim()
const databaseUrl = `postgres://postgres:${password}@127.0.0.1:${port}/altar`

const target = { databaseUrl, rpcUrl, servers: [server], token, payTo, answersFile: null, log: console.log }
const { checks, violations } = await audit(target)

for (const { examined, name } of checks) {
  const wrong = violations.filter(({ check }) => check === name).length
  console.log(`${String(examined).padStart(8)}  ${name}${wrong === 0 ? "" : `: ${wrong} DO NOT HOLD`}`)
}
for (const { check, what } of violations) console.log(`BROKEN  ${check}: ${what}`)
process.exitCode = violations.length > 0 ? 1 : 0
