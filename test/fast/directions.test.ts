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
    /^src\/payments\//u,
    /^(?:src\/(?!payments|platform)|schema\/(?:altar|room|agents))/u,
    "payments know no act and no room",
  ],
  [/^src\/payments\/(?!PaidHttp)/u, /^effect\/http$|^src\/platform\/http/u, "the pipeline knows no HTTP server"],
  [/^src\/altar\//u, /^(?:src|schema)\/room/u, "the altar does not know the room"],
  [/^src\/room\//u, /^(?:src|schema)\/(?:altar|payments)/u, "the room does not know the altar"],
  [
    /^src\/log\//u,
    /^src\/(?!log|altar\/(?:witness\/WitnessChain|HashChain)|platform)|^schema\/(?!log|altar\/ChainLink)/u,
    "the log reads the altar's chain and nothing else",
  ],
  [/^src\/(?:altar|payments)\//u, /^(?:src|schema)\/log/u, "what is sold does not know the log"],
  [/^src\/limits\//u, /^(?:src|schema)\/(?:altar|payments|room)/u, "limits know nobody"],
  [/^src\/agents\//u, /^(?:src|schema)\/(?:room|cli)/u, "agents meet the altar alone"],
  [
    /^src\/buyer\//u,
    /^(?!schema\/|src\/buyer\/|effect|viem|@x402\/)/u,
    "the buyer's library has no server code, and nothing that a browser lacks",
  ],
  [/^src\/(?!buyer|cli)/u, /^src\/buyer/u, "the server does not need the buyer"],
  [/^src\/(?!sandbox|cli|main)/u, /^src\/sandbox/u, "nothing asks whether it is in the sandbox"],
  [/^src\/(?!cli|main)/u, /^src\/cli/u, "nothing needs the command line"],
]

/** The remote facilitator and the card processor are asked over HTTP: clients, not servers. */
const excused = new Set(["src/payments/x402/FacilitatorSettlement.ts", "src/payments/card/CardProcessor.ts"])

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
