/** A terminal shows that a payment is pending, and waits for evidence instead of paying again. */
import { Effect } from "effect"
import { authorizationsUsed } from "../lab/buyer/LibraryBuyer.ts"
import { terminal } from "../lab/Terminal.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import { assert, describe, live } from "../lab/Suites.ts"

describe("spirit-altar", () => {
  live("reports a payment as pending until the chain knows, and then the act", () =>
    Effect.gen(function* () {
      const at = yield* terminal
      yield* Purchase.onChain((client) => client.setAutomine(false))
      const buying = at.start(["witness", "--text", "The heron will return by May.", "--json"])
      yield* Effect.promise(() => buying.says("pending     the outcome is not known yet; asking again in"))
      yield* Purchase.onChain(async (client) => {
        await client.setAutomine(true)
        await client.mine({ blocks: 1 })
      })
      const { code, stderr, stdout } = yield* Effect.promise(() => buying.ended)
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(JSON.parse(stdout).record.sequence, 1)
      assert.strictEqual(yield* authorizationsUsed({ account: at }), 1)
    }).pipe(Effect.provide(proxiedServer("relayer"))),
  )
})
