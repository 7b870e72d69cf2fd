/** The import rules: the directions of ARCHITECTURE.md, held by reading every import, and the owner of each table. */
import { dirname, join, relative } from "node:path"
import { filesIn, root, textOf } from "../lab/Sources.ts"
import { assert, assertNone, describe, it } from "../lab/Suites.ts"

const sources = filesIn(["schema", "src", "migrations"])

const importsOf = (file: string) =>
  [...textOf(file).matchAll(/from "(\.[^"]+|[^".][^"]*)"/gu)].map((match) => {
    const target = match[1] ?? ""
    return target.startsWith(".") ? relative(root, join(root, dirname(file), target)) : target
  })

/** The imports of each folder of `src`, by the beginnings of paths; a single word is a folder. */
const imported: Readonly<Record<string, string>> = {
  admin: "altar payments/ledger room platform",
  agents: `altar http limits log pages payments platform server schema/Api.ts schema/Common.ts schema/Errors.ts schema/agents
    schema/altar schema/openapi schema/payments schema/room/Instructions`,
  altar: `payments limits http platform schema/Api.ts schema/Common.ts schema/Errors.ts schema/altar schema/payments`,
  build: "platform server web",
  buyer: "schema/Api.ts schema/Fields.ts schema/altar schema/log schema/payments",
  cli: `admin altar buyer http log payments platform sandbox server telemetry schema/Api.ts schema/Common.ts schema/altar schema/log
    schema/payments schema/room`,
  http: "platform schema/Errors.ts",
  limits: "platform",
  log: `altar/witness/WitnessChain altar/HashChain http/CachedResponse payments/Receipts payments/ledger/ActOrder platform
    schema/log schema/payments/CanonicalJson`,
  pages:
    "altar http limits log payments platform web schema/Api.ts schema/Common.ts schema/Errors.ts schema/altar schema/payments schema/room",
  payments: "http platform schema/Common.ts schema/Errors.ts schema/openapi schema/payments",
  platform: "migrations/ schema/Errors.ts",
  room: "limits http platform schema/Api.ts schema/Errors.ts schema/room",
  sandbox: "http limits log pages payments platform/Html.ts server schema/Common.ts schema/Errors.ts schema/payments",
  server: `agents altar buyer/receipt/Authority buyer/receipt/ContractSigned http limits log pages payments platform room telemetry schema/Api.ts schema/Errors.ts
    schema/Health.ts schema/altar schema/log schema/payments schema/room`,
  telemetry: "http platform payments altar/witness/WitnessChain log/PublishedLog log/ActsLog",
  web: "altar buyer/core buyer/log buyer/receipt platform schema/altar schema/log schema/payments schema/room",
}

