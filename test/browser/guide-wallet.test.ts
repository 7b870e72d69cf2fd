/** A wallet of the browser is asked once, for exactly the listed price, and its owner's no costs nothing. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import type { Locator } from "playwright-core"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { type BrowserClient } from "../lab/browser/Browser.ts"
import { guide, settled, signed } from "../lab/browser/Guide.ts"
import { kept, stepsOf, watch, write } from "../lab/browser/PrayerPage.ts"
import { ask } from "../lab/Fixture.ts"
import { assertEach, valuesOf } from "../lab/Assertions.ts"

interface Call {
  readonly method: string
  readonly params?: ReadonlyArray<string>
}

/** A wallet's refusals (EIP-1193). */
interface Refusal {
  readonly refuses: { readonly code: number; readonly message: string }
}

const refuse = (code: number, message: string): Refusal => ({ refuses: { code, message } })

/** An EIP-1193 wallet in the page that announces itself (EIP-6963); it signs, or its owner refuses. */
const install = async ({ page }: BrowserClient, answer: (call: Call) => Promise<unknown>) => {
  const calls: Array<Call> = []
  await page.exposeFunction("askWallet", (call: Call) => {
    calls.push(call)
    return answer(call)
  })
  await page.addInitScript(() => {
    const provider = {
      request: async (call: unknown) => {
        const said = await Reflect.get(window, "askWallet")(call)
        if (said?.refuses === undefined) return said
        throw Object.assign(new Error(said.refuses.message), { code: said.refuses.code })
      },
    }
    addEventListener("eip6963:requestProvider", () =>
      dispatchEvent(
        new CustomEvent("eip6963:announceProvider", { detail: { info: { name: "Test wallet" }, provider } }),
      ),
    )
  })
  await page.reload()
  return calls
}

const signer =
  (account: PrivateKeyAccount) =>
  ({ params = [] }: Call) => {
    const data = JSON.parse(params[1] ?? "")
    const { EIP712Domain: _, ...types } = data.types
    return account.signTypedData({ ...data, types })
  }

const take = async (form: Locator) => {
  await form.getByRole("button", { name: "Make a play wallet" }).click()
  await form.getByRole("button", { name: "Test wallet" }).click()
}

const funded = Effect.gen(function* () {
  const account = privateKeyToAccount(generatePrivateKey())
  const chain = yield* LocalChain
  yield* Effect.orDie(chain.fund(account.address, 5_000_000n))
  return account
})

const unwilling: ReadonlyArray<readonly [words: string, answers: Readonly<Record<string, unknown>>]> = [
  ["You declined in your wallet.", { eth_signTypedData_v4: refuse(4001, "User rejected.") }],
  ["The wallet gave no signature.", { eth_signTypedData_v4: refuse(-32_603, "Internal error") }],
  [
    "The wallet did not change to Base Sepolia, a test network.",
    { eth_chainId: "0x1", wallet_switchEthereumChain: refuse(-32_603, "No.") },
  ],
  [
    "You declined in your wallet.",
    {
      eth_chainId: "0x1",
      wallet_switchEthereumChain: refuse(4902, "Unrecognized chain"),
      wallet_addEthereumChain: refuse(4001, "User rejected."),
    },
  ],
  [
    "The wallet does not know the network. Add it there, then try again.",
    {
      eth_chainId: "0x1",
      wallet_switchEthereumChain: refuse(4902, "Unrecognized chain"),
      wallet_addEthereumChain: null,
    },
  ],
  [
    "The wallet is already asking you something. Open it and answer there, then try again.",
    { eth_signTypedData_v4: refuse(-32_002, "Request already pending") },
  ],
]

