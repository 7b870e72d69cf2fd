/** A scripted altar that lies to the library or is not there: the buyer signs the listed transfer or nothing, and only its own answer ends a purchase. */
import { getEventListeners } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { exampleOf } from "../../schema/openapi/JsonSchema.ts"
import { chainHash } from "../../src/altar/Hashes.ts"
import { buyer, type BuyerOptions, type Policy, type Progress } from "../../src/buyer/index.ts"
import {
  altar as url,
  asking,
  asset,
  digest as commitment,
  id,
  offer,
  payTo,
  stoneUrl as resource,
} from "../lab/buyer/Offers.ts"
import { assertEach, rejected, valuesOf } from "../lab/Assertions.ts"
import { document } from "../lab/OpenApi.ts"

const refused = (status: number, code: string, more: object = {}) =>
  Response.json({ ok: false, code, message: `${code}.`, ...more }, { status })
const priced = (change: object = {}, named = resource) => {
  const challenge = asking(change, named)
  const resource = { ...challenge.resource, secret: "of the altar" }
  return refused(402, "payment_required", { challenge: { ...challenge, resource } })
}
const pending = () =>
  Response.json({ ok: true, code: "settlement_pending" }, { status: 202, headers: { "retry-after": "1" } })

const link = {
  previousHash: "0".repeat(64),
  sequence: 1,
  witnessedAt: "2026-11-21T09:17:02.115Z",
  transaction: `0x${"18".repeat(32)}`,
}

const settled = (sealed: string, payment: string | null) => {
  const payer: string = payment === null ? payTo : JSON.parse(atob(payment)).payload.authorization.from
  const [permalink, { transaction, witnessedAt: settledAt }] = [`${url}/witness/${id}`, link]
  const chained = { ...link, chainHash: chainHash({ ...link, commitment: sealed }) }
  const verify = { recipe: "chainHash = …", revealUrl: `${url}/reveal` }
  const paid = { amountAtomic: "10000", priceUsd: "$0.01", settledAt, explorerUrl: `${url}/tx`, binding: null }
  return {
    ok: true,
    record: { id, permalink, commitment: sealed, kind: "intention", spirit: "moss-hare", ...chained, payer, verify },
    receipt: { transaction, network: offer.network, asset, payer, payTo, ...paid },
    permalink,
    replayed: false,
  }
}

const own: Policy = { network: offer.network, payTo }

const facing = (
  answer: (step: string, payment: string | null, asked: number) => Response,
  options: Partial<BuyerOptions> = {},
) => {
  const wallet = privateKeyToAccount(generatePrivateKey())
  const signed: Array<Parameters<NonNullable<BuyerOptions["account"]>["signTypedData"]>[0]> = []
  const asked: Array<string> = []
  const payments: Array<string> = []
  const account: BuyerOptions["account"] = {
    address: wallet.address,
    signTypedData: (data) => {
      signed.push(data)
      return wallet.signTypedData(data)
    },
  }
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    assert.strictEqual(request.redirect, "error")
    const payment = request.headers.get("payment-signature")
    if (payment !== null) payments.push(payment)
    const isReconcile = new URL(request.url).pathname.startsWith("/api/reconcile/")
    const step = isReconcile ? "reconcile" : payment === null ? "price" : "pay"
    asked.push(step)
    return answer(step, payment, asked.filter((one) => one === step).length)
  }
  const altar = buyer({ url, account, fetch: send, policy: own, ...options })
  return { altar, asked, payments, signed }
}

