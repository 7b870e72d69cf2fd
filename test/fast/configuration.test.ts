/** A wrong environment is told whole, by name and without a value. Variables without effect cause a warning. */
import { ConfigProvider, Effect, Exit, Redacted, Result } from "effect"
import { oneLine } from "../../src/cli/CommandFailure.ts"
import { fromText, generate } from "../../src/log/Signer.ts"
import { adviceFor } from "../../src/server/config/Advice.ts"
import { production } from "../../src/server/config/Config.ts"
import { assert, describe, effect, it } from "../lab/Suites.ts"

const problems = (env: Record<string, string>) =>
  production.parse(ConfigProvider.fromEnv({ env })).pipe(
    Effect.as<ReadonlyArray<string>>([]),
    Effect.catch((error) => Effect.succeed(error.cause.message.split("\n"))),
  )

const fine = { DATABASE_URL: "postgres://altar:password@db/altar" }

describe("the configuration", () => {
  effect("reports all faults at once, a line for each variable, and quotes no value", function* () {
    const given = {
      DATABASE_URL: "postgres://altar:a-password@db/altar?sslmode=bogus-mode",
      PORT: "seventy",
      PUBLIC_URL: "altar.example.com",
      TRUSTED_PROXIES: "10.0.0.0/8, nowhere",
      RATE_LIMIT_SECRET: "too-short",
      PAY_TO: "0xnobody",
      RPC_URL: "wss-rpc-with-a-token",
      RELAYER_KEY: "0xsecret-key",
      FACILITATOR_URL: "not-a-url",
      WALLET_FACTORIES: "0xfactory",
      SWEEP_SECONDS: "never-ever",
      X402_NETWORK: "eip155:424242",
      CHAIN_FINALITY: "pending-block",
      CARD_PROFILE_ID: "profile-of-mine",
      CARD_CHALLENGE_SECRET: "a-short-one",
      LOG_KEY: "no-such-key",
      LOG_LEVEL: "Loudest",
    }
    const said = yield* problems(given)
    for (const [name, value] of Object.entries(given)) {
      if (name === "CARD_PROFILE_ID") continue
      assert.lengthOf(
        said.filter((line) => line.startsWith(`${name} is wrong: `)),
        1,
        `${name}: ${said.join("\n")}`,
      )
      assert.notInclude(said.join("\n"), value)
    }
    assert.lengthOf(said, Object.keys(given).length - 1)
  })

  effect("requires a database, and the other half of the cards", function* () {
    const [missing, ...others] = yield* problems({})
    assert.match(missing ?? "", /^DATABASE_URL is not set: /u)
    assert.deepStrictEqual(others, [])
    assert.deepStrictEqual(yield* problems(fine), [])
    assert.deepStrictEqual(yield* problems({ ...fine, CARD_PROFILE_ID: "profile" }), [
      "The configuration of cards is incomplete: set CARD_SECRET_KEY and CARD_CHALLENGE_SECRET as well, or none of them.",
    ])
  })

  effect("accepts every sslmode of PostgreSQL, and no other database", function* () {
    for (const mode of ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])
      assert.deepStrictEqual(yield* problems({ DATABASE_URL: `postgres://db/altar?sslmode=${mode}` }), [], mode)
    assert.lengthOf(yield* problems({ DATABASE_URL: "mysql://db/altar" }), 1)
  })
})

