/** Lights, reveals and unseals: a light on what did not burn, and words that are not what was sealed, are found. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Altar } from "./fixture/AuditedAltar.ts"
import { auditing, type Fault, type Lie } from "./fixture/AuditFaults.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { auditCandles } from "./Candles.ts"
import { findings } from "./Findings.ts"
import { readLedger } from "./Ledger.ts"
import { auditOpenings } from "./Openings.ts"
import { parsed, textAt } from "./Api.ts"
import type { GivenAnswer } from "./Given.ts"

const checks = {
  days: "a candle burns as long as was paid for",
  light: "a light is on a candle that burned",
  asked: "a light is on the candle that was asked for",
  lightRefused: "who was refused a light had named no candle that burned",
  wall: "the wall shows every candle that burns, with its lights",
  hash: "what was opened hashes to its commitment",
  told: "an answer of a reveal or an unseal is still true",
  once: "words are opened once",
  shown: "words are shown where they were opened, as they were, and nowhere else",
  refused: "what was not opened was refused for its reason",
}

const candle = "(SELECT parent_id FROM candles WHERE parent_id IS NOT NULL)"
const stone = "(SELECT stone_id FROM witness_reveals WHERE NOT hidden)"
const closed = "(SELECT id FROM witness_stones WHERE sequence = 2)"

const faults: ReadonlyArray<Fault> = [
  [
    "a candle that burns longer",
    `UPDATE candles SET lit_until = lit_until + interval '1 day' WHERE id = ${candle}`,
    checks.days,
  ],
  ["a candle of other days", `UPDATE candles SET rung = 'week' WHERE id = ${candle}`, checks.days],
  [
    "a light on a candle that was out",
    `UPDATE candles SET lit_at = lit_at - interval '2 days', lit_until = lit_until - interval '2 days' WHERE id = ${candle}`,
    checks.light,
  ],
  [
    "a light on a candle that was lit later",
    `UPDATE candles SET lit_at = lit_at + interval '1 hour', lit_until = lit_until + interval '1 hour' WHERE id = ${candle}`,
    checks.light,
  ],
  [
    "a light on a candle of another altar",
    `UPDATE candles SET spirit = 'static-fox' WHERE id = ${candle}`,
    checks.light,
  ],
  [
    "a light on another candle than was answered",
    `UPDATE candles SET parent_id = (SELECT id FROM candles WHERE rung = 'week') WHERE parent_id IS NOT NULL`,
    checks.light,
  ],
  ["a light that became a candle", "UPDATE candles SET parent_id = NULL", checks.light],
  ["a light on a light", `UPDATE candles SET parent_id = id WHERE id = ${candle}`, checks.light],
  [
    "a light on a candle that is not settled",
    `UPDATE payment_attempts SET state = 'pending', next_check_at = now() + interval '1 minute' WHERE id = ${candle}`,
    checks.light,
  ],
  ["words that are not what was sealed", "UPDATE witness_reveals SET text = 'The heron stays.'", checks.hash],
  ["words of a candle that are not what was sealed", "UPDATE candle_unseals SET words = words || '!'", checks.hash],
  [
    "words with another salt",
    `UPDATE witness_reveals SET salt = repeat('7', 20) WHERE stone_id = ${stone}`,
    checks.hash,
  ],
  [
    "words of a stone that nobody opened",
    `INSERT INTO witness_reveals SELECT ${closed}, salt, text, hidden, agent_name, revealed_at FROM witness_reveals WHERE NOT hidden`,
    checks.hash,
  ],
  [
    "words of a candle that holds none",
    `INSERT INTO candle_unseals SELECT (SELECT id FROM candles WHERE commitment IS NULL), salt, words, hidden, unsealed_at
    FROM candle_unseals LIMIT 1`,
    checks.hash,
  ],
  ["a reveal that was lost", `DELETE FROM witness_reveals WHERE stone_id = ${stone}`, checks.told],
  ["an unseal that was lost", "DELETE FROM candle_unseals", checks.told],
  ["words in other bytes than were sent", "UPDATE witness_reveals SET text = trim(text)", checks.told],
  ["words under another name", "UPDATE witness_reveals SET agent_name = 'Heron'", checks.told],
  ["a link that is shown", "UPDATE witness_reveals SET hidden = false", checks.shown],
  ["words that are hidden without a reason", "UPDATE candle_unseals SET hidden = true", checks.shown],
  [
    "words that were opened at another time",
    "UPDATE witness_reveals SET revealed_at = revealed_at + interval '1 second'",
    checks.shown,
  ],
]

const opening = (status: number, of: string) => (answer: GivenAnswer) =>
  answer.method === "POST" && answer.status === status && answer.url.endsWith(of)
const refusal = (code: string) => (answer: GivenAnswer) => textAt(parsed(answer.body), "code") === code
const otherwise = (code: string) => (answer: GivenAnswer) => ({
  ...answer,
  status: 409,
  body: JSON.stringify({ ok: false, code, message: "x" }),
})
/** Asked in a later millisecond than what was answered before it. */
const asLater = (answer: GivenAnswer) => ({ ...answer, askedAt: answer.at + 1 })
const isLight = (answer: GivenAnswer) => answer.status === 201 && (answer.requestBody ?? "").includes("parentId")

