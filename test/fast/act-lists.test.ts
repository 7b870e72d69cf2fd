/** The lists that repeat acts by hand have each act on sale, so a new act that one of them forgets fails here. */
import { assert, describe, it } from "../lab/It.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { bodyOf, namesOf } from "../../schema/payments/Sale.ts"
import { flagName } from "../../src/cli/buyer/ActCommands.ts"
import { soldActs } from "../audit/Acts.ts"
import { acts } from "../lab/ActTable.ts"
import { printed } from "../lab/CommandRun.ts"

const names = sales.map(({ sale }) => sale.name)

describe("an act on sale", () => {
  it("has its row in the table of the tests, with the price that the auditor expects", () => {
    assert.sameMembers(
      acts().map(({ name }) => name),
      names,
    )
    assert.sameMembers(Object.keys(soldActs), names)
    for (const { name, price } of acts()) assert.strictEqual(soldActs[name]?.price, price, name)
  })

  it.effect.each(sales.map((endpoint) => ({ endpoint, name: endpoint.sale.name })))(
    "has a command with a flag for each member of its request: $name",
    function* ({ endpoint }) {
      const { command, sealed } = endpoint.sale
      const help = yield* printed(command, "--help")
      for (const member of [endpoint.query, bodyOf(endpoint)].flatMap(namesOf)) {
        const flag = member === sealed ? "(?:words|text)" : flagName(member)
        assert.match(help, new RegExp(`^ {2}--${flag}\\b`, "mu"), `${command} --${flag}`)
      }
      if (sealed !== undefined) assert.match(help, /^ {2}--salt\b/mu, command)
    },
  )
})
