/** The answers of a scripted node, and the evidence that follows by docs/payment-protocol.md. */
import { Option } from "effect"
import * as Evidence from "../../src/payments/chain/Evidence.ts"
import { alreadyUsed, tooPoor } from "../../src/payments/chain/Eip3009.ts"
import {
  type Answers,
  blockAt,
  elsewhere,
  found,
  look,
  named,
  nothing,
  open,
  paid,
  receipt,
  scripted,
  transfer,
  usedAnd,
} from "../lab/ScriptedEvidence.ts"
import { address, logsOf, word } from "../lab/TransferLogs.ts"
import { assert, describe, effect } from "../lab/Suites.ts"

const spentForNow: Evidence.Evidence = {
  _tag: "Open",
  unused: false,
  reverts: false,
  ended: "authorization_spent_elsewhere",
}
const couldNotPay: Evidence.Evidence = { _tag: "Open", unused: true, reverts: true, couldNotPay: true }
const spent: Evidence.Evidence = { _tag: "Void", reason: "authorization_spent_elsewhere", transaction: found }
const canceled: Evidence.Evidence = { _tag: "Void", reason: "authorization_canceled", transaction: found }

const expired = "invalid_exact_evm_payload_authorization_valid_before"
const over = { newest: blockAt(10n, 2_010n), final: blockAt(8n, 2_000n), revert: expired }
const poor = { revert: tooPoor }
const log = { transaction: found, blockHash: blockAt(7n).hash }
const namedIs = (one: Evidence.Receipt) => ({ receipts: { [named]: one } })
const foundIs = (one: Evidence.Receipt) => ({ receipts: { [found]: one } })
const otherToken = transfer.map((one) => ({ ...one, address: address("f") }))

