/** Postman's runner sends every request of the document through Prism's proxy, which finds no fault on either side. */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert, beforeAll, layer } from "../lab/It.ts"
import { Effect, Schema } from "effect"
import { vi } from "vitest"
import { buy } from "../lab/buyer/Purchase.ts"
import { patience } from "../lab/Patience.ts"
import { ask, post, realClock, TestServer, world } from "../lab/Fixture.ts"
import * as Workbench from "./Workbench.ts"
import { assertNone } from "../lab/Assertions.ts"

vi.setConfig({ testTimeout: patience(300), hookTimeout: patience(300) })

let bench = ""
beforeAll(async () => void (bench = await Workbench.open()))

const Heard = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ request: Schema.String, status: Schema.Int, faults: Schema.Array(Schema.String) })),
)
const decode = Schema.decodeEffect(Heard)

/** The ids that stand in the document's examples. */
const example = { act: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1", room: "5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d" }

layer(world(), realClock)("newman through Prism", (it) => {
  const run = Effect.fnUntraced(function* (document: string, token: string) {
    const { url } = yield* TestServer
    const file = join(bench, "document.json")
    yield* Effect.promise(() => writeFile(file, document))
    const { code, stderr, stdout } = yield* Effect.promise(() =>
      Workbench.node(bench, ["proxied.mjs", url, file, token]),
    )
    assert.strictEqual(code, 0, stderr)
    return yield* decode(stdout)
  })

  it.effect("matches every operation of the document without a fault", function* () {
    const { url } = yield* TestServer
    const stone: string = (yield* buy()).record.id
    const { room, token } = JSON.parse((yield* ask(`${url}/api/rooms`, post({ name: "Night shift" }))).text)
    const served = (yield* ask(`${url}/openapi.json`)).text
    const named = served.replaceAll(example.act, stone).replaceAll(example.room, room.id)
    const heard = yield* run(named, token)
    assert.strictEqual(heard.length, [...served.matchAll(/"operationId":/gu)].length)
    assertNone(heard, ({ faults, status }) => faults.length > 0 || status === 0 || status >= 500)
    const statuses = new Set(heard.map(({ status }) => status))
    for (const status of [200, 201, 402, 409]) assert.isTrue(statuses.has(status), `${status} was met`)
  })
})
