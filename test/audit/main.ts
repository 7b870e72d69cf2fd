/** Audits running servers by hand. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { audit } from "./Audit.ts"

const help = `Usage: node test/audit/main.ts --sandbox URL [--data FOLDER] [--answers FILE]
       node test/audit/main.ts --database URL --rpc URL --token ADDRESS --pay-to ADDRESS --server URL [--server URL]

Whether everything that servers promised still holds, from the chain's logs, SQL and the public API alone: transfers,
settled rows and receipts are the same purchases, names and numbers are held once, both hash chains and the transparency
log are whole, rooms hold what was sent to them, and every answer that was ever given is still true. It changes nothing. Ask while nobody buys.

  --sandbox URL    a running sandbox: node, token and recipient are what it says; its database is found in its data folder
  --data FOLDER    that folder (.data)
  --database URL   postgres://user:password@host:port/name
  --rpc URL        a node that keeps all logs
  --token ADDRESS, --pay-to ADDRESS, --server URL
  --settler ADDRESS  sends transactions for the servers: what it brings to the chain has to be on disk
  --cards URL      the card processor, whose charges are compared, too; its secret key stands in CARD_SECRET_KEY
  --ended-room ID  somebody has deleted it, or moved its end
  --finality TAG   finalized (default), safe or latest
  --answers FILE   what buyers were told, a line of JSON for each answer (test/audit/RecordedAnswers.ts)
  --quiet          every attempt has to have ended
  --help           this text

Examples:
  npm start                                                        # in another terminal, then buy something
  node test/audit/main.ts --sandbox http://127.0.0.1:3000

Exit code 1 when something does not hold.
`

const { values } = parseArgs({
  options: {
    answers: { type: "string" },
    cards: { type: "string" },
    data: { type: "string" },
    database: { type: "string" },
    "ended-room": { type: "string", multiple: true },
    finality: { type: "string" },
    help: { type: "boolean" },
    "pay-to": { type: "string" },
    quiet: { type: "boolean" },
    rpc: { type: "string" },
    sandbox: { type: "string" },
    server: { type: "string", multiple: true },
    settler: { type: "string", multiple: true },
    token: { type: "string" },
  },
})

if (values.help === true) {
  console.log(help)
  process.exit(0)
}

const required = (name: string, value: string | undefined): string => {
  if (value !== undefined) return value
  console.error(`--${name} is missing; --help says what there is.`)
  process.exit(2)
}

/** Where a sandbox keeps its database, and as whom one gets in. */
const databaseIn = (folder: string) => {
  const [, , , port = ""] = readFileSync(join(folder, "postgres", "cluster", "postmaster.pid"), "utf8").split("\n")
  const password = readFileSync(join(folder, "postgres", "password"), "utf8").trim()
  return `postgres://postgres:${password}@127.0.0.1:${port}/altar`
}

interface Sandbox {
  readonly rpcUrl: string
  readonly asset: string
  readonly payTo: string
}

const askSandbox = async (url: string): Promise<Sandbox> => (await fetch(`${url}/sandbox`)).json()

const sandbox = values.sandbox === undefined ? undefined : await askSandbox(values.sandbox)
const finality = values.finality ?? "finalized"
if (finality !== "finalized" && finality !== "safe" && finality !== "latest") {
  console.error("--finality is finalized, safe or latest.")
  process.exit(2)
}

const { checks, violations } = await audit({
  databaseUrl:
    values.database ?? (sandbox === undefined ? required("database", undefined) : databaseIn(values.data ?? ".data")),
  rpcUrl: values.rpc ?? required("rpc", sandbox?.rpcUrl),
  servers: values.server ?? [required("server", values.sandbox)],
  token: values.token ?? required("token", sandbox?.asset),
  payTo: values["pay-to"] ?? required("pay-to", sandbox?.payTo),
  answersFile: values.answers ?? null,
  ...(values.cards === undefined
    ? {}
    : {
        cards: {
          url: values.cards,
          secretKey: required("cards needs CARD_SECRET_KEY, which", process.env["CARD_SECRET_KEY"]),
        },
      }),
  endedRooms: values["ended-room"] ?? [],
  settlers: values.settler ?? [],
  isQuiet: values.quiet === true,
  finalTag: finality,
  log: (line) => console.log(line),
})

for (const { examined, name } of checks) {
  const wrong = violations.filter(({ check }) => check === name).length
  console.log(`${String(examined).padStart(8)}  ${name}${wrong === 0 ? "" : `: ${wrong} DO NOT HOLD`}`)
}
for (const { check, what } of violations) console.log(`BROKEN  ${check}: ${what}`)
process.exitCode = violations.length > 0 ? 1 : 0
