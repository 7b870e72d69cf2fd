/** The validating pass sees what it is there for: a status, a header, a member or a value that the document has not. */
import { Effect } from "effect"
import { assert, layer } from "@effect/vitest"
import { faultsOf } from "../lab/run/Contract.ts"
import { ask, realClock, TestServer } from "../lab/Fixture.ts"
import { rooms } from "../lab/server/Rooms.ts"

layer(rooms(), realClock)("the validating pass", (it) => {
  it.effect("accepts true answers and finds each fault in a false one of any operation", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const address = `${url}/api/witness/chain?limit=1`
      const { headers, status, text } = yield* ask(address)
      const told = { method: "GET", url: address, status, headers, body: text }
      const without = new Headers(headers)
      without.delete("etag")
      const html = new Headers(headers)
      html.set("content-type", "text/html")
      const changed = (change: object) => JSON.stringify({ ...JSON.parse(text), ...change })

      assert.deepStrictEqual(faultsOf(told), [])
      assert.match(faultsOf({ ...told, status: 418 }).join(), /GET \/api\/witness\/chain 418: .* not documented/u)
      assert.match(faultsOf({ ...told, headers: without }).join(), /ETag is missing/u)
      assert.match(faultsOf({ ...told, headers: html }).join(), /text\/html is not documented/u)
      assert.match(faultsOf({ ...told, body: changed({ more: 1 }) }).join(), /additional properties/u)
      assert.match(faultsOf({ ...told, body: changed({ next: "2" }) }).join(), /\/next/u)
      assert.match(faultsOf({ ...told, body: changed({ head: undefined }) }).join(), /required property 'head'/u)

      // Every operation is covered, and what is not of the API is left alone.
      const heard = { method: "POST", url: `${url}/api/rooms`, status: 299, headers: new Headers() }
      assert.lengthOf(faultsOf(heard), 1)
      assert.lengthOf(faultsOf({ ...heard, url: `${url}/v2/` }), 0)
      assert.lengthOf(faultsOf({ ...heard, method: "PATCH" }), 0)
    }),
  )
})
