/** What was charged to cards: a charge without an act, and an act without its charge, are found. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Altar } from "./fixture/AuditedAltar.ts"
import { auditAfter, auditing, type Fault, type Lie } from "./fixture/AuditFaults.ts"
import { json, serve } from "../lab/proxy/HttpServer.ts"
import { newKey } from "../lab/Fixture.ts"

const card = "(SELECT id FROM payment_attempts WHERE rail = 'card' AND state = 'settled')"

const faults: ReadonlyArray<Fault> = [
  [
    "a charge whose purchase was lost",
    `CREATE TEMP TABLE gone AS SELECT ${card} AS id;
    DELETE FROM payment_claims WHERE attempt_id IN (SELECT id FROM gone);
    DELETE FROM acts WHERE id IN (SELECT id FROM gone);
    DELETE FROM candles WHERE id IN (SELECT id FROM gone);
    DELETE FROM payment_attempts WHERE id IN (SELECT id FROM gone)`,
    "a card charge buys one act",
  ],
  [
    "a charge that is said to have failed",
    `UPDATE payment_attempts SET state = 'failed', reason = 'x' WHERE id = ${card}`,
    "a card charge buys one act",
  ],
  [
    "an act of another charge",
    `UPDATE payment_attempts SET transaction = 'pi_777' WHERE id = ${card}`,
    "a settled card act was charged once",
  ],
  [
    "an act that was not charged",
    "UPDATE payment_attempts SET state = 'settled' WHERE rail = 'card' AND state = 'failed'",
    "a settled card act was charged once",
  ],
  [
    "an act that costs less than was charged",
    `UPDATE payment_attempts SET amount_atomic = 1000000 WHERE id = ${card}`,
    "an act is paid its price",
  ],
  [
    "a receipt of another charge",
    `UPDATE acts SET receipt = regexp_replace(receipt, 'pi_[0-9a-f]+', 'pi_777') WHERE id = ${card}`,
    "a receipt is shown of each settled act, once",
  ],
  [
    "a receipt over another amount",
    `UPDATE acts SET receipt = replace(receipt, '"amountCents":"300"', '"amountCents":"100"') WHERE id = ${card}`,
    "a receipt is shown of each settled act, once",
  ],
  [
    "a stored answer of another charge",
    `UPDATE payment_attempts SET answer = regexp_replace(answer, 'pi_[0-9a-f]+', 'pi_777') WHERE id = ${card}`,
    "a stored answer names its payment",
  ],
  [
    "a token that may be charged again",
    `DELETE FROM payment_claims WHERE attempt_id = ${card}`,
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "a token that is kept",
    `UPDATE payment_attempts SET signature = 'spt_777' WHERE id = ${card}`,
    "a token is kept only while it may be charged",
  ],
]

const lies: ReadonlyArray<Lie> = [
  [
    "a failure of what was charged",
    ({ headers, status }) => status === 200 && "payment-receipt" in headers,
    (answer) => ({
      ...answer,
      status: 402,
      body: JSON.stringify({ ok: false, code: "payment_failed", message: "The card was declined." }),
    }),
    "what was said to have failed was not paid",
  ],
  [
    "a receipt of no charge",
    ({ status, url }) => status === 200 && url.endsWith("/api/acts"),
    (answer) => ({ ...answer, body: answer.body.replace(/pi_[0-9a-f]+/u, "pi_777") }),
    "every receipt that was ever shown stands",
  ],
]

/** A list of the processor's charges. */
interface Books {
  readonly data: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** What the processor's books say, and a check that finds it. */
const charges: ReadonlyArray<
  readonly [name: string, change: (charge: Books["data"][number]) => Books["data"], check: string]
> = [
  ["a second charge of an act", (one) => [one, { ...one, id: "pi_777" }], "a settled card act was charged once"],
  [
    "a second charge that its act does not name",
    (one) => [one, { ...one, id: "pi_777" }],
    "a card charge buys one act",
  ],
  [
    "a charge for an attempt that nobody knows",
    (one) => [one, { ...one, metadata: { attempt: newKey() } }],
    "a card charge buys one act",
  ],
  ["a charge that is not there", () => [], "a settled card act was charged once"],
  ["a charge that is too small", (one) => [{ ...one, amount_received: 100 }], "a settled card act was charged once"],
  ["a charge in another currency", (one) => [{ ...one, currency: "eur" }], "a settled card act was charged once"],
]

/** What is found when the charge that was made stands otherwise in the processor's books. */
const auditWith = Effect.fnUntraced(function* (change: (charge: Books["data"][number]) => Books["data"]) {
  const { cards } = yield* Altar
  const url = yield* serve(async (path, _, { headers }) => {
    const { authorization = "", "stripe-version": version } = headers
    const answer = await fetch(cards.url + path, { headers: { authorization, "stripe-version": String(version) } })
    const { data } = (await answer.json()) as Books
    const taken = data.find(({ status }) => status === "succeeded")
    return json({ object: "list", data: taken === undefined ? [] : change(taken), has_more: false })
  })
  return yield* auditAfter("SELECT 1", { cards: { ...cards, url } })
})

auditing("cards", faults, lies, (it) => {
  it.effect("finds nothing in the processor's books as they are", () =>
    Effect.gen(function* () {
      const { checks, violations } = yield* auditWith((one) => [one])
      assert.deepStrictEqual(violations, [])
      const examined = new Map(checks.map((check) => [check.name, check.examined]))
      for (const [, , check] of charges) assert.isAbove(examined.get(check) ?? 0, 0, check)
    }),
  )
  for (const [name, change, check] of charges) {
    it.effect(`finds ${name} in the processor's books`, () =>
      Effect.gen(function* () {
        const { violations } = yield* auditWith(change)
        assert.include(
          violations.map((violation) => violation.check),
          check,
          JSON.stringify(violations, null, 1),
        )
      }),
    )
  }
})