describe.concurrent("an altar that lies to the library", () => {
  it("gets no signature for another kind of transfer, whatever else its terms name", async () => {
    const permit = { assetTransferMethod: "permit2", permit2: { spender: payTo }, facilitatorAddress: payTo }
    const extra = { ...offer.extra, ...permit }
    const { altar, payments, signed } = facing((step, payment) =>
      step === "price" ? priced({ extra, tip: "1" }) : Response.json(settled(commitment, payment), { status: 201 }),
    )
    await altar.witness({ commitment })
    assertEach(signed, ({ domain, primaryType }) => [primaryType, domain.verifyingContract?.toLowerCase()], [
      ["TransferWithAuthorization", asset.toLowerCase()],
    ])
    const { accepted, payload, resource: named } = JSON.parse(atob(payments[0] ?? ""))
    assert.deepStrictEqual(accepted, offer)
    assert.deepStrictEqual(named, { url: resource, description: "A stone", mimeType: "application/json" })
    assert.strictEqual(payload.authorization.value, "10000")
    assert.isUndefined(payload.permit2Authorization)
  })

  it.each<readonly [code: string, change: object, policy: Policy]>([
    ["too_dear", { amount: "10001" }, own],
    ["too_cheap", { amount: "9999" }, own],
    ["too_cheap", { amount: "0" }, own],
    ["other_scheme", { scheme: "upto" }, own],
    ["other_payee", { payTo: asset }, own],
    ["other_asset", { asset: payTo }, own],
    ["other_network", { network: "eip155:8453" }, own],
    ["other_lifetime", { maxTimeoutSeconds: 0 }, own],
    ["other_lifetime", { maxTimeoutSeconds: 86_401 }, own],
    ["unreadable_terms", { extra: { ...offer.extra, paymentFlow: "escrow" } }, own],
    ["above_limit", {}, { ...own, maxPerPayment: 9_999n }],
    ["above_day_limit", {}, { ...own, maxPerDay: 9_999n }],
  ])("gets no signature for a lie in its offer, or beyond the buyer's policy: %s", async (code, change, policy) => {
    const { altar, asked, signed } = facing(() => priced(change), { policy })
    const refusal = await rejected(altar.witness({ commitment }))
    assert.deepStrictEqual([refusal.code, signed, asked], [code, [], ["price"]])
    assert.match(refusal.message, /Nothing was signed, so nothing was charged\.$/u)
  })

  it("gets no signature for another purchase than the ordered one", async () => {
    const { altar, signed } = facing(() => priced({}, `${resource}?day=1`))
    assert.strictEqual((await rejected(altar.witness({ commitment }))).code, "foreign_resource")
    assert.deepStrictEqual(signed, [])
  })

  it("ends no purchase with another's act, or with a refusal of the reconciliation", async () => {
    const others = Response.json(settled("ab".repeat(32), null))
    const ends = async (reconciled: Response) => {
      const told: Array<Progress> = []
      const { altar, asked, payments, signed } = facing(
        (step, payment, times) => {
          if (step === "price") return priced()
          if (step === "reconcile") return reconciled
          return times === 1 ? pending() : Response.json(settled(commitment, payment), { status: 200 })
        },
        { onProgress: (progress) => void told.push(progress) },
      )
      const { record } = await altar.witness({ commitment })
      assert.strictEqual(record.commitment, commitment)
      assert.deepStrictEqual(asked, ["price", "pay", "reconcile", "pay"])
      assert.deepStrictEqual([signed.length, new Set(payments).size], [1, 1])
      assert.deepStrictEqual(valuesOf(told, "step"), ["signed", "pending"])
    }
    await Promise.all([others, refused(400, "bad_request"), refused(402, "payment_failed")].map(ends))
  })
})

describe.concurrent("an altar that shows other words than were sealed", () => {
  it.each(["reveal", "unseal"] as const)("is found out by the answer to %s", async (method) => {
    const { schemas } = document.components
    const stone = exampleOf({ $ref: "ListedStone" }, schemas)
    const candle = exampleOf({ $ref: "UnsealedCandle" }, schemas)
    const answer = JSON.stringify({ ok: true, replayed: false, stone, candle })
    const [, words = "", salt = ""] = /"(?:text|words)":"([^"]+)","salt":"([^"]+)"/u.exec(answer) ?? []
    const opened = (shown: string) => {
      const lie = JSON.parse(answer.replaceAll(words, shown))
      return facing(() => Response.json(lie, { status: 201 })).altar[method](id, { salt, words })
    }
    assert.include(await opened(words), { ok: true })
    const { code, message } = await rejected(opened("Something else."))
    assert.strictEqual(code, "reveal_broken")
    assert.match(message, /^The altar shows other words under .* than were sealed/u)
  })
})

describe.concurrent("the first purchase under a key", () => {
  it("is no replay, though its call asked for the outcome, and every later call is one", async () => {
    const lost = () => {
      throw new TypeError("the connection broke")
    }
    for (const first of [pending, lost]) {
      let sent: string | null = null
      const { altar } = facing((step, payment, times) => {
        if (step === "price") return priced()
        sent ??= payment
        if (step === "pay" && times === 1) return first()
        return Response.json({ ...settled(commitment, sent), replayed: true }, { status: 200 })
      })
      const order = { commitment, key: "a-key-of-one-purchase" }
      const bought = [await altar.witness(order), await altar.witness(order), await altar.resume(order.key)]
      assert.deepStrictEqual(valuesOf(bought, "replayed"), [false, true, true])
    }
  })
})

