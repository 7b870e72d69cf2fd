/** An act that the library does not list: bought by the altar's contract, and never for more than a cent. */
import { assert, describe, it } from "@effect/vitest"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { buyer } from "../../src/buyer/index.ts"
import { altar as url, asking, digest } from "../lab/buyer/Offers.ts"
import { rejected } from "../lab/Assertions.ts"

const contract = (amount: string) => ({
  paths: {
    "/api/bells/{familiarId}": {
      get: { operationId: "readBell" },
      post: {
        operationId: "ringBell",
        parameters: [{ $ref: "#/components/parameters/familiarId" }, { name: "day", in: "query" }],
        requestBody: { content: { "application/json": { schema: { $ref: "#/components/schemas/BellBody" } } } },
        "x-payment-info": { offers: [{ intent: "charge", method: "evm", amount, currency: "USDC" }] },
      },
    },
  },
  components: {
    parameters: { familiarId: { name: "familiarId", in: "path" } },
    schemas: { BellBody: { type: "object", properties: { tone: {}, isLoud: {}, intentionCommitment: {} } } },
  },
})

/** A buyer at an altar with this contract, whose bells ask for `charged`. */
const facing = (document: object, charged = "10000") => {
  const requests: Array<readonly [path: string, body: unknown]> = []
  const payments: Array<string> = []
  const send: typeof fetch = async (input, init) => {
    const request = new Request(input, init)
    if (request.url.endsWith("/openapi.json")) return Response.json(document)
    requests.push([request.url.slice(url.length), JSON.parse(await request.text())])
    const payment = request.headers.get("payment-signature")
    if (payment !== null) payments.push(JSON.parse(atob(payment)).payload.authorization.value)
    const challenge = asking({ amount: charged }, request.url)
    return payment === null
      ? Response.json({ ok: false, code: "payment_required", message: "Pay.", challenge }, { status: 402 })
      : Response.json({ ok: false, code: "already_rung", message: "Rung." }, { status: 409 })
  }
  const account = privateKeyToAccount(generatePrivateKey())
  return { altar: buyer({ url, account, fetch: send }), requests, payments }
}

const order = { spirit: "moss-hare", day: "2026-11-21", tone: "low", isLoud: true }

describe("an act that is not listed", () => {
  it("is requested as the altar's contract says, with its words sealed, and paid one cent", async () => {
    const { altar, payments, requests } = facing(contract("10000"))
    const { code } = await rejected(altar.buy("ringBell", { ...order, words: "The heron returns." }))
    const [first, paid] = requests
    assert.deepStrictEqual([code, payments, paid], ["already_rung", ["10000"], first])
    assert.strictEqual(first?.[0], "/api/bells/moss-hare?day=2026-11-21")
    const { intentionCommitment, ...body } = Object(first?.[1])
    assert.match(intentionCommitment, /^[0-9a-f]{64}$/u)
    assert.deepStrictEqual(body, { tone: "low", isLoud: true })
  })

  it("is not signed for above a cent, whatever the contract, the offer and the buyer's limits say", async () => {
    for (const [listed, charged] of [
      ["10001", "10001"],
      ["9000000", "10000"],
      ["10000", "10001"],
    ] as const) {
      const { altar, payments } = facing(contract(listed), charged)
      const { code, message } = await rejected(altar.buy("ringBell", { ...order, commitment: digest }))
      assert.deepStrictEqual([code, payments], ["too_dear", []], message)
      assert.match(message, /charged(?: nothing)?\.$/u)
    }
  })

  it("is refused where the altar sells none of that name, or has no contract that can be read", async () => {
    for (const [document, name, expected] of [
      [contract("10000"), "ringGong", "unknown_act"],
      [contract("10000"), "readBell", "unknown_act"],
      [{ paths: [] }, "ringBell", "unreachable"],
    ] as const) {
      const { altar, requests } = facing(document)
      const { code, message } = await rejected(altar.buy(name, order))
      assert.deepStrictEqual([code, requests], [expected, []], message)
      assert.match(message, /This request charged nothing\.$/u)
    }
  })
})