const lies: ReadonlyArray<Lie> = [
  [
    "a light on another candle than was asked for",
    isLight,
    (answer) => ({
      ...answer,
      requestBody: JSON.stringify({ parentId: "7b7b1f0e-9f53-4b7c-8d0a-3c1f3a0d6c55" }),
    }),
    checks.asked,
  ],
  [
    "a light that was refused on a candle that burned",
    isLight,
    (answer) => asLater({ ...otherwise("parent_not_lit")(answer), key: null }),
    checks.lightRefused,
  ],
  [
    "words that were taken and are not there",
    opening(200, "/reveal"),
    (answer) => ({ ...answer, requestBody: (answer.requestBody ?? "").replace("heron", "otter") }),
    checks.told,
  ],
  ["words that were opened twice", opening(200, "/unseal"), (answer) => ({ ...answer, status: 201 }), checks.once],
  ["own words that are said not to match", opening(201, "/reveal"), otherwise("commitment_mismatch"), checks.refused],
  ["own words that are said to be others", opening(200, "/unseal"), otherwise("already_unsealed"), checks.refused],
  ["a sealed candle that is said to hold nothing", opening(200, "/unseal"), otherwise("not_sealed"), checks.refused],
  [
    "a stone that is said to be open to payment",
    opening(200, "/reveal"),
    (answer) => asLater(otherwise("witness_not_settled")(answer)),
    checks.refused,
  ],
  [
    "a candle that is said not to be there",
    opening(200, "/unseal"),
    (answer) => asLater(otherwise("candle_not_found")(answer)),
    checks.refused,
  ],
  [
    "a stone that is said to be opened before anybody did",
    refusal("commitment_mismatch"),
    (answer) => ({ ...otherwise("already_revealed")(answer), at: answer.at - 1 }),
    checks.refused,
  ],
  [
    "words that match and are said not to, after they were opened",
    refusal("already_revealed"),
    (answer) => asLater(otherwise("commitment_mismatch")(answer)),
    checks.refused,
  ],
  [
    "words that were shown before anybody opened them",
    (answer) => answer.status === 200 && answer.body.includes('"reveal":null') && answer.url.includes("/api/witness/"),
    (answer) => ({
      ...answer,
      body: answer.body.replace(
        '"reveal":null',
        '"reveal":{"text":"guessed","salt":"sixteen-chars-ok","hidden":false}',
      ),
    }),
    checks.shown,
  ],
  [
    "words that were opened and are not shown",
    (answer) => answer.status === 200 && answer.body.includes('"text":" The heron') && answer.method === "GET",
    (answer) => asLater({ ...answer, body: answer.body.replace(/"reveal":\{[^}]*\}/u, '"reveal":null') }),
    checks.told,
  ],
  [
    "words of a link that were shown",
    opening(200, "/reveal"),
    (answer) => ({
      ...answer,
      body: answer.body.replace(/"text":(?:null|"[^"]*")/u, '"text":"https://heron.example"'),
    }),
    checks.shown,
  ],
]

/** A read that a server answers otherwise than its database has it. */
type Reading = readonly [name: string, path: string, from: RegExp, to: string, check: string]

const reads: ReadonlyArray<Reading> = [
  ["a wall that leaves out its candles", "/api/candles?", /"candles":\[.*\],"lit"/u, '"candles":[],"lit"', checks.wall],
  ["a wall that counts another light", "/api/candles?", /"lightCount":1/u, '"lightCount":2', checks.wall],
  ["a wall that leaves out a light", "/api/candles?", /"lights":\[\{[^\]]*\]/u, '"lights":[]', checks.wall],
  [
    "a wall without the words that were unsealed",
    "/api/candles?",
    /"unsealed":\{[^}]*\}/u,
    '"unsealed":null',
    checks.shown,
  ],
  ["an unseal with other words", "/unseal", /"words":"/u, '"words":"!', checks.shown],
  ["an unseal with another salt", "/unseal", /"salt":"/u, '"salt":"!', checks.shown],
  [
    "a stone with words that nobody opened",
    "/api/witness?",
    /"reveal":null/u,
    '"reveal":{"text":"guessed","salt":"sixteen-chars-ok","hidden":false,"agentName":null,"revealedAt":"2026-11-21T10:00:00.000Z"}',
    checks.shown,
  ],
  [
    "a stone under another name",
    "/api/witness?",
    /"agentName":"Wren","revealedAt"/u,
    '"agentName":"Heron","revealedAt"',
    checks.shown,
  ],
]

/** What is found where a server reads so, and how much is read. */
const auditRead = Effect.fnUntraced(function* (path: string, from: RegExp, to: string) {
  const { databaseUrl, server } = yield* Altar
  const url = yield* serve(async (asked, body, { method = "GET" }) => {
    const sent = body === "" ? {} : { headers: { "content-type": "application/json" }, body }
    const answer = await fetch(server + asked, { method, ...sent })
    const text = await answer.text()
    const {
      connection: _,
      "content-encoding": __,
      "content-length": ___,
      ...headers
    } = Object.fromEntries(answer.headers)
    return { status: answer.status, headers, body: asked.includes(path) ? text.replace(from, to) : text }
  })
  return yield* Effect.promise(async () => {
    const found = findings()
    const ledger = await readLedger(databaseUrl)
    await auditOpenings(await auditCandles([url], null, ledger, found), null, ledger, found)
    return found.report().violations.map(({ check }) => check)
  })
}, Effect.scoped)

auditing("lights, reveals and unseals", faults, lies, (it) => {
  it.effect("finds nothing where a server reads what is there", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* auditRead("/nowhere", /x/u, ""), [])
    }),
  )
  for (const [name, path, from, to, check] of reads) {
    it.effect(`finds ${name}`, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual([...new Set(yield* auditRead(path, from, to))], [check])
      }),
    )
  }
})
