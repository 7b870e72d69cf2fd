/** The answers of a scripted node and scan, and the evidence that follows by docs/payment-protocol.md. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, Option } from "effect"
import type { Hex } from "viem"
import { alreadyUsed } from "../../src/payments/x402/chain/Eip3009.ts"
import type { Conclusion } from "../../src/payments/x402/chain/Evidence.ts"
import type { EvidenceNode, TransactionReceipt } from "../../src/payments/x402/chain/Rpc.ts"
import { address, logsOf, word } from "../lab/TransferLogs.ts"
import {
  type Answers,
  blockAt,
  cancelAt,
  elsewhere,
  evidenceOf,
  discovered,
  foundIs,
  look,
  named,
  open,
  paid,
  receipt,
  rowIn,
  spent,
  transfer,
  useAt,
  usedAnd,
} from "../lab/ScriptedEvidence.ts"

const nothing = open(false)
const canceled: Conclusion = { _tag: "Void", reason: "authorization_canceled", transaction: discovered }
const expired: Conclusion = { _tag: "Void", reason: "authorization_expired" }

const over = {
  newest: blockAt(10n, 2_010n),
  final: blockAt(8n, 2_000n),
  revert: "invalid_exact_evm_payload_authorization_valid_before",
}
const namedIs = (one: TransactionReceipt) => ({ receipts: { [named]: one } })
const otherAmount = (value: bigint) => [logsOf().used, logsOf({ value }).moved]
const otherToken = transfer.map((one) => ({ ...one, address: address("f") }))

const outcomes: ReadonlyArray<readonly [follows: Conclusion, when: Readonly<Record<string, Answers>>]> = [
  [paid(named), { "the named transaction's receipt shows our transfer": namedIs(receipt(transfer)) }],
  [
    paid(discovered),
    {
      "the scan has its transfer in a final block, although the node calls it unused": { row: rowIn(true) },
      "the scan finds its transfer at the last moment": { ...over, rowThen: rowIn(true) },
      "it is used, and the receipt of its log shows our transfer, by a node whose branch lacks the final block":
        usedAnd({
          ...foundIs(receipt(transfer)),
          again: word("9"),
        }),
      "it is used, and the receipt of its final log shows our transfer": usedAnd(foundIs(receipt(transfer))),
    },
  ],
  [paid(discovered, blockAt(9n)), { "the scan has its transfer in a block that still stands": { row: rowIn(false) } }],
  [
    open(true),
    {
      "the named transaction is not there": {},
      "it is unused, not expired, and its dry run is refused": { revert: "insufficient" },
      "the named transaction's receipt has reverted": namedIs(receipt(transfer, { succeeded: false })),
      "the named transaction's receipt shows a transfer to another recipient": namedIs(receipt(elsewhere)),
      "the named transaction's receipt shows the transfer of another token": namedIs(receipt(otherToken)),
      "the scan has its transfer in a block that was replaced": { row: rowIn(false), there: word("9") },
      "the scan has another transfer of it in a block that is not final": { row: rowIn(false, { amount: 1n }) },
      "it is unused and expired at the newest block, but not at the final one": {
        ...over,
        newest: blockAt(10n, 2_000n),
        final: blockAt(8n, 1_999n),
      },
    },
  ],
  [
    nothing,
    {
      "it is unused and a final block is past `validBefore`, but its dry run passes": {
        newest: over.newest,
        final: over.final,
      },
      "it is unused and expired, but the scan has not read as far": { ...over, hasReadPast: false },
      "it is unused and expired, but the scan has its transfer above the final block": {
        ...over,
        row: rowIn(false),
        there: word("9"),
      },
      "the final block is above the newest one": { ...over, newest: blockAt(7n, 2_010n) },
      "the scan has its transfer in a block above the newest one": { row: rowIn(false), newest: blockAt(8n) },
      "it is unused, but its dry run says that it is used": { revert: alreadyUsed },
      "it is used, but its dry run passes": { used: true },
      "it is used and no log is found": usedAnd({ ends: [] }),
      "it is used and its log's receipt is missing": usedAnd({}),
      "it is used for another recipient and the receipt is of another block than the log": usedAnd(
        foundIs(receipt(elsewhere, { block: blockAt(6n) })),
      ),
      "it is used and the receipt of its log has reverted": usedAnd(foundIs(receipt(elsewhere, { succeeded: false }))),
      "it is used and the receipt of its log does not hold that log": usedAnd(foundIs(receipt([]))),
      "it is used for another amount that reached us, and the scan has not read as far": usedAnd({
        ...foundIs(receipt(otherAmount(1n))),
        hasReadPast: false,
      }),
      "it is used for another recipient in a block that is not final": usedAnd({
        ends: [useAt(blockAt(9n))],
        ...foundIs(receipt(elsewhere, { block: blockAt(9n) })),
      }),
      "it is used for another recipient in a block that was replaced": usedAnd({
        ...foundIs(receipt(elsewhere)),
        there: word("9"),
      }),
      "it is used for another recipient, by a node whose branch does not hold the final block": usedAnd({
        ...foundIs(receipt(elsewhere)),
        again: word("9"),
      }),
    },
  ],
  [expired, { "it is unused and expired in a final block, and the scan has read past `validBefore` without it": over }],
  [
    spent,
    {
      "the scan has another amount of it in a final block": { row: rowIn(true, { amount: 1n }) },
      "the scan has it for another recipient in a final block": { row: rowIn(true, { recipient: address("9") }) },
      "it is used, for another recipient, in a final block": usedAnd(foundIs(receipt(elsewhere))),
      "it is used, for nothing, in a final block": usedAnd({
        ...foundIs(receipt(otherAmount(0n))),
        hasReadPast: false,
      }),
      "it is used for nothing, a plain transfer of the price follows, in a final block": usedAnd(
        foundIs(receipt([...otherAmount(0n), logsOf().moved])),
      ),
      "it is used, for another amount that reached us and of which the scan found no row, in a final block": usedAnd(
        foundIs(receipt(otherAmount(1n))),
      ),
      "it is used, a plain transfer follows with a gap, and the receipt shows it": usedAnd({
        ...foundIs(receipt([...elsewhere, logsOf().moved])),
      }),
    },
  ],
  [
    canceled,
    {
      "it is cancelled in a final block": usedAnd({ ends: [cancelAt()], ...foundIs(receipt([logsOf().canceled])) }),
      "it is cancelled, and a plain transfer follows": usedAnd({
        ends: [cancelAt()],
        ...foundIs(receipt([logsOf().canceled, logsOf().moved])),
      }),
    },
  ],
]

const nameOf = (evidence: Conclusion) => {
  if (evidence._tag === "Paid") return "it is paid"
  if (evidence._tag === "Void") return `it can never be paid (${evidence.reason})`
  return evidence.unused ? "it is open" : "nothing follows"
}

const rows = outcomes.flatMap(([follows, when]) =>
  Object.entries(when).map(([row, answers]) => ({ title: `${row}, ${nameOf(follows)}`, answers, follows })),
)

describe("the evidence of one authorization", () => {
  it.effect.each(rows)("says: when $title", function* ({ answers, follows }) {
    assert.deepStrictEqual(yield* evidenceOf(answers).evidence(look), follows)
  })

  const asked = rows.filter(({ answers, follows }) => follows._tag === "Void" && answers.row === undefined)
  it.effect.each(asked)("says: when $title, but not while the final block is an earlier one", function* ({ answers }) {
    const early = evidenceOf({ ...answers, final: blockAt(6n, 1_999n) })
    assert.strictEqual((yield* early.evidence(look))._tag, "Open")
  })

  it.effect("spells a transaction in lower case, however settlement spelled it", function* () {
    const capitals: Hex = `0x${"A".repeat(64)}`
    const { evidence } = evidenceOf({ receipts: { [capitals]: receipt(transfer) } })
    assert.deepStrictEqual(yield* evidence({ ...look, transaction: Option.some(capitals) }), paid(word("a")))
  })
})

it.effect.each([
  ["no", undefined],
  ["a", rowIn(true, { amount: 1n })],
] as const)(
  "another amount that reached us, of which the scan has %s row in the end, is recorded without one only",
  ([, rowThen]) =>
    Effect.gen(function* () {
      const answers = usedAnd({ ...foundIs(receipt(otherAmount(1n))), ...(rowThen && { rowThen }) })
      const { evidence, recorded } = evidenceOf(answers)
      assert.deepStrictEqual(yield* evidence(look), spent)
      assert.deepStrictEqual(recorded, rowThen === undefined ? [{ amount: 1n, transaction: discovered }] : [])
    }),
)

describe("a node that does not answer", () => {
  const silent = Effect.fail("no answer" as const)
  const questions: Readonly<Record<string, Partial<EvidenceNode<"no answer">>>> = {
    heads: { heads: silent },
    state: { stateAt: () => silent },
    logs: { endsOf: () => silent },
    receipt: { receiptOf: () => silent },
  }
  it.effect.each(Object.entries(questions))(
    "when asked for the %s proves nothing, and fails the inquiry",
    ([, change]) =>
      Effect.gen(function* () {
        const { evidence } = evidenceOf(usedAnd(foundIs(receipt(elsewhere))), change)
        assert.strictEqual(yield* Effect.flip(evidence(look)), "no answer")
      }),
  )

  it.effect.each([rowIn(true), rowIn(true, { amount: 1n })])("takes nothing from a final row", function* (row) {
    const { evidence } = evidenceOf({ row }, { heads: silent, receiptOf: () => silent })
    assert.notStrictEqual((yield* evidence(look))._tag, "Open")
  })
})
