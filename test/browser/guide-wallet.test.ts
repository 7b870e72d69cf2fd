/** A wallet of the browser is asked once, for exactly the listed price, and its owner's no costs nothing. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import type { Request } from "playwright-core"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { steps, visit, type Visitor } from "../support/Browser.ts"
import { guide, signed } from "../support/Guide.ts"
import { ask } from "../support/World.ts"

interface Call {
  readonly method: string
  readonly params?: ReadonlyArray<string>
}

/** An EIP-1193 wallet in the page that announces itself (EIP-6963); it signs, or its owner refuses. */
const install = ({ page }: Visitor, answer: (call: Call) => Promise<unknown>) => {
  const calls: Array<Call> = []
  return steps(async () => {
    await page.exposeFunction("askWallet", (call: Call) => {
      calls.push(call)
      return answer(call)
    })
    await page.addInitScript(() => {
      const provider = { request: (call: unknown) => Reflect.get(window, "askWallet")(call) }
      addEventListener("eip6963:requestProvider", () =>
        dispatchEvent(
          new CustomEvent("eip6963:announceProvider", { detail: { info: { name: "Test wallet" }, provider } }),
        ),
      )
    })
    await page.reload()
  }).pipe(Effect.as(calls))
}

const funded = Effect.gen(function* () {
  const account = privateKeyToAccount(generatePrivateKey())
  const chain = yield* LocalChain
  yield* Effect.orDie(chain.fund(account.address, 5_000_000n))
  return account
})

guide("a wallet of the browser", (it) => {
  it.effect("signs a candle of three dollars after its owner chose the week", () =>
    Effect.gen(function* () {
      const account = yield* funded
      const visitor = yield* visit("/v2/spirits/kelp-seal")
      const { page, url } = visitor
      let network = "0x1"
      const calls = yield* install(visitor, async ({ method, params = [] }) => {
        if (method === "eth_requestAccounts") return [account.address]
        if (method === "eth_chainId") return network
        if (method === "wallet_switchEthereumChain") {
          network = "0x14a34"
          return null
        }
        const data = JSON.parse(params[1] ?? "")
        const { EIP712Domain: _, ...types } = data.types
        return account.signTypedData({ ...data, types })
      })
      const requests: Array<Request> = []
      page.on("request", (request) => requests.push(request))
      yield* steps(async () => {
        await page.getByText("Light a candle here").click()
        const form = page.getByRole("form", { name: "Light the candle" })
        await form.getByLabel("seven days, $3").check()
        await form.getByLabel("Dedication").fill("For Grandma, who kept bees")
        await form.getByRole("button", { name: "Make a play wallet" }).click()
        await form.getByRole("button", { name: "Test wallet" }).click()
        await form.getByText(account.address.slice(0, 6)).waitFor()
        await form.getByRole("button", { name: "Light the candle for $3.00" }).click()
        await page.getByText("Settled.").waitFor()
        assert.match(await page.locator(".receipt").innerText(), /\$3\.00 was charged, once/u)
      })
      assert.deepStrictEqual(
        calls.map(({ method }) => method),
        ["eth_requestAccounts", "eth_chainId", "wallet_switchEthereumChain", "eth_signTypedData_v4"],
      )
      const { domain, message } = JSON.parse(calls.at(-1)?.params?.[1] ?? "")
      assert.deepStrictEqual([message.value, domain.chainId], ["3000000", 84532])
      assert.strictEqual(signed(requests).length, 1)
      const wall = yield* ask(`${url}/api/candles?spirit=kelp-seal`)
      assert.match(wall.text, /"rung":"week"[^}]*"dedication":"For Grandma, who kept bees"/u)
    }),
  )

  it.effect("whose owner says no leaves nothing behind, and may be asked anew", () =>
    Effect.gen(function* () {
      const account = yield* funded
      const visitor = yield* visit("/v2/spirits/slate-lynx")
      const { page } = visitor
      yield* install(visitor, async ({ method }) => {
        if (method === "eth_requestAccounts") return [account.address]
        if (method === "eth_chainId") return "0x14a34"
        throw new Error("User rejected the request.")
      })
      const keys: Array<string> = []
      page.on("request", (request) => {
        const key = request.headers()["idempotency-key"]
        if (key !== undefined) keys.push(key)
        assert.isUndefined(request.headers()["payment-signature"])
      })
      yield* steps(async () => {
        const form = page.getByRole("form", { name: "Lay the prayer" })
        await form.getByRole("button", { name: "Make a play wallet" }).click()
        await form.getByRole("button", { name: "Test wallet" }).click()
        for (const round of [1, 2]) {
          await form.getByRole("button", { name: "Lay the prayer" }).click()
          await form.getByText("The wallet gave no signature. Nothing was charged.").waitFor()
          assert.strictEqual(new Set(keys).size, round)
        }
        assert.deepStrictEqual(await page.evaluate(() => Object.keys(sessionStorage)), [])
      })
    }),
  )
})
