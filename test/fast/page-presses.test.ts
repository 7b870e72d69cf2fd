/** The presses of a form that pays buy, ask how a purchase ended, or say why they stopped. No page is needed. */
import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { vi } from "vitest"
import type { Result } from "../../src/web/v2/pay/checkout.ts"
import { AnswerError } from "../../src/web/v2/page/http.ts"
import type { Order } from "../../src/web/v2/pay/order.ts"
import { type PressedForm, pressesOf } from "../../src/web/v2/pay/press.ts"
import { begin, type Purchase, remember } from "../../src/web/v2/pay/purchase.ts"
import type { Wallet } from "../../src/web/v2/pay/wallet.ts"
import { storage } from "../lab/browser/Storage.ts"

const id = "/api/witness"
const listed = { path: id, amount: "10000", network: "eip155:8453", title: "Witness stone" }
const order = (salt: string): Order => ({ listed, body: JSON.stringify({ salt }), keepsake: null })
const wallet: Wallet = { address: "0x1", label: () => "A wallet", sign: async () => "", paid: () => {} }
const refused: Result = { tag: "refused", message: "The price changed." }
const purchase = begin(id, listed, "", null)
const payment = { header: "signed", payer: "0x1", amountAtomic: "10000", signedAt: purchase.begunAt }

/** A form whose steps are recorded. */
const pressed = (own: Partial<PressedForm> = {}, end: Result = refused) => {
  const steps: Array<string> = []
  const begun: Array<Purchase> = []
  const agains: Array<() => void> = []
  const finish = (name: string) => async (of: Purchase) => {
    steps.push(name)
    begun.push(of)
    return end
  }
  const presses = pressesOf({
    id,
    canHash: () => true,
    order: async (salt) => order(salt),
    payer: async () => wallet,
    checkout: async () => ({ run: finish("run"), resume: finish("resume") }),
    conduct: (work, again) => {
      agains.push(again)
      return work({ step: () => {} })
    },
    busy: (isBusy) => void steps.push(isBusy ? "busy" : "free"),
    stopped: (word, message, again, wait) => {
      steps.push([word, message, wait].filter((part) => part !== undefined).join(" "))
      if (again !== undefined) agains.push(again)
    },
    ended: ({ tag }) => void steps.push(tag),
    ...own,
  })
  return { ...presses, agains, begun, steps }
}

beforeEach(() => {
  vi.stubGlobal("sessionStorage", storage())
  vi.stubGlobal("localStorage", storage())
})
afterEach(() => void vi.unstubAllGlobals())

describe("a press of the pay button", () => {
  it("runs the order as it stands when the wallet is open, under the salt that was drawn", async () => {
    let title = "before"
    const form = pressed({
      order: async (salt) => ({ ...order(salt), listed: { ...listed, title } }),
      payer: async () => {
        title = "after"
        return wallet
      },
    })
    const drawn = form.salt()
    await form.pay()
    assert.deepStrictEqual(form.steps, ["busy", "run", "refused", "free"])
    assert.deepInclude(form.begun[0], { title: "after", request: { payload: { salt: drawn } } })
    assert.notStrictEqual(form.salt(), drawn, "another purchase has another salt")
  })

  it("keeps the salt of a purchase that is settled or open", async () => {
    const form = pressed({}, { tag: "open", message: "Not known yet." })
    const drawn = form.salt()
    await form.pay()
    assert.strictEqual(form.salt(), drawn)
  })

  it("does nothing while another press is in flight", async () => {
    const { promise, resolve } = Promise.withResolvers<Wallet>()
    const form = pressed({ payer: () => promise })
    const first = form.pay()
    assert.isTrue(form.isBusy())
    await form.pay()
    resolve(wallet)
    await first
    assert.deepStrictEqual(form.steps, ["busy", "run", "refused", "free"])
  })

  it("waits for the owner's choice among wallets", async () => {
    const form = pressed({ payer: async () => undefined })
    await form.pay()
    assert.deepStrictEqual(form.steps, ["busy", "free"])
  })

  it("asks how a signed purchase of the form ended, and signs nothing", async () => {
    remember({ ...purchase, payment })
    const form = pressed()
    await form.pay()
    assert.deepStrictEqual(form.steps, ["busy", "resume", "refused", "free"])
    assert.strictEqual(form.begun[0]?.key, purchase.key)
  })

  it.each<readonly [string, Partial<PressedForm>, string]>([
    ["a page that cannot hash", { canHash: () => false }, "Cannot seal here. A browser hashes only on pages loaded"],
    [
      "a field that cannot be sent",
      { order: () => Promise.reject(new AnswerError("Mend the marked field.")) },
      "Not done. Mend the marked field. Nothing was signed.",
    ],
    [
      "an altar without an answer",
      { checkout: () => Promise.reject(new AnswerError("The altar does not answer.", undefined, 0)) },
      "Not done. The altar does not answer. Nothing was signed. 0",
    ],
    ["a mistake of ours", { payer: () => Promise.reject(new TypeError("x")) }, "Not done. This page failed."],
  ])("says what stopped it: %s", async (_, own, says) => {
    const form = pressed(own)
    await form.pay()
    assert.isTrue(form.steps.find((step) => !["busy", "free"].includes(step))?.startsWith(says), form.steps.join())
    assert.isFalse(form.isBusy())
    assert.lengthOf(form.agains, says.endsWith(" 0") ? 1 : 0, "a retry is offered where it may help")
  })

  it("begins nothing in a browser that keeps nothing", async () => {
    vi.stubGlobal("localStorage", undefined)
    const form = pressed()
    await form.pay()
    assert.match(form.steps.join(), /^Cannot pay here\..*Nothing was signed\.$/u)
  })
})

describe("a form", () => {
  it("asks for nothing when its tab began nothing", async () => {
    const form = pressed()
    await form.ask()
    assert.deepStrictEqual(form.steps, ["busy", "free"])
  })
})
