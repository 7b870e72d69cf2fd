/** An answer of a facilitator or node is read up to a megabyte: more is no answer. */
import { Effect } from "effect"
import * as JsonClient from "../../src/http/JsonClient.ts"
import { answerLimit } from "../../src/platform/Answers.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { assert, live } from "../lab/Suites.ts"

live("an answer is read up to the limit, and not a byte further", function* () {
  const answered = Effect.fnUntraced(function* (size: number) {
    const url = yield* serve(async () => ({ status: 200, body: "{}".padEnd(size) }))
    const ask = yield* JsonClient.make(new URL(url))
    return yield* ask({ text: "{}" })
  })
  assert.strictEqual((yield* answered(answerLimit)).text.length, answerLimit)
  assert.strictEqual((yield* Effect.flip(answered(answerLimit + 1)))._tag, "AnswerTooLarge")
})
