/** Each act is compared by what its contract says: every member of a request has its place in the record, and is missed there. */
import { assert, describe, it } from "@effect/vitest"
import type { Schema } from "effect"
import { Candle } from "../../schema/altar/Candle.ts"
import { Collectible } from "../../schema/altar/Collectible.ts"
import { Keeper } from "../../schema/altar/Keeper.ts"
import { Prayer } from "../../schema/altar/Prayer.ts"
import { WitnessStone } from "../../schema/altar/Witness.ts"
import { fieldsOf, formOf } from "../../schema/Form.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { catalog } from "../../src/buyer/Acts.ts"
import { paymentHeaderOf, typedDataOf } from "../../src/buyer/core/Authorization.ts"
import type { Settlement } from "../../src/buyer/core/Outcome.ts"
import { bodyOf, plainName } from "../../schema/payments/Sale.ts"
import { exampleOf } from "../../schema/openapi/JsonSchema.ts"
import { filled } from "../../src/payments/Act.ts"
import { type Bought, differencesOf } from "../../src/buyer/core/Recorded.ts"
import { altar, asking, asset, digest, id, payTo } from "../lab/buyer/Offers.ts"

const transaction = `0x${"18".repeat(32)}`
const payer = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"

const candle = (rung: string) => {
  const body = { dedication: "For the bees", agentName: "Wren", intentionCommitment: digest, parentId: id }
  return [`/api/candles/${rung}/kelp-seal`, body, { rung, spirit: "kelp-seal", ...body }, Candle] as const
}

const all: Readonly<
  Record<string, readonly [path: string, body: object, record: object, schema: { readonly fields: object }]>
> = {
  offerPrayer: [
    "/api/prayers/moss-hare?day=2026-11-21",
    { agentName: "Wren", intentionCommitment: digest },
    { spirit: "moss-hare", day: "2026-11-21", agentName: "Wren", intentionCommitment: digest },
    Prayer,
  ],
  takeIn: [
    "/api/acquire/moss-hare",
    { agentName: "Wren", reason: "It sat still." },
    { spirit: "moss-hare", agentName: "Wren", reason: "It sat still." },
    Keeper,
  ],
  collectMaterial: [
    "/api/elements/beeswax/collect?spirit=kelp-seal",
    { agentName: "Wren", reason: "It sat still." },
    { elementId: "beeswax", spirit: "kelp-seal", agentName: "Wren", reason: "It sat still." },
    Collectible,
  ],
  lightDay: candle("day"),
  lightWeek: candle("week"),
  lightMonth: candle("month"),
  setWitnessStone: [
    "/api/witness",
    { commitment: digest, kind: "prediction", spirit: "moss-hare" },
    { commitment: digest, kind: "prediction", spirit: "moss-hare" },
    WitnessStone,
  ],
}

/** The same of an act without a line above, from the examples of its contract. */
const exampleFor = (name: string): (typeof all)[string] => {
  const endpoint = sales.find(({ sale }) => sale.name === name) ?? assert.fail(name)
  const exampled = (schema: Schema.Top | undefined) =>
    Object.entries(schema === undefined ? {} : (formOf(schema).properties ?? {})).map(
      ([member, form]) => [member, exampleOf(form, {})] as const,
    )
  const place = filled(
    endpoint.path,
    Object.fromEntries(exampled(endpoint.params).map(([key, value]) => [key, String(value)])),
  )
  const body = Object.fromEntries(exampled(bodyOf(endpoint)))
  const named = Object.fromEntries(exampled(endpoint.params).map(([key, value]) => [plainName(key), value]))
  const given = { ...endpoint.sale.recorded.members, ...named, ...body }
  const record = Object.fromEntries(
    Object.keys(endpoint.sale.recorded.members ?? {}).map((key) => [key, Reflect.get(given, key)]),
  )
  return [place, body, record, { fields: record }]
}

const signedFor = (url: string, amount: string) => {
  const challenge = asking({ amount }, url)
  const bound = { nonce: `0x${"5".repeat(64)}`, salt: "A".repeat(22) } as const
  const data = typedDataOf(challenge, bound, payer, Date.now())
  return { payment: paymentHeaderOf(challenge, bound, data, "0x00"), nonce: bound.nonce }
}

const answering = (record: object & { readonly permalink: string }, receipt: object) => ({
  body: { ok: true, record, receipt, permalink: record.permalink },
  header: undefined,
})

const purchase = (name: string) => {
  const [path, body, members, { fields }] = all[name] ?? exampleFor(name)
  const amount = String(catalog.get(name)?.price.priceAtomic)
  const { nonce, payment } = signedFor(altar + path, amount)
  const permalink = `${altar}/${name === "setWitnessStone" ? "witness" : "acts"}/${id}`
  const record = { id, permalink, ...members, transaction }
  const receipt = {
    transaction,
    network: "eip155:84532",
    asset,
    amountAtomic: amount,
    priceUsd: `$${(Number(amount) / 1e6).toFixed(2)}`,
    payer,
    payTo,
  }
  return {
    bought: { url: altar + path, body: JSON.stringify(body), payment, recorded: catalog.get(name)?.recorded },
    settlement: answering(record, receipt),
    record,
    receipt,
    members,
    fields,
    nonce,
  }
}

const differing = async ({ bought, settlement }: { readonly bought: Bought; readonly settlement: Settlement }) =>
  (await differencesOf(bought, settlement)).map(({ field }) => field)

const [stranger, evil] = [`0x${"9".repeat(40)}`, `https://evil.example/witness/${id}`]

