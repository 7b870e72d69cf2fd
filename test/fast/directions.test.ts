/** The import rules: the directions of ARCHITECTURE.md, held by reading every import. */
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

/** The circles among these files, each as a trail. */
const circlesIn = (files: ReadonlyArray<string>, next: (file: string) => ReadonlyArray<string>) => {
  const circles: Array<string> = []
  const done = new Set<string>()
  const visit = (file: string, trail: ReadonlyArray<string>) => {
    if (done.has(file)) return
    if (trail.includes(file)) return void circles.push([...trail.slice(trail.indexOf(file)), file].join(" → "))
    for (const target of next(file)) if (files.includes(target)) visit(target, [...trail, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  return circles
}

describe("the pages' modules", () => {
  it("form no cycle, not even by what is fetched later", () => {
    const modules = sources.filter((file) => file.startsWith("src/web/"))
    const next = (file: string) =>
      [...textOf(file).matchAll(/^(?!import type)[^\n]*(?:from |import\(|import )"(\.[^"]+)"/gmu)]
        .map(([, target = ""]) => join(dirname(file), target.replace(/\.js$/u, ".ts")))
        .filter((target) => target !== file)
    assert.isAtLeast(modules.length, 50)
    assert.deepStrictEqual(circlesIn(modules, next), [])
  })
})

/** Besides its own folder, a test imports the lab, the auditor, compiled contracts and the installer of tools. */
const sharedBy = (room: string) => new RegExp(`^test/(?:${room}|lab|audit|contracts|tools)/`, "u")

describe("tests", () => {
  const files = filesIn(["test"])
  const roomOf = (file: string) => file.split("/")[1] ?? ""
  const wrongOf = (room: string, allowed: RegExp) =>
    files
      .filter((file) => roomOf(file) === room)
      .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => target.startsWith("test/") && !allowed.test(target))
      .map(({ file, target }) => `${file} → ${target}`)

  it("depend on a lab that imports no test and no campaign", () => {
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

  it("take each temporary folder from the lab, which removes it with the run", () => {
    const makers = filesIn(["test"]).filter((file) => /\bmkdtemp/u.test(textOf(file)))
    assert.deepStrictEqual(makers, ["test/lab/Folders.ts"])
  })

  it("of one campaign import no other campaign", () => {
    const campaignOf = (file: string) => /^test\/campaign\/(\w+)\//u.exec(file)?.[1]
    const campaigns = files.filter((file) => campaignOf(file) !== undefined)
    assert.isAbove(new Set(campaigns.map(campaignOf)).size, 5)
    for (const file of campaigns)
      assertNone(importsOf(file), (target) => ![undefined, campaignOf(file)].includes(campaignOf(target)), file)
  })
})

const straight = /^(?:schema|src\/(?:admin|agents|altar|log|pages|telemetry))\//u

describe("static imports", () => {
  it("form no cycle", () => {
    assert.deepStrictEqual(
      circlesIn(
        sources.filter((file) => straight.test(file)),
        importsOf,
      ),
      [],
    )
  })
})

/**
 * The files of a folder that other folders import, beside its services. The rest of a room is its own: a room that needs more of
 * it adds a line here, and sees how much there is already.
 */
const surfaces: Readonly<Record<string, string>> = {
  admin: "Audit",
  agents: "Http",
  altar: `Altar Answers Artwork HashChain Hashes Http Limits Requests SpendPolicy Spirits ActFilter ActText candles/Rungs
    spirits/Hedges spirits/Hills spirits/Waters`,
  buyer: `Acts Buyer Client Fields JournalPages Orders Policy PurchaseError Purchases core/Authorization core/Chain
    core/Challenge core/Commitment core/Digest core/Expectation core/Journal core/Outcome core/RetryPolicy core/Recorded
    core/Request log/EntryProof log/MerkleProofs log/SignedCheckpoint log/StoneProof log/Tiles log/Verdict receipt/Authority receipt/Checks receipt/ContractSigned receipt/ProofChecks receipt/ReceiptFile receipt/VerifyReceipt`,
  cli: "Command",
  limits: "Address Limits Policy Windows",
  log: "Consistency Http Log LogKind LogWitness Signer StopReason Tree Verifier witness/Http",
  pages: "Site templates/Layout",
  payments: `ActAddress ActInput Hex PaidRequest Payments Receipts card/Cards ledger/LedgerSql ledger/PublicActs
    ledger/Unresolved refunds/RefundTransfer x402/node/JsonRpc x402/relayer/Fees x402/relayer/Relayer x402/settlement/Supported
    x402/verification/Eip3009`,
  room: "Ceiling Http Refusals Removal Requests",
  sandbox: "Sandbox",
  server: "Server ErrorFormats ReceiptAuthorizations config/Advice config/Table config/Telemetry",
  telemetry: "Logs Prometheus RouteNames TelemetryConfig",
  web: "build output signals/glyphs signals/patterns v2/page/candleShape v2/page/durations",
}

const isService = (file: string) => /Context\.(?:Service|Reference)</u.test(textOf(file))

describe("a folder", () => {
  it.each(Object.entries(surfaces).map(([room, files]) => ({ room, files })))(
    "exports its services and the listed files alone: $room",
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
