/** The marks of pages: templates write them, scripts find them, and one table has them all. */
import { assert, describe, it } from "@effect/vitest"
import { attributeOf, type MarkName, marks } from "../../src/web/v2/page/marks.ts"
import { filesIn, textOf } from "../lab/Sources.ts"

const templates = filesIn(["src/pages"]).map(textOf).join("\n")
const scripts = filesIn(["src/web"])
  .filter((file) => !file.endsWith("page/marks.ts"))
  .map(textOf)
  .join("\n")
const styles = filesIn(["src/web"], /\.css$/u)
  .map(textOf)
  .join("\n")

/** Fields that templates write by their parts of a request. */
const fieldParts = new Set(["place", "seal", "query", "body", "json"])

describe("the table of marks", () => {
  it("has only marks that a template writes, and that a script or a style finds", () => {
    for (const name of Object.keys(marks)) {
      const found = new RegExp(`\\b(?:allMarked|marked|selectorOf|attributeOf)\\("${name}"`, "u")
      const isFound = found.test(scripts) || fieldParts.has(name) || styles.includes(`attr(${attributeOf(name)})`)
      assert.include(templates, `mark("${name}"`)
      assert.isTrue(isFound, `no script or style finds ${name}`)
    }
  })

  it("is the only place where an attribute is named", () => {
    assert.deepStrictEqual(templates.match(/\bdata-[a-z]/gu), null)
    assert.deepStrictEqual(scripts.match(/\bdata-[a-z]|\bdataset\b/gu), null)
  })

  it("names the elements on which the templates write the marks", () => {
    const written = [...templates.matchAll(/<([a-z0-9]+)\b(?=((?:[^<>]|=>|\$\{"<)*?\$\{mark\("(\w+)"))/gu)]
    assert.isAbove(written.length, 30)
    for (const [, tag, , name] of written) {
      const expected: string = marks[name as MarkName]
      if (expected !== "*" && expected !== "field") assert.strictEqual(tag, expected, `the mark ${name}`)
    }
  })
})
