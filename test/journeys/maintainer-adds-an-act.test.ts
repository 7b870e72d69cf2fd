/** A maintainer adds an act by docs/acts.md alone, in a copy of the checkout: types, lint, document and the act's own row agree. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { assert, it } from "vitest"
import { copyOfCheckout } from "../lab/CheckoutCopy.ts"
import { run } from "../lab/Process.ts"
import { examplesOf } from "../lab/Sources.ts"

/** The act is not the guide's: a horn is blown where the guide rings a bell. */
const words: ReadonlyArray<readonly [RegExp, string]> = [
  [/ringBell/gu, "blowHorn"],
  [/ringing/gu, "blowing"],
  [/\bRing\b/gu, "Blow"],
  [/\bring\b/gu, "blow"],
  [/\brang\b/gu, "blew"],
  [/Rung/gu, "Blown"],
  [/rung/gu, "blown"],
  [/stroke/gu, "blast"],
  [/Bell/gu, "Horn"],
  [/bell/gu, "horn"],
]
const [endpoint = "", behaviour = "", text = ""] = examplesOf("docs/acts.md").map((example) =>
  words.reduce((written, [theirs, ours]) => written.replaceAll(theirs, ours), example.text),
)

/** The parts that the guide names and leaves to its reader, as the smallest act of the altar has them. */
const schema = `/** Horns: one blast for each spirit and tone. */
import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Timestamp, Url, Uuid } from "../Common.ts"
import { settledAct } from "../payments/Act.ts"
import { paidErrors, paidHeaders, settled } from "../payments/Endpoint.ts"
import { paid } from "../payments/Sale.ts"
import { publicText } from "../PublicText.ts"
import { at, envelope } from "../Refusal.ts"
import { Unknown } from "./Requests.ts"
import { SpiritId, SpiritNotFound } from "./Spirit.ts"

export const HornBody = Schema.Struct({
  tone: Schema.Literals(["low", "high"]).annotate({ description: "How it sounds.", examples: ["low"] }),
  inscription: Schema.optionalKey(publicText(40).annotate({ description: "Cut into the horn, in public." })),
}).annotate({ identifier: "HornBody", description: "How a horn is blown.", examples: [{ tone: "low" }] })

export const Horn = Schema.Struct({
  id: Uuid,
  permalink: Url,
  spirit: SpiritId,
  tone: HornBody.fields.tone,
  inscription: Schema.NullOr(publicText(40)),
  blownAt: Timestamp,
}).annotate({ identifier: "Horn", description: "A horn that was blown, once for each spirit and tone." })

export const HornSettled = settledAct(Horn).annotate({ identifier: "HornSettled", description: "A settled horn." })

export class AlreadyBlown extends Schema.Error<AlreadyBlown>("AlreadyBlown")(
  envelope("already_blown", "This horn has been blown.", "Choose another spirit or tone."),
  at(409, "The horn of this spirit and tone was blown."),
) {}

${endpoint}`

const record = `const horns = paid.map(({ id, input, settledAt }) => ({
          id,
          permalink: \`\${publicUrl}/acts/\${id}\`,
          spirit: input.familiarId,
          tone: input.tone,
          inscription: input.inscription ?? null,
          blownAt: settledAt,
        }))
        yield* sql\`
          INSERT INTO horns (id, spirit, tone, inscription) SELECT id, spirit, tone, inscription
          FROM json_to_recordset(\${JSON.stringify(horns)}::json) AS r(id uuid, spirit text, tone text, inscription text)\`
        return horns.map((horn) => ({
          record: horn,
          path: \`/acts/\${horn.id}\`,
          agentName: null,
          at: horn.blownAt,
        }))`

const service = `/** Horns: one blast for each spirit and tone. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AlreadyBlown, blowHorn, Horn } from "../../../schema/altar/Horn.ts"
import { paidAct } from "../../payments/Act.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { actText } from "../ActText.ts"

export ${text}
export class Horns extends Context.Service<Horns>()("spirit-altar/altar/horns/Horns", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const publicUrl = yield* PublicUrl

    ${behaviour.replace(/\/\/ one INSERT.*/u, record)}
    return { act }
  }),
}) {
  static readonly layer = Layer.effect(this, this.make)
}
`