const fieldsFor = (name: string) => {
  const endpoint = sales.find(({ sale }) => sale.name === name) ?? assert.fail(name)
  return { payload: fieldsOf(bodyOf(endpoint)), query: fieldsOf(endpoint.query) }
}

describe("a recorded answer", () => {
  it.each([...catalog.keys()])("to %s is compared by every member that request and record share", (name) => {
    const { bought, fields, members } = purchase(name)
    const { payload, query } = fieldsFor(name)
    const shown = Object.keys(fields)
    const shared = [...payload, ...query].map((field) => field.name).filter((field) => shown.includes(field))
    assert.includeMembers(shown, Object.keys(members))
    assert.sameMembers(Object.keys(bought.recorded?.members ?? {}), Object.keys(members))
    assert.includeMembers(Object.keys(members), shared)
  })

  it.each([...catalog.keys()])("to %s differs by each member that is changed or missing", async (name) => {
    const honest = purchase(name)
    assert.deepStrictEqual(await differing(honest), [])
    const { bought, members, receipt } = honest
    for (const member of Object.keys(members)) {
      for (const value of ["another", undefined]) {
        const record = { ...honest.record, [member]: value }
        assert.deepStrictEqual(await differing({ bought, settlement: answering(record, receipt) }), [member])
      }
    }
  })

  it.each([...catalog.keys()])("to %s contains nothing beyond the request", async (name) => {
    const honest = purchase(name)
    const { payload, query } = fieldsFor(name)
    const optional = [...query, ...payload].filter(({ required }) => !required).map((field) => field.name)
    const chosen = name === "setWitnessStone" ? ["kind", "spirit", "agentName"] : ["day"]
    for (const member of optional.filter((one) => !chosen.includes(one))) {
      const { [member]: _, ...body } = JSON.parse(honest.bought.body)
      const url = new URL(honest.bought.url)
      url.searchParams.delete(member)
      const bought = { ...honest.bought, url: url.href, body: JSON.stringify(body) }
      assert.deepStrictEqual(await differing({ ...honest, bought }), [member])
    }
  })

  it.each([...catalog.keys()])("to %s fits a purchase that an earlier page stored without its rules", async (name) => {
    const { bought, receipt, record, settlement } = purchase(name)
    const stored = { ...bought, recorded: undefined }
    assert.deepStrictEqual(await differing({ bought: stored, settlement }), [])
    const [member = ""] = Object.keys(JSON.parse(bought.body))
    const changed = answering({ ...record, [member]: "another" }, receipt)
    assert.deepStrictEqual(await differing({ bought: stored, settlement: changed }), [member])
  })

  it.each<readonly [field: string, forged: { readonly [part in "record" | "receipt" | "header"]?: object }]>([
    ["amountAtomic", { receipt: { amountAtomic: "9000000" } }],
    ["priceUsd", { receipt: { priceUsd: "$9.00" } }],
    ["asset", { receipt: { asset: stranger } }],
    ["network", { receipt: { network: "eip155:8453" } }],
    ["payTo", { receipt: { payTo: stranger } }],
    ["payer", { receipt: { payer: stranger }, record: { payer: stranger }, header: { payer: stranger } }],
    ["record.payer", { record: { payer: stranger } }],
    ["record.transaction", { receipt: { transaction: stranger } }],
    ["PAYMENT-RESPONSE transaction", { header: { transaction: stranger } }],
    ["chainHash", { record: { chainHash: "ab".repeat(32) } }],
    ["permalink", { record: { permalink: evil } }],
    ["permalink", { record: { id: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a2" } }],
    ["verify.revealUrl", { record: { verify: { revealUrl: `${evil}/reveal` } } }],
  ])("is found out by %s: %o", async (field, forged) => {
    const { bought, receipt, record } = purchase("setWitnessStone")
    const settlement = answering({ ...record, ...forged.record }, { ...receipt, ...forged.receipt })
    const { network } = receipt
    const header = { success: true, transaction, network, payer, ...forged.header }
    assert.include(await differing({ bought, settlement: { ...settlement, header } }), field)
  })

  it("with a nonce must contain the signed one", async () => {
    const { bought, nonce, receipt, record } = purchase("takeIn")
    const naming = (named: string) => differing({ bought, settlement: answering(record, { ...receipt, nonce: named }) })
    assert.deepStrictEqual(await naming(nonce), [])
    assert.deepStrictEqual(await naming(`0x${"0".repeat(64)}`), ["nonce"])
  })

  it("without a signature is compared with the request and the listed price", async () => {
    const { bought, receipt, record } = purchase("takeIn")
    const unsigned = { ...bought, payment: undefined, amountAtomic: receipt.amountAtomic }
    const forged = (change: object, amountAtomic = receipt.amountAtomic) =>
      differing({ bought: unsigned, settlement: answering({ ...record, ...change }, { ...receipt, amountAtomic }) })
    assert.deepStrictEqual(await forged({}), [])
    assert.deepStrictEqual(await forged({ reason: "It ran." }), ["reason"])
    assert.deepStrictEqual(await forged({}, "9000000"), ["amountAtomic"])
  })

  it("to another contract's act is compared by the members that both contracts have", async () => {
    const url = `${altar}/api/bells/3`
    const { payment } = signedFor(url, "10000")
    const bought = { url, body: JSON.stringify({ tune: "Morning", isLoud: true }), payment }
    const { receipt } = purchase("takeIn")
    const answered = (tune: string) => {
      const record = { id, permalink: `${altar}/acts/${id}`, tune }
      return differing({ bought, settlement: answering(record, receipt) })
    }
    assert.deepStrictEqual(await answered("Morning"), [])
    assert.deepStrictEqual(await answered("Evening"), ["tune"])
  })
})
