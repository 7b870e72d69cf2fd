/** Answers of other machines: no redirect is followed, and their length has a limit. */
import { assert, it } from "../lab/It.ts"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Result } from "effect"
import { HttpClient } from "effect/http"
import * as JsonClient from "../../src/http/JsonClient.ts"
import { answerLimit } from "../../src/platform/Answers.ts"
import { serve } from "../lab/proxy/HttpServer.ts"

it.live("a connection to another machine follows no redirect: the redirecting answer is the answer", function* () {
  const asked: Array<string> = []
  const url = yield* serve(async (path) => {
    asked.push(path)
    return { status: 307, body: "", headers: { location: "/elsewhere" } }
  })
  const got = yield* HttpClient.get(`${url}/client`).pipe(Effect.provide(NodeHttpClient.layerUndici))
  const post = yield* JsonClient.make(new URL(`${url}/posting`))
  const posted = yield* Effect.result(post({ text: "{}" }))
  assert.deepStrictEqual([got.status, Result.isSuccess(posted) && posted.success.status], [307, 307])
  assert.deepStrictEqual(asked, ["/client", "/posting"])
})

it.live("an answer is read up to the limit, and not a byte further", function* () {
  const answered = Effect.fnUntraced(function* (size: number) {
    const url = yield* serve(async () => ({ status: 200, body: "{}".padEnd(size) }))
    const ask = yield* JsonClient.make(new URL(url))
    return yield* ask({ text: "{}" })
  })
  assert.strictEqual((yield* answered(answerLimit)).text.length, answerLimit)
  assert.strictEqual((yield* Effect.flip(answered(answerLimit + 1)))._tag, "AnswerTooLarge")
})