describe("advice about the configuration", () => {
  it("names unused variables, and the likely intended name", () => {
    assert.deepStrictEqual(adviceFor({ ...fine, HOSTNAME: "box", HOME: "/root", PATH: "/bin", LOGNAME: "me" }), [])
    assert.deepStrictEqual(
      adviceFor({ RELAYER_KEYS: "0xsecret", DATABSE_URL: "postgres://", SPIRIT_ALTAR_PORTS: "1" }),
      [
        "RELAYER_KEYS is not used. Did you mean RELAYER_KEY?",
        "DATABSE_URL is not used. Did you mean DATABASE_URL?",
        "SPIRIT_ALTAR_PORTS is not used: serve --help lists every variable.",
      ],
    )
    assert.deepStrictEqual(adviceFor({ SPIRIT_ALTAR_URL: "http://altar", RELAYER_KEYS: "" }), [])
  })

  it("names the missing half of a pair", () => {
    assert.deepStrictEqual(
      adviceFor({ CDP_API_KEY_ID: "id", FACILITATOR_URL: "https://f", PAY_TO: "0x", RPC_URL: "u" }),
      ["CDP_API_KEY_ID is set and does nothing: CDP_API_KEY_SECRET is not set."],
    )
    assert.deepStrictEqual(adviceFor({ RELAYER_KEY: "k", PAY_TO: "a" }), [
      "PAY_TO is set and does nothing: RPC_URL is not set.",
    ])
  })

  it("says that a test network's money is worth nothing, and nothing about Base", () => {
    const [says, ...more] = adviceFor({ X402_NETWORK: "eip155:84532" })
    assert.match(says ?? "", /^X402_NETWORK is Base's test network: every act is sold for test money/u)
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(adviceFor({ X402_NETWORK: "eip155:8453" }), [])
  })
})

const key = Redacted.value(Result.getOrThrow(generate("altar.example/log")))

const read = (env: Record<string, string>) =>
  production.parse(
    ConfigProvider.fromEnv({
      env: { DATABASE_URL: "postgres://db/altar", PUBLIC_URL: "https://altar.example", ...env },
    }),
  )

const refusal = (env: Record<string, string>) =>
  Effect.map(Effect.exit(read(env)), (exit) => (Exit.isFailure(exit) ? oneLine(exit.cause) : ""))

describe("the log's configuration", () => {
  effect("is empty without a key, and takes its name from the public URL or from the variable", function* () {
    assert.isUndefined((yield* read({})).log)
    assert.isUndefined((yield* read({ LOG_ORIGIN: "altar.example/log" })).log)
    const { log } = yield* read({ LOG_KEY: key })
    assert.deepStrictEqual([log?.origin, log?.signer.name], ["altar.example/log", "altar.example/log"])
    const moved = yield* read({ LOG_KEY: key, PUBLIC_URL: "https://new.example", LOG_ORIGIN: "altar.example/log" })
    assert.strictEqual(moved.log?.origin, "altar.example/log")
  })

  effect("rejects a key of another name or form, and quotes none", function* () {
    const other = yield* refusal({ LOG_KEY: key, PUBLIC_URL: "https://new.example" })
    assert.match(other, /^LOG_KEY is the key of altar\.example\/log, but this log is new\.example\/log: /u)
    const wrong = yield* refusal({ LOG_KEY: "PRIVATE+KEY+altar.example/log+00000000+secret" })
    assert.match(wrong, /^LOG_KEY is wrong: /u)
    for (const said of [other, wrong]) {
      assert.notInclude(said, "secret")
      assert.notInclude(said, key.slice(-30))
      assert.notInclude(said, "\n")
    }
  })
})

describe("the keys of receipts", () => {
  const text = (name: string) => Redacted.value(Result.getOrThrow(generate(name)))
  const vkey = (privateText: string) => Result.getOrThrow(fromText(Redacted.make(privateText))).vkey
  const [current, old] = [text("receipts-2"), text("receipts-1")]

  effect("are absent, signing, or retired alone", function* () {
    assert.isUndefined((yield* read({})).receipts)
    const both = (yield* read({ RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(old) })).receipts
    assert.deepStrictEqual([both?.current?.name, both?.retired.map(({ name }) => name)], ["receipts-2", ["receipts-1"]])
    assert.isUndefined(both?.offers)
    assert.strictEqual((yield* read({ RECEIPT_KEY: current, OFFER_KEY: old })).receipts?.offers?.name, "receipts-1")
    const stopped = (yield* read({ RECEIPT_KEYS_RETIRED: vkey(old) })).receipts
    assert.deepStrictEqual([stopped?.current, stopped?.retired.length], [undefined, 1])
  })

  effect.each<readonly [what: string, env: Record<string, string>]>([
    ["the key of the log", { RECEIPT_KEY: text("altar.example"), LOG_KEY: "same", LOG_ORIGIN: "altar.example" }],
    ["a public URL with a path", { RECEIPT_KEY: current, PUBLIC_URL: "https://altar.example/here" }],
    ["a public URL without TLS", { RECEIPT_KEY: current, PUBLIC_URL: "http://altar.example" }],
    ["the current key as a retired one", { RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(current) }],
    [
      "a retired key with another id",
      { RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(old).replace(/[0-9a-f]{8}/u, "deadbeef") },
    ],
    ["the key of receipts for offers", { RECEIPT_KEY: current, OFFER_KEY: current }],
    ["a name that is no fragment", { RECEIPT_KEY: text("receipts/2") }],
  ])("reject %s, and quote none", function* ([, env]) {
    const said = yield* refusal(env["LOG_KEY"] === "same" ? { ...env, LOG_KEY: env["RECEIPT_KEY"] ?? "" } : env)
    assert.match(said, /RECEIPT_KEY/u)
    assert.notMatch(said, /PRIVATE\+KEY|[A-Za-z0-9+/]{40}/u)
  })
})
