/** The picture of an act: drawn in the site's typeface from what the site itself says, and named by its content. */
import { Worker } from "node:worker_threads"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Reveal } from "../../schema/altar/Reveal.ts"
import { ActTexts } from "../../src/altar/Acts.ts"
import { type Pictured, pictureOf } from "../../src/pages/pictures/Card.ts"
import * as ActPage from "../../src/pages/templates/Act.ts"

const texts = Effect.runSync(ActTexts)
const commitment = "6afde0a2de2a0973df45fed7040a985cb1efcdba7153d9420aa8743a19fb664a"
const lit = { litAt: "2026-11-28T09:00:00.000Z", litUntil: "2026-12-05T09:00:00.000Z", rung: "week", days: 7 }

const act = (name: string, record: Pictured["record"], more: Partial<Pictured> = {}): Pictured => ({
  act: name,
  actText: texts.get(name) ?? assert.fail(name),
  record: { spirit: "moss-hare", ...record },
  reveal: null,
  settledAt: "2026-11-28T09:00:00.000Z",
  ...more,
})

const revealed: typeof Reveal.Type = {
  text: "VISITOR",
  salt: "VISITOR and more of it",
  hidden: false,
  agentName: "VISITOR",
  revealedAt: "2026-11-29T09:00:00.000Z",
}

const stone = { commitment, kind: "prediction", sequence: 1204, agentName: "VISITOR" }
const item = { elementId: "beeswax", kind: "material", name: "Beeswax", edition: 3, editionSize: 128 }

/** Each with the words on its picture. */
const kinds: ReadonlyArray<readonly [what: string, act: Pictured, words: ReadonlyArray<string>]> = [
  ["stone", act("setWitnessStone", stone), ["A prediction", "Sealed", "Spirit Altar · stone 1,204"]],
  ["opened stone", act("setWitnessStone", stone, { reveal: revealed }), ["A prediction", "Opened"]],
  ["file's stone", act("setWitnessStone", { ...stone, kind: "hash" }), ["A fingerprint", "Sealed"]],
  ["prayer", act("offerPrayer", { intentionCommitment: commitment }), ["A prayer", "Sealed", "Spirit Altar"]],
  ["keeper", act("takeIn", { reason: "VISITOR", keeper: "0x1" }), ["A keeper"]],
  ["candle", act("lightWeek", { ...lit, kind: "candle", dedication: "VISITOR" }), ["A candle", "Burns for seven days"]],
  [
    "opened light",
    act(
      "lightWeek",
      { ...lit, kind: "light", dedication: null, intentionCommitment: commitment },
      { reveal: revealed },
    ),
    ["A light", "Opened"],
  ],
  ["collectible", act("collectMaterial", { ...item, reason: "VISITOR" }), ["Beeswax", "Edition 3 of 128"]],
]

const worker = new Worker(new URL("../../src/pages/pictures/Worker.ts", import.meta.url), {
  workerData: new URL("../../src/web/style/type/vollkorn-roman.woff2", import.meta.url).href,
  execArgv: [],
})
afterAll(() => worker.terminate())

const draw = (picture: Pictured) =>
  new Promise<Buffer>((resolve, reject) => {
    worker.removeAllListeners().once("error", reject)
    worker.once("message", (png: Uint8Array) => resolve(Buffer.from(png)))
    worker.postMessage(pictureOf("1", picture).json, [])
  })

describe("the picture of", () => {
  it.each(kinds)("a %s says what it is, and nothing that a visitor wrote", (_, picture, words) => {
    const { alt, json } = pictureOf("1", picture)
    for (const line of [...words, "28 November 2026", "Moss Hare"]) assert.include(json, `"text":"${line}"`)
    assert.notInclude(json + alt, "VISITOR")
    const hidden = JSON.parse(JSON.stringify(picture).replaceAll("VISITOR", "hidden by the operator"))
    assert.strictEqual(pictureOf("1", { ...hidden, actText: picture.actText }).json, json)
  })

  it("an act has its content in its address", () => {
    const paths = kinds.map(([, picture]) => pictureOf("1", picture).path)
    assert.lengthOf(new Set(paths), kinds.length)
    for (const path of paths) assert.match(path, /^\/acts\/1\/[\w-]{16}\.png$/u)
    const [, shown = assert.fail()] = kinds[0] ?? assert.fail()
    const other = { ...shown, record: { ...shown.record, commitment: commitment.replace("6", "7") } }
    assert.notStrictEqual(pictureOf("1", other).path, paths[0])
  })

  it("an act is not on its page once its payment was lost or returned", () => {
    const [at, hash] = ["2026-11-28T09:00:00.000Z", `0x${"1".repeat(64)}`]
    const paid = {
      transaction: hash,
      network: "eip155:8453",
      explorerUrl: "https://basescan.org",
      payer: hash,
      settledAt: at,
    }
    const pictureWith = (more: object) => {
      const receipt = JSON.parse(JSON.stringify({ ...paid, priceUsd: "$0.01", binding: null, ...more }))
      const permalink = "https://altar.example/acts/1"
      const whole = { ...act("takeIn", {}), id: "1", permalink, agentName: null, priceUsd: "$0.01", receipt }
      return ActPage.act(whole, 0, false, JSON.parse("{}")).picture
    }
    assert.isObject(pictureWith({ finality: "final" }))
    assert.isFalse(pictureWith({ finality: "lost" }))
    assert.isFalse(pictureWith({ refund: { amountAtomic: "10000", recordedAt: at, transaction: hash } }))
  })

  it("each kind is a PNG of 1200 by 630, and the same to the byte when it is drawn again", async () => {
    const pngs: Array<Buffer> = []
    for (const [what, picture] of kinds) {
      const png = await draw(picture)
      assert.strictEqual(png.toString("latin1", 1, 4), "PNG", what)
      assert.deepStrictEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1200, 630], what)
      assert.isTrue(png.equals(await draw(picture)), what)
      pngs.push(png)
    }
    assert.lengthOf(new Set(pngs.map((png) => png.toString("base64"))), kinds.length)
  })
})
