/** The auditor finds nothing in an altar that is whole, and each fault that is put into what it reads, by the check that is named. */
import { readFileSync, writeFileSync } from "node:fs"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { newKey, newPayer, realClock } from "../lab/Fixture.ts"
import { onChain, prepareAt, token } from "../lab/buyer/Purchase.ts"
import { broadcast } from "../lab/buyer/ThirdParty.ts"
import { forward, serve } from "../lab/proxy/HttpServer.ts"
import type { AuditReport } from "./Audit.ts"
import { Altar, altar, audited, putBack, statement } from "./fixture/AuditedAltar.ts"
import { faults } from "./fixture/StoredFaults.ts"
import { lies, type Lie } from "./fixture/Lies.ts"
import type { RecordedAnswer } from "./RecordedAnswers.ts"

const broken = ({ violations }: AuditReport) => [...new Set(violations.map(({ check }) => check))]

/** A copy of the answers file in which the first matching answer is false. */
const withLie = Effect.fnUntraced(function* ([fits, told]: Lie) {
  const { answers } = yield* Altar
  const lines = readFileSync(answers, "utf8").trim().split("\n")
  const all = lines.map((line): RecordedAnswer => JSON.parse(line))
  const first = all.find(fits)
  if (first === undefined) return assert.fail("nothing was told that could be told otherwise")
  const file = `${answers}.${newKey()}`
  const lie = { ...first, ...(typeof told === "function" ? told(first) : told) }
  writeFileSync(file, all.map((answer) => JSON.stringify(answer === first ? lie : answer)).join("\n"))
  return file
})

/** Each entry of a table, with the check it stands under. */
const rowsOf = <A>(table: Readonly<Record<string, Readonly<Record<string, A>>>>) =>
  Object.entries(table).flatMap(([check, rows]) => Object.entries(rows).map(([name, row]) => ({ check, name, row })))

layer(altar, realClock)("the auditor", (it) => {
  it.effect("finds nothing in an intact altar, and reads all of it", function* () {
    const report = yield* audited()
    assert.deepStrictEqual(report.violations, [])
    for (const { check } of [faults, lies].flatMap((table) => rowsOf<unknown>(table))) {
      // Nothing was lost or pending here that could be looked at.
      if (/lost act|said to be pending/u.test(check)) continue
      assert.isAbove(report.examined.get(check) ?? 0, 0, check)
    }
  })

  it.effect.each(rowsOf(faults))("finds $name", function* ({ check, row }) {
    const { databaseUrl } = yield* Altar
    yield* Effect.acquireRelease(statement(databaseUrl, row), () => statement(databaseUrl, putBack))
    const report = yield* audited()
    assert.include(broken(report), check, JSON.stringify(report.violations, null, 1))
  })

  it.effect.each(rowsOf(lies))("finds $name among the answers, by that check alone", function* ({ check, row }) {
    assert.deepStrictEqual(broken(yield* audited({ answers: yield* withLie(row) })), [check])
  })

  it.effect("finds a second charge of an act in the processor's books", function* () {
    const { cards } = yield* Altar
    const url = yield* serve(async (path, body, request) => {
      const { bytes, ...answer } = await forward(cards.url, path, body, request)
      const list = JSON.parse(bytes.toString())
      const again = list.data.map((one: object) => ({ ...one, id: "pi_777" }))
      return { ...answer, body: JSON.stringify({ ...list, data: [...list.data, ...again] }) }
    })
    const found = broken(yield* audited({ cards: { ...cards, url } }))
    assert.includeMembers(found, ["a card charge buys one act", "a settled card act was charged once"])
  })

  // A changed row would stop the log, because the server reads its files again.
  it.effect("finds a tile of the log with another hash, by that check alone", function* () {
    const { server } = yield* Altar
    const url = yield* serve(async (path, body, request) => {
      const { bytes, ...answer } = await forward(server, path, body, request)
      if (path.startsWith("/log/tile/0/")) bytes[0] = 255 - (bytes[0] ?? 0)
      return { ...answer, body: "", bytes }
    })
    assert.deepStrictEqual(broken(yield* audited({ server: url })), ["the log's files are those of its stones"])
  })

  // The last one: its transactions stay on the chain.
  it.effect("counts no gift as a purchase, nor an outsider's transfer before it was presented here", function* () {
    const { server } = yield* Altar
    const giver = yield* newPayer(10_000n)
    yield* onChain(async (client, { asset, payTo }) => {
      await client.setBalance({ address: giver.address, value: 10n ** 18n })
      const gift = { address: asset, abi: token, functionName: "transfer", args: [payTo, 10_000n] } as const
      const hash = await client.writeContract({ ...gift, account: giver, chain: null })
      await client.waitForTransactionReceipt({ hash })
    })
    yield* broadcast(yield* prepareAt(server))
    const report = yield* audited()
    assert.deepStrictEqual(report.violations, [])
    assert.strictEqual(report.examined.get("a gift buys nothing"), 1)
    assert.strictEqual(report.examined.get("an outsider brought an authorization that nobody ever showed here"), 1)
    assert.strictEqual(report.examined.get("a transfer buys one act"), 11)
  })
})
