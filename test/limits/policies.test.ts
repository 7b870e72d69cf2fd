/** The numbers of docs/limits.md that are counted by address or network; windows.test.ts holds that a number is kept. */
import { openings, questions, refusedPayments } from "../../src/altar/Limits.ts"
import type { Policy } from "../../src/limits/Policy.ts"
import { creations, deletions, newMessages, reads, sends } from "../../src/room/Limits.ts"
import { assert, assertEach, describe, it } from "../lab/Suites.ts"

const [minute, hour, day] = [60, 3_600, 86_400]

const rows: ReadonlyArray<readonly [what: string, policy: Policy, quotas: Array<[number, number]>]> = [
  [
    "new rooms of an address, a /56 and a /48",
    creations,
    [5, 20, 100].flatMap((hourly) => [
      [hourly, hour],
      [2 * hourly, day],
    ]),
  ],
  ["sends of an address, a /56 and a /48", sends, [20, 80, 400].map((quota) => [quota, minute])],
  ["polls", reads, [[120, minute]]],
  ["deletions", deletions, [[10, minute]]],
  ["new messages of a room", newMessages, [[30, minute]]],
  ["reveals and unseals", openings, [[60, minute]]],
  ["reconciles", questions, [[240, minute]]],
  ["refused payments", refusedPayments, [[60, minute]]],
]

describe("a limit by address", () => {
  it.each(rows)("of %s has the number and the window of its row", (_, policy, quotas) => {
    const windows = [policy, ...(policy.wider ?? [])].flatMap((one) => one.windows)
    assertEach(windows, ({ quota, seconds }) => [quota, seconds], quotas)
    for (const { quota, says } of windows) assert.include(says, `${quota} `)
  })
})
