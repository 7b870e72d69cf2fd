/** The texts of acts, also on other sites: nothing that a visitor wrote is in a picture or out of an operator's reach. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Keeper } from "../../schema/altar/Keeper.ts"
import { sales } from "../../schema/altar/Sales.ts"
import { ActTexts } from "../../src/altar/Acts.ts"
import { actText } from "../../src/altar/ActText.ts"
import { altOf, cardOf } from "../../src/pages/sharing/Card.ts"
import { jsonLd } from "../../src/pages/sharing/JsonLd.ts"
import { picture } from "../../src/pages/sharing/Picture.ts"
import type { SettledAct } from "../../src/pages/templates/ActList.ts"
import { bodyOf } from "../../src/payments/ActInput.ts"
import { Html } from "../../src/platform/Html.ts"

const day = 86_400_000
const start = Date.parse("2026-11-22T04:00:00.000Z")
const iso = (millis: number) => new Date(millis).toISOString()

const receipt: SettledAct["receipt"] = {
  network: null,
  asset: null,
  payTo: null,
  explorerUrl: null,
  priceUsd: "$0.05",
  amountAtomic: "50000",
  settledAt: iso(start),
  card: { method: "stripe", reference: "pi_1", currency: "usd", amountCents: "5" },
  transaction: null,
  payer: null,
}

const actTexts = Effect.runSync(ActTexts)

const actOf = (act: string, record: Record<string, string | number | null>, agentName = "Wren"): SettledAct => ({
  id: "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  act,
  permalink: "https://altar.example/acts/3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1",
  agentName,
  priceUsd: "$0.05",
  settledAt: iso(start),
  receipt,
  record: { ...record, agentName },
  reveal: null,
  actText: actTexts.get(act) ?? assert.fail(act),
})

const candle = (dedication: string, name: string) =>
  actOf(
    "lightWeek",
    {
      kind: "candle",
      rung: "week",
      spirit: "moss-hare",
      dedication,
      litAt: iso(start),
      litUntil: iso(start + 7 * day),
    },
    name,
  )

const stone = actOf("setWitnessStone", { commitment: "5".repeat(64), sequence: 7, spirit: "kelp-seal" })

const acts = (words: string, name: string): ReadonlyArray<SettledAct> => [
  candle(words, name),
  actOf("setWitnessStone", { commitment: "5".repeat(64), sequence: 7, spirit: "kelp-seal" }, name),
  actOf("takeIn", { spirit: "kelp-seal", reason: words }, name),
  actOf("offerPrayer", { spirit: "kelp-seal", day: "2026-11-22" }, name),
  actOf(
    "collectMaterial",
    {
      kind: "pixel",
      elementId: "pixel-bit-frog",
      name: "Bit Frog",
      edition: 3,
      editionSize: 128,
      spirit: null,
      reason: words,
    },
    name,
  ),
]

const artwork = new Html(`<circle cx="128" cy="128" r="90" fill="#8c6843"/>`)

describe("the picture of an act", () => {
  it("is independent of a visitor's words, so nothing in it has to be hidden", () => {
    const drawn = (words: string, name: string) =>
      acts(words, name).map((act) => picture(cardOf(act, start + day), artwork) + altOf(act))
    assert.deepStrictEqual(drawn("Buy <b>now</b>", "Mallory"), drawn("", "Wren"))
    for (const [index, text] of drawn("Buy <b>now</b>", "Mallory").entries())
      assert.notMatch(text, /Mallory|Buy|now/u, String(index))
  })

  it("shows a candle by its remaining height, and says until when it burns", () => {
    const tall = (now: number) =>
      Number(/class="wax"[^/]*? height="([\d.]+)"/u.exec(cardOf(candle("", "Wren"), now).candle?.text ?? "")?.[1])
    const at = [0, 1, 3, 5, 6.9].map((days) => start + days * day)
    const heights = at.map(tall)
    assert.deepStrictEqual(
      heights,
      [...heights].sort((one, other) => other - one),
    )
    assert.isAbove(heights[0] ?? 0, (heights[4] ?? 0) * 3)
    for (const now of at) {
      const { until = 0 } = cardOf(candle("", "Wren"), now)
      assert.isAbove(until, now)
      assert.isAtMost(until, start + 7 * day)
      assert.strictEqual(tall(until - 1), tall(now))
    }
    const out = cardOf(candle("", "Wren"), start + 8 * day)
    assert.isUndefined(out.until)
    assert.match(out.candle?.text ?? "", /candle--out/u)
  })

  it("knows every class of the drawings that a style sheet colours on the pages", () => {
    const drawn = picture(cardOf(candle("", "Wren"), start), artwork) + picture(cardOf(stone, start), undefined)
    const classes = new Set([...drawn.matchAll(/class="([^"]+)"/gu)].flatMap(([, names = ""]) => names.split(" ")))
    const plain = new Set([
      "candle",
      "candle--light",
      "flame",
      "pebble",
      "pebble__body",
      "pebble__ground",
      "pebble__inside",
    ])
    const inked = [...classes].filter((name) => !plain.has(name))
    assert.isAbove(inked.length, 3)
    for (const name of inked) assert.match(drawn, new RegExp(`\\.${name}[ ,]`, "u"), name)
  })
})

describe("the metadata of a page", () => {
  it("never closes its element, whatever a visitor's name contains", () => {
    const hostile = `</script><script>alert(1)</script><!-- & \u2028`
    const text = jsonLd([{ "@type": "Action", name: hostile }])
    assert.notMatch(text, /[<>&\u2028]/u)
    assert.strictEqual(JSON.parse(text)["@graph"][0].name, hostile)
  })
})

const fieldsOf = (schema: Schema.Top | undefined) =>
  schema !== undefined && "fields" in schema ? Object.entries<Schema.Top>(Object(schema.fields)) : []

const wordsIn = (schema: Schema.Top | undefined) =>
  fieldsOf(schema).flatMap(([name, field]) => (Schema.is(field)("Two words") ? [name] : []))

describe("the text of an act", () => {
  it("has a label for every member of its record, or does not compile", () => {
    const rest = { sentence: () => "", card: () => ({ title: "" }), hideable: { table: "keepers", texts: {} } }
    // @ts-expect-error the members of a keeper are missing
    const told = actText(Keeper, { ...rest, labels: { id: null } })
    assert.deepStrictEqual(told.labels, { id: null })
  })

  it.each(sales.map((sale) => ({ name: sale.identifier, sale })))("hides the words of $name", ({ name, sale }) => {
    const { name: column, texts } = actTexts.get(name)?.hideable ?? assert.fail(name)
    const hideable = [...Object.keys(texts), ...(column === undefined ? [] : ["agentName"])]
    assert.includeMembers(hideable, wordsIn(bodyOf(sale)))
    assert.include(hideable, "agentName", "every act of this altar has a public name")
  })
})
