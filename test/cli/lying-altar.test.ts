/** An altar that is paid and answers with something else: the command says so, keeps the evidence, and fails. */
import { Effect } from "effect"
import { assert, layer } from "@effect/vitest"
import { terminal } from "../lab/Terminal.ts"
import { forgedFields, forgeFields, lyingAltar, LyingAltar } from "../lab/proxy/LyingAltar.ts"
import { newKey, realClock } from "../lab/Fixture.ts"

const words = "The heron will return by May."

layer(lyingAltar, realClock)("spirit-altar at an altar that recorded another act", (it) => {
  it.effect("stores the purchase, and fails until the altar answers with the act that was bought", () =>
    Effect.gen(function* () {
      const at = yield* terminal
      const { tells } = yield* LyingAltar
      const key = newKey()
      const order = ["witness", "--text", words, "--key", key]
      tells(forgeFields)
      for (const command of [order, order, ["acts", key]]) {
        const ended = yield* at.run(command)
        assert.deepStrictEqual([ended.code, ended.stdout], [1, ""])
        assert.include(ended.stderr, "The altar recorded something else than you bought.")
        assert.include(ended.stderr, "priceUsd: $0.01 was bought, $9.00 is recorded.")
      }
      const [purchase] = JSON.parse((yield* at.run(["acts", "--json"])).stdout)
      assert.deepInclude(purchase, { key, state: "misrecorded", id: null, isSealed: true })
      assert.strictEqual(purchase.misrecorded.answer.receipt.priceUsd, "$9.00")
      const { code, differences } = JSON.parse((yield* at.run([...order, "--json"])).stdout)
      assert.strictEqual(code, "misrecorded")
      const fields = differences.map((one: { readonly field: string }) => one.field)
      assert.includeMembers(fields, [...forgedFields])
      tells(undefined)
      const settled = yield* at.run(["acts", key, "--json"])
      assert.strictEqual(settled.code, 0, settled.stderr)
      const [later] = JSON.parse((yield* at.run(["acts", "--json"])).stdout)
      assert.strictEqual(later.state, "settled")
      assert.strictEqual(later.misrecorded.answer.receipt.priceUsd, "$9.00", "the evidence stays")
    }),
  )
})
