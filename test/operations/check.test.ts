/** `serve --check` says of the token what would refuse every payment. */
import { spawn } from "node:child_process"
import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { parseAbi } from "viem"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import { main } from "../lab/Process.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { apart } from "../lab/Suites.ts"

const issuer = parseAbi(["function pause()", "function unpause()", "function blacklist(address account)"])

const order = (functionName: "pause" | "unpause" | "blacklist", ...args: ReadonlyArray<string>) =>
  Purchase.onChain(async (client, { asset }) => {
    const [account] = await client.getAddresses()
    const call = { address: asset, abi: issuer, functionName, args, account, chain: null } as never
    await client.waitForTransactionReceipt({ hash: await client.writeContract(call) })
  })

const checked = Effect.gen(function* () {
  const { network, payTo, relayerKey, rpcUrl } = yield* LocalChain
  const { url } = yield* LocalDatabase
  const env = {
    PATH: process.env["PATH"] ?? "",
    DATABASE_URL: Redacted.value(url),
    X402_NETWORK: network,
    RPC_URL: rpcUrl,
    PAY_TO: payTo,
    RELAYER_KEY: Redacted.value(relayerKey),
  }
  const stdout = yield* Effect.promise(
    () =>
      new Promise<string>((resolve) => {
        let text = ""
        const child = spawn(process.execPath, [main, "serve", "--check", "--json"], { env })
        child.stdout.on("data", (bytes: Buffer) => (text += bytes.toString()))
        child.on("close", () => resolve(text))
      }),
  )
  const { checks }: { readonly checks: ReadonlyArray<Record<string, string>> } = JSON.parse(stdout)
  return checks.find(({ check }) => check === "token") ?? assert.fail(stdout)
})

apart("serve --check", stage, (it) => {
  it("fails for a paused token and for a blocked PAY_TO, and names the cause", function* () {
    const { payTo } = yield* LocalChain
    assert.strictEqual((yield* checked)["state"], "ok")
    yield* order("pause")
    const paused = yield* checked
    assert.strictEqual(paused["state"], "failed")
    assert.match(paused["message"] ?? "", /paused all transfers/u)
    yield* order("unpause")
    yield* order("blacklist", payTo)
    const blocked = yield* checked
    assert.strictEqual(blocked["state"], "failed")
    assert.match(blocked["message"] ?? "", /blocked PAY_TO/u)
  })
})
