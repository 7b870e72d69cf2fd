/** An open payment, as the reference client's interceptor for axios meets it; `@x402/fetch` is tested without an installation. */
import { assert, beforeAll } from "@effect/vitest"
import { Effect } from "effect"
import { vi } from "vitest"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import * as Purchase from "../lab/buyer/Purchase.ts"
import { paymentFixture } from "../lab/buyer/PaymentFixture.ts"
import { patience } from "../lab/Patience.ts"
import { proxiedServer } from "../lab/server/ProxiedServer.ts"
import * as Workbench from "./Workbench.ts"
import { live } from "../lab/Suites.ts"

// Installs at most once.
vi.setConfig({ testTimeout: patience(300), hookTimeout: patience(300) })

let bench = ""
beforeAll(async () => {
  await Workbench.install()
  bench = await Workbench.open()
})

live("@x402/axios hands on the 202 of a pending payment, and signs once", () =>
  Effect.gen(function* () {
    const { url } = yield* paymentFixture
    const key = generatePrivateKey()
    yield* (yield* LocalChain).fund(privateKeyToAccount(key).address, 1_000_000n)
    yield* Purchase.automine(false)
    const { code, stderr, stdout } = yield* Effect.promise(() => Workbench.node(bench, ["pending.ts", url, key]))
    assert.strictEqual(code, 0, stderr)
    const told: Record<"key" | "code" | "header", string> & { readonly status: number } = JSON.parse(stdout)
    assert.include(told, { status: 202, code: "settlement_pending" })
    assert.include(JSON.parse(Buffer.from(told.header, "base64").toString()), {
      success: false,
      errorReason: "settlement_pending",
    })
    yield* Purchase.mineAll
    assert.strictEqual((yield* Purchase.storedAnswer(url, told)).status, 200)
    yield* Purchase.audit(url)
  }).pipe(Effect.provide(proxiedServer("relayer", "1 second"))),
)