/** Files below `from` import nothing that `never` matches. */
const rules: ReadonlyArray<readonly [from: RegExp, never: RegExp, why: string]> = [
  [/^schema\//u, /^(?!schema\/|effect)/u, "the contract imports nothing but effect"],
  [/^src\/payments\/(?!PaidHttp)/u, /^effect\/http$|^src\/http/u, "the pipeline knows no HTTP server"],
  [/^src\/payments\/(?!ledger\/|PaidAct)/u, /^effect\/sql$/u, "payments are stored by the ledger alone"],
  [/^src\/payments\/ledger\//u, /^src\/payments\/(?:x402|card)/u, "the ledger asks no chain and no card processor"],
  [
    /^src\/log\/witness\//u,
    /^src\/altar|^effect\/sql$|^src\/log\/(?:LogStore|Integrator|Publisher|PublishedLog)/u,
    "a witness of other logs needs no database and no log of its own",
  ],
  [/^src\/altar\/(?!Http|Altar|guide\/)/u, /^src\/altar\/guide\//u, "no act needs the guide"],
  [/^src\/buyer\//u, /^(?!schema\/|src\/buyer\/|effect|viem)/u, "the buyer's library runs in a browser"],
  [
    /^src\/buyer\/core\//u,
    /^(?!src\/buyer\/core\/|schema\/altar\/(?:ChainCheck|ChainLink|Recipe)\.ts|schema\/payments\/(?:TransferTypes|Usdc)\.ts)/u,
    "the core of the buyer is plain text functions, light enough for a page",
  ],
]

/** The remote facilitator, the node and the card processor are asked over HTTP: clients, not servers. */
const excused = new Set([
  "src/payments/x402/settlement/Facilitator.ts",
  "src/payments/x402/settlement/Supported.ts",
  "src/payments/x402/node/JsonRpc.ts",
  "src/payments/card/CardProcessor.ts",
  "src/payments/card/Cards.ts",
])

describe("the import directions", () => {
  it("have a line for every folder", () => {
    const rooms = new Set(sources.flatMap((file) => /^src\/(\w+)\//u.exec(file)?.[1] ?? []))
    assert.deepStrictEqual([...rooms].sort(), Object.keys(imported).sort())
  })

  it.each(Object.entries(imported).map(([room, list]) => ({ room, list })))(
    "of $room lead to the listed modules, and to all of them",
    ({ list, room }) => {
      const listed = list.split(/\s+/u).map((one) => (/^(?:schema|migrations)\//u.test(one) ? one : `src/${one}`))
      const targets = sources
        .filter((file) => file.startsWith(`src/${room}/`))
        .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
        .filter(({ target }) => /^(?:src|schema|migrations)\//u.test(target) && !target.startsWith(`src/${room}/`))
      const isBelow = (target: string, one: string) =>
        target.startsWith(/^src\/\w+$|^schema\/[a-z]\w*$/u.test(one) ? `${one}/` : one)
      assertNone(targets, ({ target }) => !listed.some((one) => isBelow(target, one)))
      assertNone(listed, (one) => !targets.some(({ target }) => isBelow(target, one)))
    },
  )

  it.each(rules.map(([from, never, why]) => ({ why, from, never })))("hold that $why", ({ from, never }) => {
    const wrong = sources
      .filter((file) => from.test(file) && !excused.has(file))
      .flatMap((file) =>
        importsOf(file)
          .filter((target) => never.test(target))
          .map((target) => `${file} → ${target}`),
      )
    assert.deepStrictEqual(wrong, [])
  })
})

/** Besides its own folder, a test imports the lab, the auditor, compiled contracts and the installer of tools. */
const sharedBy = (room: string) =>
  new RegExp(`^test/(?:${room === "lab" ? "lab" : `${room}|lab|audit|contracts|tools`})/`, "u")

describe("tests", () => {
  it("import the lab, the auditor and their own folder, and the lab imports no test", () => {
    const wrong = filesIn(["test"]).flatMap((file) => {
      const room = file.split("/")[1] ?? ""
      // Fast tests hold the parts of campaigns that need no process.
      if (room === "fast") return []
      return importsOf(file)
        .filter((target) => target.startsWith("test/") && !sharedBy(room).test(target))
        .map((target) => `${file} → ${target}`)
    })
    assert.deepStrictEqual(wrong, [])
  })
})

/** The owner of a table: the only folder that names it in a statement. */
const owners: ReadonlyArray<readonly [table: RegExp, owner: RegExp]> = [
  [/^(?:payment_|relayer_)/u, /^src\/payments\//u],
  [/^acts$/u, /^src\/payments\//u],
  [/^(?:rooms|room_)/u, /^src\/room\//u],
  [/^rate_limit/u, /^src\/limits\//u],
  [/^log_/u, /^src\/log\//u],
  [/^moderation_/u, /^src\/altar\/HiddenTexts\.ts$/u],
  [/^admin_/u, /^src\/admin\//u],
  [/^witness_/u, /^src\/altar\/witness\//u],
  [/^prayers$/u, /^src\/altar\/prayers\//u],
  [/^keepers$/u, /^src\/altar\/keepers\//u],
  [/^candle/u, /^src\/altar\/candles\//u],
  [/^(?:publication|collectibles$)/u, /^src\/altar\/collectibles\//u],
]

describe("each table", () => {
  const tables = sources
    .filter((file) => file.startsWith("migrations/"))
    .flatMap((file) =>
      [...textOf(file).matchAll(/CREATE (?:UNLOGGED )?TABLE ([a-z_]+)/gu)].map(([, name = ""]) => name),
    )

  it("has one owner, the only folder whose statements name it", () => {
    assertNone(tables, (table) => owners.filter(([pattern]) => pattern.test(table)).length !== 1)
    const wrong = sources
      .filter((file) => file.startsWith("src/"))
      .flatMap((file) =>
        [...textOf(file).matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)\b/gu)]
          .filter(([, table = ""]) => tables.includes(table))
          .filter(([, table = ""]) => owners.some(([pattern, owner]) => pattern.test(table) && !owner.test(file)))
          .map(([, table = ""]) => `${file} → ${table}`),
      )
    assert.deepStrictEqual(wrong, [])
  })
})
