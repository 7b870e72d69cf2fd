/** The poll machine: three seconds while seen, silence while hidden, on from the last sequence, history is not news. */
import { assert, describe, it } from "@effect/vitest"
import type { Mode } from "../../src/web/signals/api.ts"
import { fragmentIn, fragmentOf, readInvite } from "../../src/web/signals/invite.ts"
import { patterns } from "../../src/web/signals/patterns.ts"
import { begin, type Event, felt, step, unseen } from "../../src/web/signals/poll.ts"
import { valuesOf } from "../lab/Assertions.ts"

const signals = (latest: number, ...sequences: ReadonlyArray<number>) => ({
  room: { id: "", name: "", createdAt: "", expiresAt: "", latestSequence: latest },
  messages: sequences.map((seq) => ({
    id: `${seq}`,
    seq,
    sender: "Wren",
    senderKind: "agent" as const,
    text: `${seq}`,
    mode: "ping" as const,
    createdAt: "",
  })),
  truncated: false,
  serverTime: "",
})

const answered = (latest: number, ...sequences: ReadonlyArray<number>): Event => ({
  _tag: "Answered",
  signals: signals(latest, ...sequences),
})
type Code = Extract<Event, { readonly _tag: "Refused" }>["problem"]["code"]
const refused = (code: Code, wait = 0): Event => ({
  _tag: "Refused",
  problem: { code, message: "", retryAfter: wait },
})
const due: Event = { _tag: "Due" }
const wanted: Event = { _tag: "Wanted" }
const seen = (visible: boolean): Event => ({ _tag: "Seen", visible })

/** Each step in a word: asks after a sequence, waits for seconds, rests, or carries on. */
const told = (events: ReadonlyArray<Event>, first = begin(true)) => {
  const steps = [first]
  for (const event of events) steps.push(step((steps.at(-1) ?? first).poll, event))
  return steps
    .map(({ order }) =>
      order._tag === "Ask" ? `ask ${order.after}` : order._tag === "Wait" ? `wait ${order.seconds}` : order._tag,
    )
    .join(", ")
}

const failing = (code: Code, wait = 0) => [refused(code, wait), due]

describe("polling a room", () => {
  it.each<readonly [promise: string, steps: string, events: ReadonlyArray<Event>]>([
    [
      "asks at once, then every three seconds from the last sequence seen",
      "ask 0, wait 3, ask 7, wait 3, ask 7, wait 3, ask 9",
      [answered(7, 5, 6, 7), due, answered(7), due, answered(9, 8, 9), due],
    ],
    [
      "rests while hidden and asks at once when it is visible again",
      "ask 0, wait 3, Rest, Carry on, ask 1",
      [answered(1, 1), seen(false), seen(false), seen(true)],
    ],
    [
      "rests after an answer that comes while it is hidden",
      "ask 0, Carry on, Rest, ask 4",
      [seen(false), answered(4, 4), seen(true)],
    ],
    [
      "rests after silence that comes while it is hidden",
      "ask 0, Carry on, Rest, ask 0",
      [seen(false), refused("OFFLINE"), seen(true)],
    ],
    [
      "doubles its delay without an answer, up to half a minute",
      "ask 0, wait 3, ask 3, wait 3, ask 3, wait 6, ask 3, wait 12, ask 3, wait 24, ask 3, wait 30, ask 3, wait 30, ask 3",
      [answered(3, 3), due, ...Array.from({ length: 6 }, () => failing("OFFLINE")).flat()],
    ],
    [
      "continues at its place after a failure, and asks at once when the visitor wants it",
      "ask 0, wait 3, ask 3, wait 3, ask 3, wait 3, ask 3",
      [answered(3, 3), due, refused("INTERNAL"), wanted, answered(3), due],
    ],
    [
      "waits as long as the server says, whatever the visitor does",
      "ask 0, wait 17, Carry on, Carry on, Carry on, Carry on, ask 0",
      [refused("RATE_LIMITED", 17), wanted, seen(false), seen(true), wanted, due],
    ],
    [
      "waits as long as the server says while it is hidden",
      "ask 0, wait 17, Carry on, Rest, ask 0",
      [refused("RATE_LIMITED", 17), seen(false), due, seen(true)],
    ],
    ["never treats a wait as zero", "ask 0, wait 1", [refused("RATE_LIMITED")]],
    [
      "asks again when a message was sent while an answer was in flight",
      "ask 0, Carry on, Carry on, ask 1, wait 3",
      [wanted, wanted, answered(1, 1), answered(2, 2)],
    ],
  ])("%s", (_, steps, events) => {
    assert.strictEqual(told(events), steps)
  })

  it("begins hidden without asking", () => {
    assert.strictEqual(told([seen(true)], begin(false)), "Rest, ask 0")
  })

  it.each<Code>(["UNAUTHORIZED", "NOT_FOUND", "EXPIRED"])("stops for good when the room is over: %s", (code) => {
    const steps = "ask 0, Rest, Carry on, Carry on, Carry on, Carry on"
    assert.strictEqual(told([refused(code), due, wanted, seen(false), seen(true)]), steps)
  })

  it.each<Code>(["INTERNAL", "UNAVAILABLE", "FORBIDDEN"])(
    "continues after a refusal that is not the room's: %s",
    (code) => {
      const steps = "ask 0, wait 3, ask 3, wait 3, ask 3, wait 3"
      assert.strictEqual(told([answered(3, 3), due, ...failing(code), answered(4, 4)]), steps)
    },
  )

  it("vibrates for no history, and for the newest of many new messages alone", () => {
    const first = begin(true).poll
    assert.strictEqual(felt(first, signals(3, 1, 2, 3)), undefined)
    const joined = step(first, answered(3, 1, 2, 3)).poll
    assert.strictEqual(felt(joined, signals(3)), undefined)
    assert.strictEqual(felt(joined, signals(3, 2, 3)), undefined)
    assert.strictEqual(felt(joined, signals(6, 4, 5, 6))?.seq, 6)
    assert.deepStrictEqual(valuesOf(unseen(joined, signals(5, 3, 4, 5)), "seq"), [4, 5])
    const empty = step(first, answered(0)).poll
    assert.strictEqual(felt(empty, signals(1, 1))?.seq, 1)
  })
})

