/** The challenge of a 402 fits a header of 1,536 bytes, whatever is sold, wherever, and for whatever reason it is refused. */
import { assert, describe, it } from "@effect/vitest"
import { Base64 } from "effect/encoding"
import { sales } from "../../schema/altar/Sales.ts"
import { challengeOf } from "../../src/payments/PaymentTerms.ts"
import { untimely } from "../../src/payments/x402/verify/Offer.ts"
import { longestItem, longestSpirit } from "../lab/ActTable.ts"
import { authorization, terms } from "../lab/TransferLogs.ts"

/** The longest name that DNS allows has 253 characters. */
const longestHost = [63, 63, 63, 61].map((length) => "a".repeat(length)).join(".")

const hosts = [
  "http://127.0.0.1:65535",
  "https://altar.example",
  `https://${"a".repeat(63)}.example`,
  `https://${longestHost}:65535`,
]

const query: Readonly<Record<string, string>> = {
  offerPrayer: "?day=2026-11-28",
  collectMaterial: `?spirit=${longestSpirit}`,
}

const urls = sales.flatMap(({ path, sale }) => {
  const filled = path.replace(":itemId", longestItem).replace(/:\w+/gu, longestSpirit)
  return hosts.map((host) => ({ sale, url: `${host}${filled}${query[sale.name] ?? ""}` }))
})

const now = 1_764_342_000n
const late = untimely({ ...authorization, validBefore: now + 4_000n }, terms, now)
const lateError = `${late?.reason}: ${late?.message}`

const errors = [
  "",
  "payment_required",
  lateError,
  `quotes: ${'"\\\n'.repeat(200)}`,
  `letters: ${"ü漢🪨".repeat(200)}`,
  `facilitator: ${"\u0000".repeat(1_000)}`,
]

describe("PAYMENT-REQUIRED", () => {
  it("has at most 1,536 bytes, with as much of the error as they leave", () => {
    for (const { sale, url } of urls)
      for (const error of errors) {
        const { description, priceAtomic: amountAtomic } = sale
        const bazaar = () => assert.fail("no catalogue reads it")
        const challenge = challengeOf(terms, { amountAtomic, url, description, bazaar }, error)
        const header = Base64.encode(JSON.stringify(challenge))
        assert.isAtMost(header.length, 1_536, `${url} ${error.slice(0, 20)}`)
        assert.strictEqual(challenge.resource.url, url)
        assert.isTrue(error.startsWith(challenge.error), challenge.error)
        assert.isTrue(challenge.error.isWellFormed())
        if (challenge.error !== error && error === lateError) assert.isAbove(header.length, 1_508, "no room is wasted")
      }
  })

  it("names the member and the server's clock on hosts of usual length", () => {
    const short = urls.filter(({ url }) => !url.includes("aaa"))
    for (const { sale, url } of short) {
      const { description, priceAtomic: amountAtomic } = sale
      const { error } = challengeOf(terms, { amountAtomic, url, description }, lateError)
      assert.match(
        error,
        /payload\.authorization\.validBefore .*Check your clock: the server's says \S+Z \(1764342000\)/u,
        url,
      )
    }
  })
})
