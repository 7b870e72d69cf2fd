/** Who may know whom: the directions of ARCHITECTURE.md, held by reading every import. */
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const root = new URL("../..", import.meta.url).pathname

const sources = ["schema", "src", "migrations"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(folder, file)),
)

const importsOf = (file: string) =>
  [...readFileSync(join(root, file), "utf8").matchAll(/from "(\.[^"]+|[^".][^"]*)"/gu)].map((match) => {
    const target = match[1] ?? ""
    return target.startsWith(".") ? relative(root, join(root, dirname(file), target)) : target
  })

/** Files below `from` import nothing that `never` matches. */
const rules: ReadonlyArray<readonly [from: RegExp, never: RegExp, why: string]> = [
  [/^schema\//u, /^(?!schema\/|effect)/u, "the contract imports nothing but effect"],
  [/^src\/platform\//u, /^(?:src\/(?!platform)|schema\/(?:altar|payments|room|agents))/u, "the platform knows nobody"],
  [
    /^src\/http\//u,
    /^(?:src\/(?!http|platform)|schema\/(?!Errors))/u,
    "HTTP is bytes in and bytes out, and knows no service",
  ],
  [
    /^src\/payments\//u,
    /^(?:src\/(?!payments|http|platform)|schema\/(?:altar|room|agents))/u,
    "payments know no act and no room",
  ],
  [/^src\/payments\/(?!PaidHttp)/u, /^effect\/http$|^src\/http/u, "the pipeline knows no HTTP server"],
  [/^src\/payments\/(?!ledger\/|PaidAct)/u, /^effect\/sql$/u, "payments are stored by the ledger alone"],
  [/^src\/payments\/ledger\//u, /^src\/payments\/(?:x402|card)/u, "the ledger asks no chain and no card processor"],
  [/^src\/altar\//u, /^(?:src|schema)\/room/u, "the altar does not know the room"],
  [/^src\/room\//u, /^(?:src|schema)\/(?:altar|payments)/u, "the room does not know the altar"],
  [
    /^src\/log\//u,
    /^src\/(?!log|altar\/(?:witness\/WitnessChain|HashChain)|http|platform)|^schema\/(?!log|altar\/ChainLink)/u,
    "the log reads the altar's chain and nothing else",
  ],
  [
    /^src\/log\/witness\//u,
    /^src\/altar|^effect\/sql$|^src\/log\/(?:LogStore|Integrator|Publisher|PublishedLog)/u,
    "a witness of other logs needs no database and no log of its own",
  ],
  [/^src\/(?:altar|payments)\//u, /^(?:src|schema)\/log/u, "what is sold does not know the log"],
  [
    /^src\/admin\//u,
    /^src\/(?!admin|altar|payments\/ledger|room|platform)/u,
    "administration stands on what it changes, and asks no chain",
  ],
  [/^src\/(?!admin|cli)/u, /^src\/admin/u, "nothing but the command line administers"],
  [/^src\/limits\//u, /^(?:src|schema)\/(?:altar|payments|room)/u, "limits know nobody"],
  [/^src\/limits\//u, /^src\/(?!limits|http|platform)/u, "limits stand on the platform alone"],
  [/^src\/room\//u, /^src\/(?!room|limits|http|platform)/u, "the room stands on limits, http and the platform"],
  [
    /^src\/altar\//u,
    /^src\/(?!altar|payments|limits|http|platform)/u,
    "the altar stands on payments, limits, http and the platform",
  ],
  [
    /^src\/altar\/(?!Http|Altar|guide\/)/u,
    /^src\/altar\/guide\//u,
    "the guide reads what lies on the altars, and nobody there needs the guide",
  ],
  [
    /^src\/agents\//u,
    /^(?:src|schema)\/cli|^src\/(?:room|pages)|^schema\/room\/(?!Instructions)/u,
    "agents meet the altar alone, hear what the room says of itself, and know no page",
  ],
  [/^src\/pages\//u, /^src\/(?:agents|room|cli)/u, "pages ask the altar alone; in a room the browser asks"],
  [/^src\/(?!agents|server)/u, /^src\/agents/u, "nothing but the server needs the agents' routes"],
  [/^src\/(?!pages|server)/u, /^src\/pages/u, "nothing but the server needs the pages"],
  [
    /^src\/(?:log|payments|altar|room|limits|http|platform)\//u,
    /^src\/(?:server|main)/u,
    "services are configured, and do not look for it",
  ],
  [
    /^src\/buyer\//u,
    /^(?!schema\/|src\/buyer\/|effect|viem)/u,
    "the buyer's library has no server code, and nothing that a browser lacks",
  ],
  [
    /^src\/buyer\/core\//u,
    /^(?!src\/buyer\/core\/|schema\/altar\/(?:ChainCheck|ChainLink|Recipe)\.ts|schema\/payments\/(?:TransferTypes|Usdc)\.ts)/u,
    "the core of the buyer is plain text functions, light enough for a page",
  ],
  [/^src\/(?!buyer|cli|web)/u, /^src\/buyer/u, "the server does not need the buyer"],
  [/^src\/web\//u, /^src\/buyer\/(?!core\/|log\/)/u, "pages need the buyer's core and its checks of the log alone"],
  [
    /^src\/telemetry\//u,
    /^src\/(?!telemetry|http|platform|payments|altar\/witness\/WitnessChain|log\/PublishedLog)/u,
    "telemetry asks few services, and no act, room or page",
  ],
  [
    /^src\/(?!telemetry|server|cli)/u,
    /^src\/telemetry/u,
    "nothing needs to be watched; the configuration only reads how",
  ],
  [/^src\/(?!sandbox|cli|main)/u, /^src\/sandbox/u, "nothing asks whether it is in the sandbox"],
  [/^src\/(?!cli|main)/u, /^src\/cli/u, "nothing needs the command line"],
]

/** The remote facilitator, the node and the card processor are asked over HTTP: clients, not servers. */
const excused = new Set([
  "src/payments/x402/settlement/Facilitator.ts",
  "src/payments/x402/settlement/Supported.ts",
  "src/payments/x402/node/JsonRpc.ts",
  "src/payments/card/CardProcessor.ts",
  "src/payments/card/Cards.ts",
])

describe("directions", () => {
  it.each(rules.map(([from, never, why]) => ({ why, from, never })))("$why", ({ from, never }) => {
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

describe("the pages' modules", () => {
  it("form no circle, not even by what is fetched later", () => {
    const modules = sources.filter((file) => file.startsWith("src/web/"))
    const next = new Map(
      modules.map((file) => [
        file,
        [
          ...readFileSync(join(root, file), "utf8").matchAll(
            /^(?!import type)[^\n]*(?:from |import\(|import )"(\.[^"]+)"/gmu,
          ),
        ]
          .map(([, target = ""]) => join(dirname(file), target.replace(/\.js$/u, ".ts")))
          .filter((target) => target !== file),
      ]),
    )
    /** Whether `to` is reached from `from`. */
    const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
      (next.get(from) ?? []).some(
        (one) => one === to || (!seen.has(one) && seen.add(one).size > 0 && reaches(one, to, seen)),
      )
    assert.isAtLeast(modules.length, 50)
    assert.deepStrictEqual(
      modules.filter((file) => reaches(file, file)),
      [],
    )
  })
})

/** Besides its own folder, a test imports the lab, the auditor, compiled contracts and the installer of tools. */
const sharedBy = (room: string) => new RegExp(`^test/(?:${room}|lab|audit|contracts|tools)/`, "u")

describe("tests", () => {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.includes("node_modules"))
    .map((file) => join("test", file))
  const roomOf = (file: string) => file.split("/")[1] ?? ""
  const wrongOf = (room: string, allowed: RegExp) =>
    files
      .filter((file) => roomOf(file) === room)
      .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => target.startsWith("test/") && !allowed.test(target))
      .map(({ file, target }) => `${file} → ${target}`)

  it("stand on a lab that imports no test and no campaign", () => {
    assert.deepStrictEqual(wrongOf("lab", /^test\/lab\//u), [])
  })

  it("import the lab, the auditor and their own folder, so that no campaign needs another", () => {
    const rooms = new Set(files.map(roomOf))
    assert.isAbove(rooms.size, 20)
    // Fast tests hold the parts of campaigns that need no process.
    const others = [...rooms].filter((room) => room !== "lab" && room !== "fast")
    assert.deepStrictEqual(
      others.flatMap((room) => wrongOf(room, sharedBy(room))),
      [],
    )
  })

  it("of one campaign import no other campaign", () => {
    const campaignOf = (file: string) => /^test\/campaign\/(\w+)\//u.exec(file)?.[1]
    const campaigns = files.filter((file) => campaignOf(file) !== undefined)
    assert.isAbove(new Set(campaigns.map(campaignOf)).size, 5)
    assert.deepStrictEqual(
      campaigns.flatMap((file) =>
        importsOf(file)
          .filter((target) => ![undefined, campaignOf(file)].includes(campaignOf(target)))
          .map((target) => `${file} → ${target}`),
      ),
      [],
    )
  })
})

/** Rooms whose files can be read one after the other. */
const straight = /^(?:schema|src\/(?:admin|agents|altar|log|pages|telemetry))\//u

describe("imports", () => {
  it("form no circle", () => {
    const circles: Array<string> = []
    const done = new Set<string>()
    const visit = (file: string, trail: ReadonlyArray<string>) => {
      if (done.has(file)) return
      if (trail.includes(file)) return void circles.push([...trail.slice(trail.indexOf(file)), file].join(" → "))
      for (const target of importsOf(file)) if (straight.test(target)) visit(target, [...trail, file])
      done.add(file)
    }
    for (const file of sources) if (straight.test(file)) visit(file, [])
    assert.deepStrictEqual(circles, [])
  })
})

/**
 * What other rooms import of a room beside the files of its services. The rest of a room is its own: a room that needs more of
 * it adds a line here, and sees how much there is already.
 */
const surfaces: Readonly<Record<string, string>> = {
  admin: "Audit",
  agents: "Http",
  altar: `Altar Answers Artwork HashChain Hashes Http Limits Requests SpendPolicy Spirits Telling candles/Rungs
    spirits/Hedges spirits/Hills spirits/Waters`,
  buyer: `Acts Buyer Client Fields JournalPages Orders Policy PurchaseError Purchases core/Authorization core/Chain
    core/Challenge core/Commitment core/Digest core/Expectation core/Journal core/Outcome core/Pursuit core/Recorded
    core/Request log/MerkleProofs log/SignedCheckpoint log/StoneProof log/Tiles log/Verdict`,
  cli: "Command",
  limits: "Address Limits Policy Windows",
  log: "Consistency Http Log Signer StopReason Tree Verifier witness/Http",
  pages: "Site",
  payments: `ActAddress ActInput PaidRequest Payments Receipts card/Cards ledger/LedgerSql ledger/PublicActs
    ledger/Unresolved x402/node/JsonRpc x402/relayer/Fees x402/relayer/Relayer x402/settlement/Supported
    x402/verification/Eip3009`,
  room: "Ceiling Http Refusals Removal Requests",
  sandbox: "Sandbox",
  server: "Server Shapes config/Advice config/Table config/Telemetry",
  telemetry: "Logs RouteNames TelemetryConfig",
  web: "build output signals/glyphs signals/patterns v2/page/candleShape v2/page/durations",
}

const isService = (file: string) => /Context\.(?:Service|Reference)</u.test(readFileSync(join(root, file), "utf8"))

describe("a room", () => {
  it.each(Object.entries(surfaces).map(([room, files]) => ({ room, files })))(
    "shows its services and these files, and hides the rest: $room",
    ({ files, room }) => {
      const own = `src/${room}/`
      const shown = sources
        .filter((file) => file.startsWith("src/") && !file.startsWith(own))
        .flatMap(importsOf)
        .filter((target) => target.startsWith(own) && !isService(target))
        .map((target) => target.slice(own.length, -".ts".length))
      assert.deepStrictEqual([...new Set(shown)].sort(), files.split(/\s+/u).sort())
    },
  )
})

/** Who owns a table: who writes it, and who alone names it in a statement. */
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

const tables = sources
  .filter((file) => file.startsWith("migrations/"))
  .flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/CREATE (?:UNLOGGED )?TABLE ([a-z_]+)/gu)].map(
      (match) => match[1] ?? "",
    ),
  )

/** The tables a file names after `FROM`, `JOIN`, `INTO` or `UPDATE`. */
const tablesIn = (file: string) => {
  const text = readFileSync(join(root, file), "utf8")
  const named = [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE)\s+([a-z_]+)\b/gu)].map((match) => match[1] ?? "")
  const known = new Set(tables)
  return [...new Set(named)].filter((name) => known.has(name))
}

describe("tables", () => {
  it("have one owner each", () => {
    const wrong = tables.filter((table) => owners.filter(([pattern]) => pattern.test(table)).length !== 1)
    assert.deepStrictEqual(wrong, [])
  })

  it("are touched by their owners alone", () => {
    const wrong = sources
      .filter((file) => file.startsWith("src/"))
      .flatMap((file) =>
        tablesIn(file)
          .filter((table) => owners.some(([pattern, owner]) => pattern.test(table) && !owner.test(file)))
          .map((table) => `${file} → ${table}`),
      )
    assert.deepStrictEqual(wrong, [])
  })
})
