/** An endpoint's refusals before any of our code runs: no database, no limiter, only the contract and its refusals. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"
import { ActsGroup } from "../../schema/altar/ActApi.ts"
import { CandlesGroup } from "../../schema/altar/Candle.ts"
import { Acts } from "../../src/altar/Acts.ts"
import { Candles } from "../../src/altar/candles/Candles.ts"
import { CandleWall } from "../../src/altar/candles/CandleWall.ts"
import * as AltarHttp from "../../src/altar/Http.ts"
import * as Requests from "../../src/altar/Requests.ts"
import { UrlCache } from "../../src/http/UrlCache.ts"
import { ClientAddress } from "../../src/limits/ClientAddress.ts"
import { RateLimiter } from "../../src/limits/RateLimiter.ts"
import { WitnessBody } from "../../schema/altar/Witness.ts"
import { MessageBody } from "../../schema/room/Message.ts"
import { RoomBody } from "../../schema/room/Room.ts"
import { issuesOf } from "../../src/platform/Issues.ts"
import { malformed } from "../../src/room/Requests.ts"

const api = HttpApi.make("spirit-altar").add(ActsGroup, CandlesGroup)

const unreached = Layer.mergeAll(
  Layer.mock(Acts, {}),
  // Acts on sale belong to the paid routes, which are not here.
  Layer.mock(Candles, { acts: {} as never }),
  Layer.mock(CandleWall, {}),
  Layer.mock(ClientAddress, { of: () => "somebody" }),
  Layer.mock(RateLimiter, {
    take: () => Effect.succeed([]),
  }),
  UrlCache.layer,
)

const served = Effect.acquireRelease(
  Effect.sync(() =>
    HttpRouter.toWebHandler(
      HttpApiBuilder.layer(api).pipe(
        Layer.provide([AltarHttp.acts, AltarHttp.candles]),
        Layer.provide([Requests.layer, unreached]),
        Layer.provide(HttpServer.layerServices),
      ),
      { disableLogger: true },
    ),
  ),
  ({ dispose }) => Effect.promise(dispose),
)

const send = Effect.fnUntraced(function* (path: string, init?: RequestInit) {
  const { handler } = yield* served
  const response = yield* Effect.promise(() => handler(new Request(`http://altar.example${path}`, init)))
  return { status: response.status, text: yield* Effect.promise(() => response.text()) }
}, Effect.scoped)

interface Answer {
  readonly status: number
  readonly code: string
  readonly at: ReadonlyArray<string>
}

const bad = (...at: ReadonlyArray<string>): Answer => ({ status: 400, code: "bad_request", at })
const missing = (code: string): Answer => ({ status: 404, code, at: [] })
const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
const unseal = `/api/candles/${id}/unseal`
const salt = "0123456789abcdef"

const body = (text: string): RequestInit => ({
  method: "POST",
  body: text,
  headers: { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) },
})
const json = (value: unknown) => body(JSON.stringify(value))

const rows: ReadonlyArray<readonly [what: string, path: string, init: RequestInit | undefined, answer: Answer]> = [
  ["an act's id that is none", "/api/acts/one", undefined, missing("act_not_found")],
  ["a limit that only JavaScript calls a whole number", "/api/acts?limit=1e1", undefined, bad("limit")],
  ["a parameter twice", "/api/acts?limit=1&limit=2", undefined, bad("limit")],
  [
    "two wrong parameters, which are both named",
    "/api/candles?spirit=nobody&limit=a",
    undefined,
    bad("spirit", "limit"),
  ],
  ["parameters where the path takes none", `/api/acts/${id}?x=1&y=2`, undefined, bad("x", "y")],
  ["a body that is no JSON", unseal, body("{"), bad("")],
  ["a body without its members", unseal, json({}), bad("salt", "words")],
  ["a member of another type", unseal, json({ salt, words: 1 }), bad("words")],
  ["a member that is not in the contract", unseal, json({ salt, words: "words", more: 1 }), bad("more")],
]

it.effect.each(rows)("a request with %s is refused before any service is asked", function* ([, path, init, answer]) {
  const { status, text } = yield* send(path, init)
  const { code, issues = [], ok } = JSON.parse(text)
  const at = issues.map((issue: { readonly path: string }) => issue.path)
  assert.deepStrictEqual({ ok, status, code, at }, { ok: false, ...answer })
})

const strict = { onExcessProperty: "error", errors: "all" } as const

it.effect("a refusal names each member and what it must be, never a type of ours", function* () {
  const cases: ReadonlyArray<readonly [Schema.Decoder<unknown>, unknown, RegExp]> = [
    [RoomBody, [], /^The body must be a JSON object\. /u],
    [RoomBody, { name: 1 }, /^name: Must be a string\. /u],
    [RoomBody, { name: "" }, /^name: Must be a string with at least 1 code points\. /u],
    [RoomBody, { colour: 1 }, /^colour: Must be left out/u],
    [MessageBody, {}, /^sender: Must be present; text: Must be present; mode: Must be present\. /u],
    [
      MessageBody,
      { sender: "a", text: "b", mode: "loud" },
      /^mode: Must be "calm" or "spark" or "ping" or "celebrate"\. /u,
    ],
    [WitnessBody, { commitment: "0".repeat(64), spirit: "cat" }, /^spirit: Must be one of the 24 values/u],
    [WitnessBody, { commitment: "A".repeat(64) }, /^commitment: Must be a string matching the RegExp /u],
    [WitnessBody, { agentName: null }, /^commitment: Must be present; agentName: Must be /u],
    [WitnessBody, { commitment: "0".repeat(64), kind: "wish" }, /^kind: Must be /u],
  ]
  for (const [schema, body, says] of cases) {
    const { message } = malformed(issuesOf(yield* Effect.flip(Schema.decodeUnknownEffect(schema, strict)(body)))).error
    assert.match(message, says)
    assert.notMatch(message, /\.\.|Expected|Room|Sender|SignalText|Commitment/u)
  }
  assert.notMatch(malformed([{ path: "", message: "The body must be valid JSON." }]).error.message, /\.\./u)
})

it.effect("a refusal never repeats words from the request", function* () {
  const secret = "the words nobody may see".repeat(300)
  for (const init of [json({ salt, words: secret }), json({ salt: secret, words: 1 }), body(`{"words":"${secret}`)]) {
    const { status, text } = yield* send(unseal, init)
    assert.strictEqual(status, 400)
    assert.notInclude(text, "nobody may see")
  }
})

describe("the message about a wrong body", () => {
  it.effect.each(["\u0000", "\u001b[2J", "a\nb", "\u009b", "\ud800", "x".repeat(5000)])(
    "contains nothing that would steer a terminal: %j",
    (name) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Schema.decodeUnknownEffect(RoomBody, strict)({ [name]: 1 }))
        const [issue] = issuesOf(error)
        for (const text of [issue?.path, issue?.message, malformed(issuesOf(error)).error.message]) {
          assert.match(text ?? "\n", /^[^\p{Cc}\p{Cs}]*$/u)
          assert.isAtMost(text?.length ?? 0, 502)
        }
      }),
  )
})

it.effect("cuts no path inside a character", function* () {
  const name = `${"a".repeat(199)}🪨`
  const [issue] = issuesOf(yield* Effect.flip(Schema.decodeUnknownEffect(RoomBody, strict)({ [name]: 1 })))
  assert.strictEqual(issue?.path, `${"a".repeat(199)}\ufffd`)
})

it.effect("names twenty issues of a thousand, each with a short path and sentence", function* () {
  const body = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`${index}${"x".repeat(1_000)}`, 1]))
  const issues = issuesOf(yield* Effect.flip(Schema.decodeUnknownEffect(RoomBody, strict)(body)))
  assert.lengthOf(issues, 20)
  for (const { message, path } of issues) {
    assert.isAtMost(message.length, 300)
    assert.isAtMost(path.length, 200)
  }
})
