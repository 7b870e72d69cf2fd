/** Discovery by agents finds every paid route, what it costs and how it is asked for, and nothing that is wrong. */
import { assert, beforeAll, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { vi } from "vitest"
import { sales } from "../../schema/altar/Sales.ts"
import { patience } from "../lab/Patience.ts"
import { realClock, TestServer, world } from "../lab/Fixture.ts"
import * as Workbench from "./Workbench.ts"

vi.setConfig({ testTimeout: patience(300), hookTimeout: patience(300) })

let bench = ""
beforeAll(async () => void (bench = await Workbench.open()))

/** As a server whose facilitator lists its routes: the challenge says how each is called. */
const catalogued = world({ terms: { isCatalogued: true } })

layer(catalogued, realClock)("@agentcash/discovery", (it) => {
  it.effect("finds no fault with a catalogued altar", function* () {
    const { url } = yield* TestServer
    const { code, stderr, stdout } = yield* Effect.promise(() => Workbench.node(bench, ["discovery.mjs", url]))
    assert.strictEqual(code, 0, stderr)
    const { auth, faults, offers } = JSON.parse(stdout)
    assert.deepStrictEqual(faults, [])
    const paid = sales.map(({ path }) => `POST ${path.replace(/:([A-Za-z]+)/u, "{$1}")}`)
    for (const route of paid) assert.strictEqual(auth[route], "paid", route)
    assert.strictEqual(auth["GET /api/rooms/{roomId}"], "apiKey")
    assert.strictEqual(auth["GET /api/witness"], "unprotected")
    assert.sameMembers(
      offers.map(({ path }: { readonly path: string }) => `POST ${path}`),
      paid,
    )
    for (const { options, path } of offers) assert.isAtLeast(options, 1, path)
  })
})
