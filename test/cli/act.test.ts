/** Every act of the contract is a command, even without code of its own. */
import { authorizationsUsed } from "../lab/buyer/LibraryBuyer.ts"
import { terminal } from "../lab/Terminal.ts"
import { layer as world, newKey } from "../lab/Fixture.ts"
import { assert, suite } from "../lab/Suites.ts"

const words = "The heron will return by May."

suite("spirit-altar act", world(), (it) => {
  it("buys by the contract alone: path, query, body and sealed words, once for a key", function* () {
    const at = yield* terminal
    const key = newKey()
    const order = ["act", "offerPrayer", "moss-hare", "--agent-name", "Wren", "--words", words, "--key", key]
    const bought = yield* at.run([...order, "--json"])
    assert.strictEqual(bought.code, 0, bought.stderr)
    const prayer = JSON.parse(bought.stdout)
    assert.deepStrictEqual([prayer.record.spirit, prayer.record.agentName, prayer.key], ["moss-hare", "Wren", key])
    assert.isString(prayer.line)
    assert.notInclude(bought.stdout + bought.stderr, words)
    const again = yield* at.run([...order, "--json"])
    assert.deepStrictEqual([JSON.parse(again.stdout).replayed, again.code], [true, 0])
    const collected = yield* at.run(["act", "collectMaterial", "beeswax", "--spirit", "kelp-seal"])
    assert.strictEqual(collected.code, 0, collected.stderr)
    assert.include(collected.stdout, "paid        $0.01, once")
    assert.match(collected.stdout, /"spirit": "kelp-seal"/u)
    assert.strictEqual(yield* authorizationsUsed({ account: at }), 2)
  })
})