describe.concurrent("an altar that recorded another act", () => {
  it("is told from one that did not sell, and settles once it answers with the act that was bought", async () => {
    let sealed = "ab".repeat(32)
    const { altar, payments } = facing((step, payment) =>
      step === "price" ? priced() : Response.json(settled(sealed, payment), { status: 200 }),
    )
    const key = "a-key-of-one-purchase"
    for (const _ of ["first", "again"]) {
      const error = await rejected<{ readonly _tag: string; readonly differences: ReadonlyArray<{ field: string }> }>(
        altar.witness({ commitment, key }),
      )
      assert.strictEqual(error._tag, "Misrecorded")
      assert.include(valuesOf(error.differences, "field"), "commitment")
    }
    sealed = commitment
    assert.strictEqual((await altar.witness({ commitment, key })).record.commitment, commitment)
    assert.strictEqual(new Set(payments).size, 1)
  })
})

describe.concurrent("an order of a candle without a duration", () => {
  it("is rejected, and nothing is requested or charged", async () => {
    const { altar, asked } = facing(() => priced())
    for (const days of ["7", 14, 0, undefined]) {
      const refusal = await rejected(Reflect.apply(altar.light, altar, [{ spirit: "kelp-seal", days }]))
      assert.strictEqual(refusal.code, "bad_request")
    }
    assert.deepStrictEqual(asked, [])
  })
})

describe.concurrent("a signal of many calls", () => {
  it("keeps no listener of any of them, however it ended", async () => {
    let isWaiting = () => {}
    const { altar } = facing(
      (step, payment, times) => {
        if (step === "price") return priced()
        if (step === "reconcile") return refused(404, "attempt_not_found")
        return times % 2 === 1 ? pending() : Response.json(settled(commitment, payment), { status: 200 })
      },
      { onProgress: ({ step }) => step === "pending" && isWaiting() },
    )
    const kept = new AbortController()
    const { signal } = kept
    for (let call = 0; call < 50; call += 1) await rejected(altar.resume("a-key-of-no-purchase", { signal }))
    await rejected(altar.light({ spirit: "kelp-seal", days: 1, dedication: "Bees", key: "short" }, { signal }))
    await altar.witness({ commitment }, { signal })
    const aborted = new AbortController()
    isWaiting = () => void setTimeout(() => aborted.abort(new Error("enough")))
    const stopped = await rejected(altar.witness({ commitment }, { signal: aborted.signal }))
    assert.strictEqual(stopped.message, "enough")
    // The waiting purchase itself ends in a later turn.
    await new Promise((resolve) => setTimeout(resolve))
    assert.deepStrictEqual(
      [signal, aborted.signal].map((each) => getEventListeners(each, "abort").length),
      [0, 0],
    )
  })
})

describe("plain http", () => {
  const asked = async (url: string, insecure: boolean) => {
    const heard: Array<string> = []
    const send: typeof fetch = (input, init) => {
      heard.push(new Request(input, init).url)
      return Promise.reject(new TypeError("nobody is here"))
    }
    const altar = buyer({ url, fetch: send, insecure })
    const error = await rejected(altar.resume("a-key-of-one-purchase"))
    return { error, heard }
  }

  it.each<readonly [url: string, code: string, allowed: string]>([
    ["http://altar.example", "insecure_url", "unreachable"],
    ["http://10.0.0.1:3000", "insecure_url", "unreachable"],
    ["http://127.0.0.1.altar.example", "insecure_url", "unreachable"],
    ["http://localhost.example", "insecure_url", "unreachable"],
    ["http://127.0.0.1:3000", "unreachable", "unreachable"],
    ["http://localhost:3000", "unreachable", "unreachable"],
    ["http://[::1]:3000", "unreachable", "unreachable"],
    ["https://altar.example", "unreachable", "unreachable"],
    ["altar.example", "bad_url", "bad_url"],
    ["file:///etc", "bad_url", "bad_url"],
    ["", "bad_url", "bad_url"],
  ])("to '%s' ends as %s, and allowed by name as %s", async (url, ...codes) => {
    for (const [at, code] of codes.entries()) {
      const { error, heard } = await asked(url, at === 1)
      assert.deepStrictEqual([error.code, heard.length], [code, code === "unreachable" ? 1 : 0])
      if (code === "insecure_url") assert.match(error.message, /This request charged nothing\.$/u)
    }
  })

  it("that is refused at once leaves no promise for its signal to break", async () => {
    const stop = new AbortController()
    const refused = buyer({ url: "http://altar.example" }).witness({ words: "x" }, { signal: stop.signal })
    assert.strictEqual((await refused.catch((error: unknown) => Object(error))).code, "insecure_url")
    const unhandled: Array<unknown> = []
    const hear = (reason: unknown) => void unhandled.push(reason)
    process.on("unhandledRejection", hear)
    stop.abort()
    await new Promise((resolve) => setTimeout(resolve, 20))
    process.off("unhandledRejection", hear)
    assert.deepStrictEqual(unhandled, [])
  })
})
