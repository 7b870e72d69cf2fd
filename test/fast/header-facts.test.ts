/** The validator of answers finds each documented fact of a header false where it is. */
import { assert, describe, it } from "vitest"
import { operations } from "../lab/OpenApi.ts"
import { faultsOf } from "../lab/run/Contract.ts"

const uuid = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

const rows = operations.flatMap(({ method, path, responses }) =>
  Object.entries(responses).flatMap(([status, { headers = {} }]) =>
    Object.entries(headers).map(([name, header]) => ({ method, path, status: Number(status), name, ...header })),
  ),
)

const faultsWith = ({ method, name, path, status }: (typeof rows)[number], value: string | null) =>
  faultsOf({
    method,
    url: `https://altar.example${path.replaceAll(/\{[^}]+\}/gu, uuid)}`,
    status,
    headers: { get: (other) => (other === name ? value : null) },
  }).filter((fault) => new RegExp(` ${status}: ${name}(?: is|:)`, "u").test(fault))

describe("a documented header", () => {
  it("is valid as its example, and caught with any other word before it", () => {
    assert.isAbove(rows.length, 500)
    for (const row of rows) {
      const place = `${row.name} of ${row.method} ${row.path} ${row.status}`
      for (const example of row.schema.examples ?? []) {
        assert.deepStrictEqual(faultsWith(row, String(example)), [], place)
        assert.lengthOf(faultsWith(row, `not ${String(example)}`), 1, place)
      }
      assert.isNotEmpty(row.schema.examples, place)
    }
  })

  it("is caught where it is required and missing", () => {
    for (const row of rows.filter(({ required }) => required)) assert.lengthOf(faultsWith(row, null), 1, row.name)
  })
})