const migration = `/** Horns that were blown. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql\`CREATE TABLE horns (id uuid PRIMARY KEY, spirit text NOT NULL, tone text NOT NULL, inscription text,
    hidden text[] NOT NULL DEFAULT '{}')\`
})
`

const [, price = ""] = /priceAtomic: ([\d_]+)n/u.exec(endpoint.replaceAll("_", "")) ?? []

const row = `{
      name: "blowHorn",
      request: () => ({ path: \`/api/horns/\${blown()}\`, body: { tone: "low" } }),
      price: "${price}",
      taken: "already_blown",
      held: "already_blown",
    },
  ]`

it("a maintainer who follows the guide to a new act sells it, with types, lint, document and every promise of an act", async () => {
  const copy = await copyOfCheckout()
  const write = (file: string, content: string) => {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), content)
  }
  /** Replaces what is there once. */
  const edit = (file: string, ...edits: ReadonlyArray<readonly [there: string, instead: string]>) => {
    const before = readFileSync(join(copy, file), "utf8")
    for (const [there] of edits) assert.strictEqual(before.split(there).length, 2, `${file} has once: ${there}`)
    write(
      file,
      edits.reduce((now, [there, instead]) => now.replace(there, () => instead), before),
    )
  }
  const passes = async (...command: ReadonlyArray<string>) => {
    const { code, stderr, stdout } = await run([...command], { command: "npm", cwd: copy, env: process.env }).ended
    assert.strictEqual(code, 0, `npm ${command.join(" ")}\n${stdout}\n${stderr}`)
  }

  // The files that the guide lists, in its order.
  write("schema/altar/Horn.ts", schema)
  edit(
    "schema/altar/Sales.ts",
    [`import { takeIn }`, `import { blowHorn } from "./Horn.ts"\nimport { takeIn }`],
    ["lightMonth, setWitnessStone] as const", "lightMonth, setWitnessStone, blowHorn] as const"],
  )
  const last = readdirSync(join(copy, "migrations")).sort().at(-1) ?? ""
  const name = `${String(Number(last.slice(0, 4)) + 1).padStart(4, "0")}_horns`
  write(`migrations/${name}.ts`, migration)
  edit(
    "src/platform/Migrator.ts",
    [`import { lasting }`, `import horns from "../../migrations/${name}.ts"\nimport { lasting }`],
    ["\n}\n\nconst table =", `\n  "${name}": Effect.asVoid(horns),\n}\n\nconst table =`],
  )
  write("src/altar/horns/Horns.ts", service)
  edit(
    "src/altar/Acts.ts",
    ["import { keeping, Keepers }", `import { blowing, Horns } from "./horns/Horns.ts"\nimport { keeping, Keepers }`],
    ["  WitnessStones.layer,\n", "  WitnessStones.layer,\n  Horns.layer,\n"],
    ["      (yield* WitnessStones).act,\n", "      (yield* WitnessStones).act,\n      (yield* Horns).act,\n"],
    ["  setWitnessStone: witnessing,\n", "  setWitnessStone: witnessing,\n  blowHorn: blowing,\n"],
  )
  edit(
    "test/lab/ActTable.ts",
    ["  const kept = nextSpirit()\n", "  const kept = nextSpirit()\n  const blown = nextSpirit()\n"],
    ["  ]\n}\n\nconst longest", `  ${row}\n}\n\nconst longest`],
  )

  edit("test/audit/Acts.ts", [
    '"sequence::text" },\n}',
    `"sequence::text" },\n  blowHorn: { price: "${price}", table: "horns", place: "spirit || tone" },\n}`,
  ])

  await passes("run", "format")
  await passes("run", "openapi")
  await passes("run", "check")
  await passes("run", "lint")
  await passes("test", "--", "test/altar/acts.test.ts", "test/contract/act-forms.test.ts", "-t", "blowHorn")
  await passes("test", "--", "test/agents/buy-kit.test.ts", "-t", "blowHorn")
  await passes("test", "--", "test/fast/act-lists.test.ts")
})
