/** A filled form becomes an order without a page: its path, its body, and its words sealed. */
import { assert, describe, it } from "@effect/vitest"
import { wordsMaximum } from "../../schema/altar/Recipe.ts"
import { seal } from "../../src/altar/Hashes.ts"
import {
  commitmentIn,
  type Entry,
  leftOf,
  listedOf,
  type Order,
  orderOf,
  type Part,
} from "../../src/web/v2/pay/order.ts"

const entry = (part: Part, name: string, text: string, isRequired = false): Entry => ({ part, name, text, isRequired })
const salt = "5f0c9a1be27d4438"
const terms = { path: "/api/candles/spirit-id", amount: "10000", network: "eip155:8453", title: "Candle" }

const ordered = async (...entries: ReadonlyArray<Entry>): Promise<Order> => {
  const order = await orderOf(terms, entries, salt)
  if ("says" in order) throw new Error(order.says)
  return order
}

describe("a filled form", () => {
  it("completes the path by a choice, and adds the query without blank members", () => {
    const entries = [
      entry("place", "spirit-id", "moss-hare"),
      entry("query", "spirit", "dew spider"),
      entry("query", "day", " "),
    ]
    const { path, recorded } = listedOf(terms, entries)
    assert.deepStrictEqual([path, recorded], ["/api/candles/moss-hare?spirit=dew+spider", ""])
  })

  it("sends trimmed texts and typed members, and nothing for a blank field", async () => {
    const { body, keepsake } = await ordered(
      entry("body", "dedication", " For the heron "),
      entry("body", "agentName", " "),
      entry("json", "isLoud", "true"),
      entry("json", "volume", "7"),
    )
    assert.deepStrictEqual(JSON.parse(body), { dedication: "For the heron", isLoud: true, volume: 7 })
    assert.isNull(keepsake)
    assert.strictEqual((await ordered()).body, "")
  })

  it("sends the commitment of sealed words, and keeps words and salt", async () => {
    const words = "The heron will return by May."
    const { body, keepsake } = await ordered(entry("seal", "intentionCommitment", words, true))
    if (keepsake === null) throw new Error("nothing is kept")
    assert.deepStrictEqual([keepsake.words, keepsake.salt], [words, salt])
    assert.deepStrictEqual(JSON.parse(body), { intentionCommitment: seal(salt, words) })
  })

  it("is drawn as the stone that it would set, of words or of a file", async () => {
    const [words, file] = [entry("seal", "commitment", "A heron."), entry("body", "commitment", "f".repeat(64))]
    assert.strictEqual(await commitmentIn([entry("body", "commitment", ""), words], salt), seal(salt, "A heron."))
    assert.strictEqual(await commitmentIn([file], salt), file.text)
    assert.isUndefined(await commitmentIn([entry("seal", "commitment", " ")], salt))
  })

  it("names the first field that is blank or cannot be sealed", async () => {
    const blank = entry("body", "dedication", "\n", true)
    const long = entry("seal", "commitment", "x".repeat(wordsMaximum + 1))
    assert.deepStrictEqual(await orderOf(terms, [blank, long], salt), { at: blank, says: "Write something first." })
    assert.deepInclude(await orderOf(terms, [long], salt), { at: long })
  })

  it("says how many characters are left only near the maximum", () => {
    const left = [10, wordsMaximum - 7, wordsMaximum + 2].map((length) => leftOf("x".repeat(length)))
    assert.deepStrictEqual(left, ["", " 7 left.", " 2 too many."])
  })
})
