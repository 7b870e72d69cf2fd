/** The keys of the log and of receipts: which a server takes, and that no refusal quotes one. */
import { assert, describe, it } from "../lab/It.ts"
import { Effect, Redacted, Result } from "effect"
import { fromText, generate } from "../../src/log/Signer.ts"
import { parse, problems } from "../lab/Environment.ts"

const key = Redacted.value(Result.getOrThrow(generate("altar.example/log")))

const altar = { DATABASE_URL: "postgres://db/altar", PUBLIC_URL: "https://altar.example" }

const configured = (env: Record<string, string>) => parse({ ...altar, ...env })

/** The one line of a refusal. */
const refusal = Effect.fnUntraced(function* (env: Record<string, string>) {
  const [line = "", ...others] = yield* problems({ ...altar, ...env })
  assert.deepStrictEqual(others, [])
  return line
})

describe("the log's configuration", () => {
  it.effect("is empty without a key, and takes its name from the public URL or from the variable", function* () {
    assert.isUndefined((yield* configured({})).log)
    assert.isUndefined((yield* configured({ LOG_ORIGIN: "altar.example/log" })).log)
    const { log } = yield* configured({ LOG_KEY: key })
    assert.deepStrictEqual([log?.origin, log?.signer.name], ["altar.example/log", "altar.example/log"])
    const moved = yield* configured({
      LOG_KEY: key,
      PUBLIC_URL: "https://new.example",
      LOG_ORIGIN: "altar.example/log",
    })
    assert.strictEqual(moved.log?.origin, "altar.example/log")
  })

  it.effect("rejects a key of another name or form, and quotes none", function* () {
    const other = yield* refusal({ LOG_KEY: key, PUBLIC_URL: "https://new.example" })
    assert.match(other, /^LOG_KEY is the key of altar\.example\/log, but this log is new\.example\/log: /u)
    const wrong = yield* refusal({ LOG_KEY: "PRIVATE+KEY+altar.example/log+00000000+secret" })
    assert.match(wrong, /^LOG_KEY is wrong: /u)
    for (const line of [other, wrong]) for (const secret of ["secret", key.slice(-30)]) assert.notInclude(line, secret)
  })
})

describe("the keys of receipts", () => {
  const text = (name: string) => Redacted.value(Result.getOrThrow(generate(name)))
  const vkey = (privateText: string) => Result.getOrThrow(fromText(Redacted.make(privateText))).vkey
  const [current, old, shared] = [text("receipts-2"), text("receipts-1"), text("altar.example")]

  it.effect("are absent, signing, or retired alone", function* () {
    assert.isUndefined((yield* configured({})).receipts)
    const both = (yield* configured({ RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(old) })).receipts
    assert.deepStrictEqual([both?.current?.name, both?.retired.map(({ name }) => name)], ["receipts-2", ["receipts-1"]])
    const stopped = (yield* configured({ RECEIPT_KEYS_RETIRED: vkey(old) })).receipts
    assert.deepStrictEqual([stopped?.current, stopped?.retired.length], [undefined, 1])
  })

  it.effect.each<readonly [what: string, env: Record<string, string>]>([
    ["the key of the log", { RECEIPT_KEY: shared, LOG_KEY: shared, LOG_ORIGIN: "altar.example" }],
    ["a public URL without TLS", { RECEIPT_KEY: current, PUBLIC_URL: "http://altar.example" }],
    ["the current key as a retired one", { RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(current) }],
    [
      "a retired key with another id",
      { RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(old).replace(/[0-9a-f]{8}/u, "deadbeef") },
    ],
    ["a name that is no fragment", { RECEIPT_KEY: text("receipts/2") }],
  ])("reject %s, and quote none", function* ([, env]) {
    const line = yield* refusal(env)
    assert.match(line, /RECEIPT_KEY/u)
    assert.notMatch(line, /PRIVATE\+KEY|[A-Za-z0-9+/]{40}/u)
  })
})
