/** The files that may call other machines: no other source opens a connection, none follows a redirect, and answers have a limit. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect, Result } from "effect"
import { HttpClient } from "effect/http"
import * as JsonClient from "../../src/http/JsonClient.ts"
import { answerLimit } from "../../src/platform/Answers.ts"
import { serve } from "../lab/proxy/HttpServer.ts"
import { filesIn, textOf } from "../lab/Sources.ts"
import { assert, describe, it, live } from "../lab/Suites.ts"

/** The calls that open a connection; in a page the policy of its content holds whom it may ask. */
const opens =
  /\bfetch\(|\?\? fetch\b|= fetch\b|\bFetchHttpClient\.layer\b|\bNodeHttpClient\.\w+|\bhttp\((?=[\w.(]*[rR]pcUrl)|\bwebSocket\(|\bnew WebSocket\b|\bEventSource\(|from "(?:undici|node:(?:https|tls|dgram|dns|http2))"|\bPgClient\.\w*layer|\b(?:connect|createConnection|request)\b[^;\n]*from "node:/u

/** The address is one of the configuration, of a flag, or the altar that a buyer was told to use. */
const mayAsk: Readonly<Record<string, string>> = {
  "src/http/JsonClient.ts": "the node, the facilitator",
  "src/platform/Sql.ts": "the database",
  "src/payments/card/Cards.ts": "the card processor",
  "src/log/Log.ts": "witnesses of the log",
  "src/telemetry/Telemetry.ts": "the collector of metrics and traces",
  "src/cli/operator/CheckChain.ts": "the node, before a start",
  "src/cli/buyer/AltarFetch.ts": "the altar of a command",
  "src/cli/verify/Download.ts": "the altar and the node of `verify`",
  "src/cli/buyer/Faucet.ts": "the altar of `buy`",
  "src/buyer/Buyer.ts": "the altar of a buyer",
  "src/buyer/Client.ts": "the altar of a buyer",
  "src/sandbox/Explorer.ts": "the chain that the sandbox started",
  "src/buyer/receipt/ContractSigned.ts": "the node of `verify --receipt`, of `receipts authorize` and of a server",
  "src/sandbox/LocalChain.ts": "the chain that the sandbox started",
}

const sources = filesIn(["schema", "src", "migrations"], /\.(?:ts|js)$/u).filter((file) => !file.startsWith("src/web/"))

/** Without comments, and without the text of programs that documents show. */
const codeOf = (file: string) =>
  textOf(file)
    .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gmu, "")
    .replaceAll(/^.*\bawait fetch\("\$\{publicUrl\}.*$/gmu, "")

describe("a connection to another machine", () => {
  it("is opened by the listed files alone", () => {
    assert.deepStrictEqual(sources.filter((file) => opens.test(codeOf(file))).sort(), Object.keys(mayAsk).sort())
  })

  it("is opened with redirects switched off", () => {
    // Each call of these, up to its end; undici's own requests follow none.
    const calls = sources
      .filter((file) => !file.startsWith("src/sandbox/"))
      .flatMap((file) => [
        ...codeOf(file).matchAll(
          /\b(?:fetch\((?!\w+\)\.then)|send\(`|FetchHttpClient\.layer\.pipe\(|http\((?=[\w.(]*[rR]pcUrl))[\s\S]*?(?=\n\n|\.then\()/gu,
        ),
      ])
    const careless = calls.filter(([call]) => !/redirect: "error"/u.test(call)).map(([call]) => call)
    assert.deepStrictEqual(careless, [])
    assert.isAbove(calls.length, 4)
  })

  live("follows no redirect: the redirecting answer is the answer", function* () {
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
})

live("an answer is read up to the limit, and not a byte further", function* () {
  const answered = Effect.fnUntraced(function* (size: number) {
    const url = yield* serve(async () => ({ status: 200, body: "{}".padEnd(size) }))
    const ask = yield* JsonClient.make(new URL(url))
    return yield* ask({ text: "{}" })
  })
  assert.strictEqual((yield* answered(answerLimit)).text.length, answerLimit)
  assert.strictEqual((yield* Effect.flip(answered(answerLimit + 1)))._tag, "AnswerTooLarge")
})
