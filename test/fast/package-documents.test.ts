/** The documents of the package are true to the contract, the command line and the rules of their readers. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect } from "effect"
import { sales } from "../../schema/altar/Sales.ts"
import { priceUsd } from "../../schema/payments/Payment.ts"
import { documents } from "../../src/build/documents.ts"
import { assertNone } from "../lab/Assertions.ts"
import { printed } from "../lab/CommandRun.ts"
import { jsonOf } from "../lab/Sources.ts"

const { "README.md": readme, "SKILL.md": skill, "server.json": server } = documents

describe("the package's", () => {
  it("SKILL.md has at most 60 lines, a name and a description, and the price of each act", () => {
    assert.isAtMost(skill.trimEnd().split("\n").length, 60)
    assert.match(skill, /^---\nname: spirit-altar\ndescription: [^\n:]{1,1024}\n---\n/u)
    assertNone(sales, ({ sale }) => !skill.includes(`${priceUsd(sale.priceAtomic)} | \`${sale.command}\` |`))
  })

  it.effect("README and SKILL.md name only commands and flags that exist", function* () {
    const text = `${readme}${skill}`
    const commands = new Set([...text.matchAll(/npx spirit-altar ([a-z]+) /gu)].map(([, name = ""]) => name))
    const helps = yield* Effect.forEach([...commands], (command) => printed(command, "--help"))
    assertNone([...commands], (command, at) => helps[at]?.includes(`spirit-altar ${command} `) !== true)
    const help = helps.join("\n")
    assertNone([...text.matchAll(/(?<= |`)--[a-z][a-z-]*/gu)], ([flag]) => !help.includes(flag))
    assert.includeMembers([...commands], ["witness", "reveal", "verify", "serve"])
  })

  it("server.json has what a registry of MCP servers demands", () => {
    const { $schema, description, name, packages, remotes, title, version, ...others } = JSON.parse(server)
    assert.deepStrictEqual(others, {})
    assert.match(
      $schema,
      /^https:\/\/static\.modelcontextprotocol\.io\/schemas\/\d{4}-\d\d-\d\d\/server\.schema\.json$/u,
    )
    assert.match(name, /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/u)
    assert.strictEqual(version, jsonOf("package.json").version)
    assertNone([title, description], (text) => text.length < 1 || text.length > 100)
    const [{ type, url, variables }] = remotes
    assert.deepStrictEqual([type, url], ["streamable-http", "https://{host}/mcp"])
    assert.deepStrictEqual(Object.keys(variables), ["host"])
    const [{ environmentVariables, packageArguments, runtimeHint, transport, ...named }] = packages
    assert.deepStrictEqual(named, { registryType: "npm", identifier: jsonOf("package.json").name, version })
    assert.deepStrictEqual([runtimeHint, transport], ["npx", { type: "stdio" }])
    assert.deepStrictEqual(
      packageArguments.map(({ name: flag, type: kind, value }: Record<string, unknown>) => [kind, flag, value]),
      [
        ["positional", undefined, "mcp"],
        ["named", "--url", "https://{host}"],
      ],
    )
    assert.deepInclude(environmentVariables[0], { name: "SPIRIT_ALTAR_PRIVATE_KEY", isRequired: true, isSecret: true })
  })
})
