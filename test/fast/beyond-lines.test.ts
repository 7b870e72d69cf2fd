/** A log that nobody reads takes 4 MB and no more; once it is read again it says how many lines are missing. */
import { assert, it } from "@effect/vitest"
import * as Lines from "../../src/telemetry/Lines.ts"

it("lines beyond 4 MB that nobody reads are left out and counted", () => {
  const unread: Array<string> = []
  let bytes = 0
  const { say } = Lines.make(
    { format: "json", level: "Info", readsPerLine: 1 },
    {
      write: (text) => {
        unread.push(text)
        bytes += text.length
      },
      waiting: () => bytes,
    },
  )
  const said = 100
  for (let index = 0; index < said; index += 1)
    say(new Date(0), "Info", "request", { index, path: "ab ".repeat(33_000) })
  const written = unread.length
  assert.isBelow(written, said)
  assert.isAtLeast(bytes, 4 * 1_048_576)
  assert.isBelow(bytes, 4 * 1_048_576 + 200_000)
  bytes = 0
  say(new Date(0), "Info", "request", { index: said })
  const told = unread.slice(written).map((text) => JSON.parse(text))
  assert.lengthOf(told, 2)
  assert.deepInclude(told[0], { level: "warn", lines: said - written })
  assert.deepInclude(told[1], { message: "request", index: said })
})