describe("an invite", () => {
  const room = "5f1b7c0e-3d2a-4f6b-8c9d-1e2f3a4b5c6d"
  const token = "q1w2E3r4T5y6U7i8O9p0-A1s2D3f4G5h6J7k8L9z0_x"

  it("is its fragment, complete or damaged", () => {
    assert.deepStrictEqual(readInvite(fragmentOf({ room, token })), { room, token })
    for (const none of ["", "#", "#main"]) assert.strictEqual(readInvite(none), "none")
    for (const broken of [
      `#room=${room}`,
      `#token=${token}`,
      `#room=${room}&token=${token}x`,
      `#room=${room}&token=${token.slice(1)}`,
      `#room=${room.toUpperCase()}&token=${token}`,
      `#room=../..&token=${token}`,
    ]) {
      assert.strictEqual(readInvite(broken), "broken", broken)
    }
  })

  it("is found in a pasted link", () => {
    const fragment = fragmentOf({ room, token })
    for (const link of [`https://example.org/signals/${fragment}`, ` ${fragment} `]) {
      assert.strictEqual(fragmentIn(link), fragment)
    }
    assert.strictEqual(fragmentIn("https://example.org/signals/"), "")
  })
})

describe("the vibration patterns", () => {
  const modes: ReadonlyArray<Mode> = ["calm", "spark", "ping", "celebrate"]
  const pairs = modes.flatMap((one) => modes.map((other) => [one, other] as const))

  it.each(pairs)("of %s and %s flash at most twice in any second", (one, other) => {
    const starts = [
      ...patterns[one].beats.map(({ at }) => at),
      ...patterns[other].beats.map(({ at }) => at + patterns[one].length),
    ]
    for (const start of starts) {
      assert.isAtMost(starts.filter((at) => at >= start && at < start + 1000).length, 2, `from ${start} ms`)
    }
  })

  it("end before the next begins, beat after beat", () => {
    for (const mode of modes) {
      const { beats, length } = patterns[mode]
      const ends = beats.map(({ at, fall, rise }) => at + rise + fall)
      assert.deepStrictEqual(
        beats.flatMap(({ at }, index) => (at < (ends[index - 1] ?? 0) ? [at] : [])),
        [],
        mode,
      )
      assert.isAtMost(ends.at(-1) ?? 0, length, mode)
    }
  })

  it("differ in word and rhythm", () => {
    assert.strictEqual(new Set(modes.map((mode) => patterns[mode].word)).size, modes.length)
    assert.strictEqual(new Set(modes.map((mode) => patterns[mode].rhythm)).size, modes.length)
    assert.strictEqual(new Set(modes.map((mode) => JSON.stringify(patterns[mode].beats))).size, modes.length)
  })
})
