/** `serve --check` says of the token what would refuse every payment. */
import { Effect, Redacted, Result } from "effect"
import { generate } from "../../src/log/Signer.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { main, run } from "../lab/Process.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { direct } from "../lab/server/Environment.ts"
import { order } from "../lab/buyer/TokenIssuer.ts"
import { apart, assert } from "../lab/Suites.ts"

/** The line of a check. */
const checked = Effect.fnUntraced(function* (name = "token", more: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env["PATH"] ?? "", ...(yield* direct), ...more }
  const { stdout } = yield* Effect.promise(() => run([main, "serve", "--check", "--json"], { env }).ended)
  const { checks }: { readonly checks: ReadonlyArray<Record<string, string>> } = JSON.parse(stdout)
  return checks.find(({ check }) => check === name) ?? assert.fail(stdout)
})

apart("serve --check", stage, (it) => {
  it("fails for a paused token and for a blocked PAY_TO, and names the cause", function* () {
    const { payTo } = yield* LocalChain
    assert.strictEqual((yield* checked())["state"], "ok")
    yield* order(["pause"])
    const paused = yield* checked()
    assert.strictEqual(paused["state"], "failed")
    assert.match(paused["message"] ?? "", /paused all transfers/u)
    yield* order(["unpause"])
    yield* order(["blacklist", payTo])
    const blocked = yield* checked()
    assert.strictEqual(blocked["state"], "failed")
    assert.match(blocked["message"] ?? "", /blocked PAY_TO/u)
  })

  it("fails for a file of receipt authorizations that cannot be read", function* () {
    const line = yield* checked("receipts", {
      PUBLIC_URL: "https://altar.example",
      RECEIPT_KEY: Redacted.value(Result.getOrThrow(generate("receipts-1"))),
      RECEIPT_AUTHORIZATIONS: "/nowhere.json",
    })
    assert.strictEqual(line["state"], "failed")
    assert.match(line["message"] ?? "", /nowhere.json cannot be read/u)
  })
})
