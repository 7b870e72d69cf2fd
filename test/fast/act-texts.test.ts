/** The texts of acts: each has its labels, and no visitor's words are out of an operator's reach. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Keeper } from "../../schema/altar/Keeper.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { ActTexts } from "../../src/altar/Acts.ts"
import { actText } from "../../src/altar/ActText.ts"
import { bodyOf } from "../../schema/payments/Sale.ts"

const actTexts = Effect.runSync(ActTexts)

const fieldsOf = (schema: Schema.Top | undefined) =>
  schema !== undefined && "fields" in schema ? Object.entries<Schema.Top>(Object(schema.fields)) : []

const wordsIn = (schema: Schema.Top | undefined) =>
  fieldsOf(schema).flatMap(([name, field]) => (Schema.is(field)("Two words") ? [name] : []))

describe("the text of an act", () => {
  it("has a label for every member of its record, or does not compile", () => {
    const rest = { sentence: () => "", hideable: { table: "keepers", texts: {} } }
    // `npm run check` holds it: no run can fail it.
    // @ts-expect-error the members of a keeper are missing
    const told = actText(Keeper, { ...rest, labels: { id: null } })
    assert.deepStrictEqual(told.labels, { id: null })
  })

  it.each(sales.map((sale) => ({ name: sale.identifier, sale })))("hides the words of $name", ({ name, sale }) => {
    const { texts } = actTexts.get(name)?.hideable ?? assert.fail(name)
    const hideable = [...Object.keys(texts), "agentName"]
    assert.includeMembers(hideable, wordsIn(bodyOf(sale)))
  })
})
