/** Every act has a form in the pages: one that follows from its contract, and where pages say they have it, one written for it. */
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { sales, type Sold } from "../../schema/altar/Sales.ts"
import { fieldsOf } from "../../schema/Form.ts"
import { bodyOf } from "../../schema/payments/Sale.ts"
import { buyPath, unplaced } from "../../src/pages/templates/BuyAct.ts"
import { valuesOf } from "../lab/Assertions.ts"
import { ask, realClock, TestServer, world } from "../lab/Fixture.ts"

/** The forms of a page that pay: the paths that each may send to, and the members that its fields fill. */
const formsOf = Effect.fnUntraced(function* (path: string) {
  const { url } = yield* TestServer
  const { text } = yield* ask(url + path, { headers: { accept: "text/html" } })
  return [...text.matchAll(/<form\b[^>]*\bdata-pay\b[^]*?<\/form>/gu)].map(([form]) => ({
    paths: [...form.matchAll(/\bdata-path="([^"]+)"/gu)].map(([, at = ""]) => at),
    // Choices that are all in view have one name.
    fields: [
      ...new Set([...form.matchAll(/\bdata-(?:place|query|body|json|seal)="([^"]+)"/gu)].map(([, name = ""]) => name)),
    ],
  }))
})

const membersOf = (endpoint: Sold) => [endpoint.query, bodyOf(endpoint)].flatMap(fieldsOf)

layer(world(), realClock)("the pages", (it) => {
  it.effect.each(sales.map((endpoint) => ({ endpoint, name: endpoint.identifier })))(
    "have a form with a field for each member of $name",
    function* ({ endpoint }) {
      const [form] = yield* formsOf(buyPath(endpoint))
      const inPath = [...endpoint.path.matchAll(/:(\w+)/gu)].map(([, name]) => name)
      assert.sameMembers(form?.fields ?? [], [...inPath, ...valuesOf(membersOf(endpoint), "name")])
    },
  )

  it.effect("have a form of its own for each act that they do not link, with what its request requires", function* () {
    const pages = ["/v2/stone", "/v2/candles", "/v2/catalog", "/v2/spirits/moss-hare"]
    const forms = (yield* Effect.forEach(pages, formsOf)).flat()
    for (const endpoint of sales.filter((act) => !unplaced.includes(act))) {
      const path = new RegExp(`^${endpoint.path.replace(/:\w+/u, "[^/]+")}$`, "u")
      const own = forms.filter(({ paths }) => paths.some((at) => path.test(at)))
      assert.isNotEmpty(own, endpoint.identifier)
      for (const { fields } of own)
        for (const { name, required } of membersOf(endpoint))
          if (required) assert.include(fields, name, endpoint.identifier)
    }
  })

  it.effect("have no form for an act that is not sold", function* () {
    const { url } = yield* TestServer
    assert.strictEqual((yield* ask(`${url}/v2/buy/ringGong`)).status, 404)
  })
})