guide("a browser wallet", (it) => {
  it("adds and joins the network, and signs the candle that its owner chose", async ({ visit, run }) => {
    const account = await run(funded)
    const visitor = await visit("/v2/candles")
    const { page, url } = visitor
    let [isKnown, network] = [false, "0x1"]
    const calls = await install(visitor, async ({ method, params = [] }) => {
      if (method === "eth_requestAccounts") return [account.address]
      if (method === "eth_chainId") return network
      if (method === "wallet_addEthereumChain") {
        isKnown = true
        return null
      }
      if (method === "wallet_switchEthereumChain") {
        if (!isKnown) return refuse(4902, "Unrecognized chain")
        network = "0x14a34"
        return null
      }
      return signer(account)({ method, params })
    })
    const requests = watch(page)
    const form = page.locator("#light form")
    await form.getByLabel("With which spirit").selectOption("lantern-axolotl")
    await form.getByLabel("seven days, $3").check()
    await form.getByLabel("Dedication").fill("For Grandma, who kept bees")
    await take(form)
    await form.getByText(account.address.slice(0, 6)).waitFor()
    await form.getByRole("button", { name: "Light the candle for $3.00" }).click()
    await settled(page).waitFor()
    assert.match(await page.locator(".receipt").innerText(), /You paid \$3\.00\./u)
    const [add, change] = ["wallet_addEthereumChain", "wallet_switchEthereumChain"]
    const asked = ["eth_requestAccounts", "eth_chainId", change, add, change, "eth_signTypedData_v4"]
    assert.deepStrictEqual(valuesOf(calls, "method"), asked)
    assert.match(JSON.stringify(calls[3]?.params), /"chainId":"0x14a34","chainName":"Base Sepolia"/u)
    const { domain, message } = JSON.parse(calls.at(-1)?.params?.[1] ?? "")
    assert.deepStrictEqual([message.value, domain.chainId], ["3000000", 84532])
    assert.strictEqual(signed(requests).length, 1)
    await page.locator("#wall .votive", { hasText: "For Grandma, who kept bees" }).waitFor()
    const wall = await run(ask(`${url}/api/candles?spirit=lantern-axolotl`))
    assert.match(wall.text, /"rung":"week"[^}]*"dedication":"For Grandma, who kept bees"/u)
  })

  it("that does not sign changes nothing, says why, and can be asked again", async ({ visit, run }) => {
    const account = await run(funded)
    const visitor = await visit("/v2/spirits/slate-lynx")
    const { page } = visitor
    let refusals: Readonly<Record<string, unknown>> = {}
    await install(visitor, async ({ method }) =>
      method === "eth_requestAccounts" ? [account.address] : { eth_chainId: "0x14a34", ...refusals }[method],
    )
    const requests = watch(page)
    const form = page.getByRole("form", { name: "Leave the prayer" })
    await write(page)
    await take(form)
    for (const [index, [words, answers]] of unwilling.entries()) {
      refusals = answers
      const priced = page.waitForRequest("**/api/prayers/**")
      await form.getByRole("button", { name: "Leave the prayer for" }).click()
      await priced
      await form.locator(".verdict", { hasText: `${words} Nothing was charged.` }).waitFor()
      await form.getByText("Waiting for the signature").waitFor({ state: "hidden" })
      assert.match(await stepsOf(form), /^Done: \$0\.01.* as listed\. Stopped: Not signed\.$/u)
      const keys = new Set(requests.flatMap((request) => request.headers()["idempotency-key"] ?? []))
      assert.strictEqual(keys.size, index + 1, words)
      assert.deepStrictEqual(signed(requests), [], words)
      assert.deepStrictEqual(await kept(page), [], words)
    }
  })

  it("is chosen after the words, and without enough money is refused and charged nothing", async ({ visit }) => {
    const account = privateKeyToAccount(generatePrivateKey())
    const visitor = await visit("/v2/spirits/dune-pangolin")
    const { page } = visitor
    await install(visitor, async (call) => {
      if (call.method === "eth_requestAccounts") return [account.address]
      return call.method === "eth_chainId" ? "0x14a34" : signer(account)(call)
    })
    const form = page.getByRole("form", { name: "Leave the prayer" })
    const lay = form.getByRole("button", { name: "Leave the prayer for" })
    await form.getByLabel("Your words").fill("  ")
    await lay.click()
    await form.getByText("Mend the marked field. Nothing was signed.").waitFor()
    await form.getByText("Write something first.").waitFor()
    await form.getByLabel("Your words").fill("a".repeat(290))
    await form.getByText("10 too many.").waitFor()
    await write(page)
    await lay.click()
    // The choice of a wallet goes on to the payment that was asked for.
    await form.getByRole("button", { name: "Test wallet" }).click()
    await form.getByText("holds less USDC").waitFor()
    const said = await form.locator("[data-progress]").innerText()
    assert.match(said, /holds less USDC than the price\. Fund it and sign again\. This request charged nothing\.\s*$/u)
    assert.notInclude(said, "Nothing was charged.")
    assert.match(
      await stepsOf(form),
      /^Done: .* Done: Signed\. .* Stopped: The altar refused the payment, so there is no act\.$/u,
    )
    // The signed authorization may still pay once the wallet is funded: only its words stay, so that they can be revealed.
    const slots = await kept(page)
    await form.getByRole("button", { name: "Change" }).click()
    await form.getByRole("button", { name: "a play wallet" }).click()
    await form.getByText("Play wallet with").waitFor()
    assertEach(slots, (key) => key.replace(/:[^:]*$/u, ""), ["altar:words"])
  })
})
