/** Polling a room: three seconds while seen, silence while hidden, on from the last sequence, history is not news. */
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import type { Answer, Mode, Problem, Signals } from "../../src/web/signals/api.ts"
import { fragmentOf, readInvite } from "../../src/web/signals/invite.ts"
import { patterns } from "../../src/web/signals/patterns.ts"
import { follow } from "../../src/web/signals/poll.ts"

type Code = Problem["code"]

/** A followed room: the test answers its requests and lets its time pass. */
const followed = (begins: "visible" | "hidden" = "visible") => {
  const told: Array<string> = []
  let isVisible = begins === "visible"
  let answer = (_: Answer<Signals>) => {}
  const loop = follow({
    isVisible: () => isVisible,
    read: (after) => {
      told.push(`ask ${after}`)
      return new Promise((resolve) => (answer = resolve))
    },
    answered: (_, unseen, isHistory) =>
      unseen.length > 0 && told.push(`${isHistory ? "history" : "news"} ${unseen.map(({ seq }) => seq).join(" ")}`),
    failed: (_, seconds) => told.push(seconds === undefined ? "failed" : `failed, wait ${seconds}`),
    over: ({ code }) => told.push(code),
    resting: () => told.push("rest"),
  })
  const settle = () => vi.advanceTimersByTimeAsync(0)
  return {
    told,
    answered: (latest: number, ...sequences: ReadonlyArray<number>) => {
      const message = { id: "", sender: "Wren", senderKind: "agent", text: "x", mode: "ping", createdAt: "" } as const
      const room = { id: "", name: "", createdAt: "", expiresAt: "", latestSequence: latest }
      const messages = sequences.map((seq) => ({ ...message, seq }))
      answer({ ok: true, value: { room, messages, truncated: false, serverTime: "" } })
      return settle()
    },
    refused: (code: Code, retryAfter = 0) => {
      answer({ ok: false, problem: { code, message: "", retryAfter } })
      return settle()
    },
    /** The next request comes after these seconds, and no millisecond earlier. */
    waits: async (seconds: number) => {
      const before = told.length
      await vi.advanceTimersByTimeAsync(seconds * 1000 - 1)
      assert.lengthOf(told, before)
      await vi.advanceTimersByTimeAsync(1)
      assert.lengthOf(told, before + 1)
    },
    idles: async () => {
      const before = told.length
      await vi.advanceTimersByTimeAsync(600_000)
      assert.lengthOf(told, before)
    },
    seen: (visible: boolean) => {
      isVisible = visible
      loop.seen()
      return settle()
    },
    wanted: loop.wanted,
    leave: loop.leave,
  }
}

describe("polling a room", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("asks at once, then every three seconds from the last sequence seen", async () => {
    const { answered, told, waits } = followed()
    await answered(7, 5, 6, 7)
    await waits(3)
    await answered(7)
    await waits(3)
    await answered(9, 7, 8, 9)
    await waits(3)
    assert.deepStrictEqual(told, ["ask 0", "history 5 6 7", "ask 7", "ask 7", "news 8 9", "ask 9"])
  })

  it("takes the first message of an empty room for news", async () => {
    const { answered, told, waits } = followed()
    await answered(0)
    await waits(3)
    await answered(1, 1)
    assert.deepStrictEqual(told, ["ask 0", "ask 0", "news 1"])
  })

  it("rests while hidden and asks at once when it is visible again", async () => {
    const { answered, idles, seen, told } = followed("hidden")
    await idles()
    await seen(true)
    await answered(1, 1)
    await seen(false)
    await seen(false)
    await idles()
    await seen(true)
    assert.deepStrictEqual(told, ["rest", "ask 0", "history 1", "rest", "ask 1"])
  })

  it("rests after an answer, or silence, that comes while it is hidden", async () => {
    const { answered, idles, refused, seen, told } = followed()
    await seen(false)
    await refused("OFFLINE")
    await idles()
    await seen(true)
    await seen(false)
    await answered(4, 4)
    await idles()
    await seen(true)
    assert.deepStrictEqual(told, ["ask 0", "failed", "rest", "ask 0", "history 4", "rest", "ask 4"])
  })

  it.each<Code>(["OFFLINE", "INTERNAL", "UNAVAILABLE", "FORBIDDEN"])(
    "doubles its delay up to half a minute after %s, and continues at its place",
    async (code) => {
      const { answered, refused, told, waits } = followed()
      await answered(3, 3)
      await waits(3)
      for (const seconds of [3, 6, 12, 24, 30, 30]) {
        await refused(code)
        assert.strictEqual(told.at(-1), `failed, wait ${seconds}`)
        await waits(seconds)
        assert.strictEqual(told.at(-1), "ask 3")
      }
      await answered(3)
      await waits(3)
    },
  )

  it("asks at once when the visitor wants it", async () => {
    const { refused, told, wanted } = followed()
    await refused("INTERNAL")
    wanted()
    assert.deepStrictEqual(told, ["ask 0", "failed, wait 3", "ask 0"])
  })

  it.each([
    ["in view", true],
    ["hidden", false],
  ])("waits as long as the server says, whatever the visitor does, %s", async (_, isSeen) => {
    const { refused, seen, told, waits, wanted } = followed()
    await refused("RATE_LIMITED", 17)
    wanted()
    await seen(false)
    await seen(isSeen)
    wanted()
    await waits(17)
    assert.deepStrictEqual(told, ["ask 0", "failed, wait 17", isSeen ? "ask 0" : "rest"])
  })

  it("never treats a wait as zero", async () => {
    const { refused, told, waits } = followed()
    await refused("RATE_LIMITED")
    await waits(1)
    assert.deepStrictEqual(told, ["ask 0", "failed, wait 1", "ask 0"])
  })

  it("asks again when a message was sent while an answer was in flight", async () => {
    const { answered, told, waits, wanted } = followed()
    wanted()
    wanted()
    await answered(1, 1)
    await answered(2, 2)
    await waits(3)
    assert.deepStrictEqual(told, ["ask 0", "history 1", "ask 1", "news 2", "ask 2"])
  })

  it.each<Code>(["UNAUTHORIZED", "NOT_FOUND", "EXPIRED"])("stops for good when the room is over: %s", async (code) => {
    const { idles, refused, seen, told, wanted } = followed()
    await refused(code)
    wanted()
    await seen(false)
    await seen(true)
    await idles()
    assert.deepStrictEqual(told, ["ask 0", code])
  })

  it("says nothing of a room that was left", async () => {
    const { answered, idles, leave, told } = followed()
    leave()
    await answered(1, 1)
    await idles()
    assert.deepStrictEqual(told, ["ask 0"])
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
})

describe("the patterns", () => {
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
