/** Sealed words that their owner opens, at the server of the test. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { ask, post, TestServer } from "../Fixture.ts"

export const salt = "5c1fd1e6a0bb4e7f9c2d"

const open = Effect.fnUntraced(function* (path: string, body: object) {
  const { url } = yield* TestServer
  const answer = yield* ask(`${url}${path}`, post({ salt, ...body }))
  assert.strictEqual(answer.status, 201, answer.text)
  return answer
})

/** The words are sealed with the salt above, unless another one is named. */
export const reveal = (stone: string, text: string, more?: object) =>
  open(`/api/witness/${stone}/reveal`, { text, ...more })
export const unseal = (candle: string, words: string, more?: object) =>
  open(`/api/candles/${candle}/unseal`, { words, ...more })
