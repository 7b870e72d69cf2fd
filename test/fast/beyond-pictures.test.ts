/** Pictures are kept to a number: the least used goes, and is drawn again when somebody shares it again. */
import { assert, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Layer } from "effect"
import { Acts } from "../../src/altar/Acts.ts"
import { Pictures } from "../../src/pages/sharing/Pictures.ts"
import { Renderer } from "../../src/pages/sharing/Renderer.ts"

const kept = 256

const idOf = (index: number) => `3f0c2c1e-5b0a-4c1f-9d51-${index.toString(16).padStart(12, "0")}`

/** A stone as the acts service hands it out. */
const stoneOf = (id: string) => {
  const settledAt = "2026-11-22T04:00:00.000Z"
  return JSON.stringify({
    id,
    act: "setWitnessStone",
    permalink: `https://altar.example/witness/${id}`,
    agentName: "Wren",
    priceUsd: "$0.01",
    settledAt,
    receipt: {
      network: null,
      asset: null,
      payTo: null,
      explorerUrl: null,
      priceUsd: "$0.01",
      amountAtomic: "10000",
      settledAt,
      card: { method: "stripe", reference: "pi_1", currency: "usd", amountCents: "1" },
      transaction: null,
      payer: null,
    },
    record: { sequence: 1, commitment: "ab".repeat(32), spirit: "moss-hare", agentName: "Wren" },
    reveal: null,
  })
}

it.effect("a picture that nobody asked for since 256 others is drawn again", () => {
  let drawn = 0
  return Effect.gen(function* () {
    const { get, has } = yield* Pictures
    for (let index = 0; index < kept; index += 1) yield* get(idOf(index))
    const first = yield* get(idOf(0))
    assert.strictEqual(drawn, kept)
    yield* get(idOf(kept))
    assert.deepStrictEqual([yield* has(idOf(0)), yield* has(idOf(1)), yield* has(idOf(kept))], [true, false, true])
    assert.strictEqual(yield* get(idOf(0)), first)
    assert.strictEqual(drawn, kept + 1)
    yield* get(idOf(1))
    assert.strictEqual(drawn, kept + 2)
  }).pipe(
    Effect.provide(
      Pictures.layer.pipe(
        Layer.provide([
          NodeFileSystem.layer,
          Layer.mock(Acts, { get: (id) => Effect.succeed(stoneOf(id)) }),
          Layer.mock(Renderer, { render: () => Effect.sync(() => Uint8Array.of((drawn += 1))) }),
        ]),
      ),
    ),
  )
})
