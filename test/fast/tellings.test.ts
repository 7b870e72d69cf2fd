/** What acts say of themselves: nothing that a buyer writes for everybody is out of an operator's reach. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Keeper } from "../../schema/altar/Keeper.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { Tellings } from "../../src/altar/Acts.ts"
import { telling } from "../../src/altar/Telling.ts"
import { bodyOf } from "../../src/payments/ActInput.ts"

const tellings = Effect.runSync(Tellings)

const fieldsOf = (schema: Schema.Top | undefined) =>
  schema !== undefined && "fields" in schema ? Object.entries<Schema.Top>(Object(schema.fields)) : []

/** Members of a request that take any words. */
const wordsIn = (schema: Schema.Top | undefined) =>
  fieldsOf(schema).flatMap(([name, field]) => (Schema.is(field)("Two words") ? [name] : []))

describe("the telling of an act", () => {
  it("has a label for every member of its record, or does not compile", () => {
    const rest = { sentence: () => "", card: () => ({ title: "" }), hideable: { table: "keepers", texts: {} } }
    // @ts-expect-error the members of a keeper are missing
    const told = telling(Keeper, { ...rest, labels: { id: null } })
    assert.deepStrictEqual(told.labels, { id: null })
  })

  it.each(sales.map((sale) => ({ name: sale.identifier, sale })))("hides the words of $name", ({ name, sale }) => {
    const { name: column, texts } = tellings.get(name)?.hideable ?? assert.fail(name)
    const hideable = [...Object.keys(texts), ...(column === undefined ? [] : ["agentName"])]
    assert.includeMembers(hideable, wordsIn(bodyOf(sale)))
    assert.include(hideable, "agentName", "every act of this altar has a public name")
  })
})