const outcomes: ReadonlyArray<readonly [follows: Evidence.Evidence, when: Readonly<Record<string, Answers>>]> = [
  [paid(named), { "the named transaction's receipt shows our transfer": namedIs(receipt(transfer)) }],
  [
    paid(found),
    {
      "the named transaction is not there and a log names another one that paid us": usedAnd(
        foundIs(receipt(transfer)),
      ),
      "it is unused and expired, but a log's receipt shows our transfer": {
        ...over,
        logs: [log],
        ...foundIs(receipt(transfer)),
      },
    },
  ],
  [
    open(true),
    {
      "the named transaction is not there": {},
      "the named transaction's receipt has reverted": namedIs(receipt(transfer, { succeeded: false })),
      "the named transaction's receipt shows a transfer of another value": namedIs(receipt(elsewhere)),
      "the named transaction's receipt shows the transfer of another token": namedIs(receipt(otherToken)),
      "its wallet was too poor at the final block, and can pay now": {
        ...namedIs(receipt(elsewhere)),
        revertAtFinal: tooPoor,
      },
      "it is unused and expired at the newest block, but not at the final one": {
        newest: blockAt(10n, 2_000n),
        final: blockAt(8n, 1_999n),
        revert: expired,
      },
    },
  ],
  [
    open(true, true),
    {
      "it is unused and not expired, and its dry run is refused": { revert: "invalid_exact_evm_insufficient_balance" },
      "its wallet is too poor, and its named transaction is not final": {
        ...poor,
        ...namedIs(receipt(elsewhere, { block: blockAt(9n) })),
      },
      "its wallet is too poor, and the number of its named transaction's block now belongs to another one": {
        ...poor,
        ...namedIs(receipt(elsewhere)),
        there: word("9"),
      },
      "its wallet is too poor, and its named transaction is in no block": poor,
      "its wallet is too poor now, and could pay at the final block": {
        ...poor,
        ...namedIs(receipt(elsewhere)),
        revertAtFinal: undefined,
      },
      "its wallet is too poor now, and the node keeps no state of the final block": {
        ...poor,
        ...namedIs(receipt(elsewhere)),
        revertAtFinal: null,
      },
      "its named transaction is final without our transfer, and the transfer reverts for another reason": {
        revert: "invalid_exact_evm_signature",
        ...namedIs(receipt(elsewhere)),
      },
    },
  ],
  [
    couldNotPay,
    {
      "its named transaction is final without our transfer, and its wallet was too poor there and is now": {
        ...poor,
        ...namedIs(receipt(elsewhere)),
      },
      "its named transaction has reverted in a final block, and its wallet was too poor there and is now": {
        ...poor,
        ...namedIs(receipt([], { succeeded: false })),
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
      "it is unused and expired, but a log ends it": { ...over, logs: [log], ...foundIs(receipt(elsewhere)) },
      "the final block is above the newest one": { ...over, newest: blockAt(7n, 2_010n) },
      "it is unused, but its dry run says that it is used": { revert: alreadyUsed },
      "it is used, but its dry run passes": { used: true },
      "it is used and no log is found": usedAnd({ logs: [] }),
      "it is used and its log's receipt is missing": usedAnd({}),
      "it is used for another recipient and the receipt is of another block than the log": usedAnd(
        foundIs(receipt(elsewhere, { block: blockAt(6n) })),
      ),
      "it is used and the receipt of its log has reverted": usedAnd(foundIs(receipt(elsewhere, { succeeded: false }))),
      "it is used and the receipt of its log does not hold that log": usedAnd(foundIs(receipt([]))),
    },
  ],
  [
    spentForNow,
    {
      "it is used for another recipient in a block that is not final": usedAnd({
        logs: [{ transaction: found, blockHash: blockAt(9n).hash }],
        ...foundIs(receipt(elsewhere, { block: blockAt(9n) })),
      }),
      "it is used for another recipient and its block's number now belongs to another block": usedAnd({
        ...foundIs(receipt(elsewhere)),
        there: word("9"),
      }),
      "it is used for another recipient, by a node whose branch does not hold the final block": usedAnd({
        ...foundIs(receipt(elsewhere)),
        again: word("9"),
      }),
    },
  ],
  [
    { _tag: "Void", reason: "authorization_expired" },
    { "it is unused, a final block is past `validBefore`, its dry run is refused and there is no log": over },
  ],
  [spent, { "it is used, for another recipient, in a final block": usedAnd(foundIs(receipt(elsewhere))) }],
  [canceled, { "it is cancelled in a final block": usedAnd(foundIs(receipt([logsOf().canceled]))) }],
]

const nameOf = (evidence: Evidence.Evidence) => {
  if (evidence._tag === "Paid") return "it is paid"
  if (evidence._tag === "Void") return `it can never be paid (${evidence.reason})`
  if (evidence.couldNotPay === true) return "its wallet could not pay"
  if (evidence.ended !== undefined) return `nothing follows yet (${evidence.ended})`
  return evidence.unused ? `it is open${evidence.reverts ? " and would revert" : ""}` : "nothing follows"
}

const rows = outcomes.flatMap(([follows, when]) =>
  Object.entries(when).map(([row, answers]) => ({ title: `${row}, ${nameOf(follows)}`, answers, follows })),
)

describe("the evidence of one authorization", () => {
  // I17, I18
  effect.each(rows)("says: when $title", function* ({ answers, follows }) {
    assert.deepStrictEqual(yield* Evidence.make(scripted(answers)).evidence(look), follows)
  })

  // I18
  effect.each(rows.filter(({ follows }) => follows._tag === "Void"))(
    "says: when $title, but not while the final block is an earlier one",
    function* ({ answers }) {
      const early = scripted({ ...answers, final: blockAt(6n, 1_999n) })
      assert.strictEqual((yield* Evidence.make(early).evidence(look))._tag, "Open")
    },
  )

  effect("says nothing when a node below the block of its transfer reports it as unused", function* () {
    const { evidence } = Evidence.make(scripted({ newest: blockAt(10n) }))
    const paidBefore = (block: bigint) => evidence({ ...look, foundIn: Option.some(block) })
    assert.deepStrictEqual(yield* paidBefore(11n), nothing)
    assert.deepStrictEqual(yield* paidBefore(10n), open(true))
  })
})
