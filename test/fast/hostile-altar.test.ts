/** A scripted altar that lies to the library: the buyer signs the listed transfer or nothing, and only its own answer ends a purchase. */
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { chainHash } from "../../src/altar/Hashes.ts"
import { type BuyerOptions, buyer } from "../../src/buyer/index.ts"
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
import { assert, assertEach, describe, it, rejected } from "../lab/Suites.ts"

const refused = (status: number, code: string, more: object = {}) =>
  Response.json({ ok: false, code, message: `${code}.`, ...more }, { status })
const priced = (change: object = {}) => {
  const challenge = asking(change)
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
  const paid = { amountAtomic: "10000", priceUsd: "$0.01", settledAt, explorerUrl: `${url}/tx` }
  return {
    ok: true,
    record: { id, permalink, commitment: sealed, kind: "intention", spirit: "moss-hare", ...chained, payer, verify },
    receipt: { transaction, network: offer.network, asset, payer, payTo, ...paid },
    permalink,
    replayed: false,
  }
}

const facing = (answer: (step: string, payment: string | null, asked: number) => Response) => {
  const own = privateKeyToAccount(generatePrivateKey())
  const signed: Array<Parameters<NonNullable<BuyerOptions["account"]>["signTypedData"]>[0]> = []
  const asked: Array<string> = []
  const payments: Array<string> = []
  const account: BuyerOptions["account"] = {
    address: own.address,
    signTypedData: (data) => {
      signed.push(data)
      return own.signTypedData(data)
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
  const altar = buyer({ url, account, fetch: send, policy: { network: offer.network, asset, payTo } })
  return { altar, asked, payments, signed }
}

describe("an altar that lies to the library", () => {
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

  it.each([
    ["too_dear", { amount: "10001" }],
    ["too_cheap", { amount: "9999" }],
    ["other_payee", { payTo: asset }],
    ["other_asset", { asset: payTo }],
    ["other_network", { network: "eip155:8453" }],
    ["other_lifetime", { maxTimeoutSeconds: 0 }],
    ["unreadable_terms", { extra: { ...offer.extra, paymentFlow: "escrow" } }],
  ])("gets no signature for a lie in its offer: %s", async (code, change) => {
    const { altar, asked, signed } = facing(() => priced(change))
    const refusal = await rejected(altar.witness({ commitment }))
    assert.deepStrictEqual([refusal.code, signed, asked], [code, [], ["price"]])
    assert.match(refusal.message, /Nothing was signed, so nothing was charged\.$/u)
  })

  it("ends no purchase with another's act, or with a refusal of the reconciliation", async () => {
    const others = Response.json(settled("ab".repeat(32), null))
    const ends = async (reconciled: Response) => {
      const { altar, asked, payments, signed } = facing((step, payment, times) => {
        if (step === "price") return priced()
        if (step === "reconcile") return reconciled
        return times === 1 ? pending() : Response.json(settled(commitment, payment), { status: 200 })
      })
      const { record } = await altar.witness({ commitment })
      assert.strictEqual(record.commitment, commitment)
      assert.deepStrictEqual(asked, ["price", "pay", "reconcile", "pay"])
      assert.deepStrictEqual([signed.length, new Set(payments).size], [1, 1])
    }
    await Promise.all([others, refused(400, "bad_request"), refused(402, "payment_failed")].map(ends))
  })
})

describe("an order of a candle without a duration", () => {
  it("is rejected, and nothing is requested or charged", async () => {
    const { altar, asked } = facing(() => priced())
    for (const days of ["7", 14, 0, undefined]) {
      const refusal = await rejected(Reflect.apply(altar.light, altar, [{ spirit: "kelp-seal", days }]))
      assert.strictEqual(refusal.code, "bad_request")
    }
    assert.deepStrictEqual(asked, [])
  })
})
