/** The environment: `.env.example` names every variable and default, and a wrong one is told whole, by name and without a value. */
import { assert, describe, it } from "@effect/vitest"
import { type Config, ConfigProvider, Effect, Exit, Option, Redacted, Result } from "effect"
import { oneLine } from "../../src/cli/CommandFailure.ts"
import { fromText, generate } from "../../src/log/Signer.ts"
import { adviceFor } from "../../src/server/config/Advice.ts"
import { listen, production, telemetry } from "../../src/server/config/Config.ts"
import { example as written, secretNames } from "../../src/build/variables.ts"
import { buyer, rehearsing, serving } from "../../src/server/config/Table.ts"
import { assertEach } from "../lab/Assertions.ts"
import { textOf as text } from "../lab/Sources.ts"

const parse = (env: Record<string, string>) => production.parse(ConfigProvider.fromEnv({ env }))

const problems = (env: Record<string, string>) =>
  parse(env).pipe(
    Effect.as<ReadonlyArray<string>>([]),
    Effect.catch((error) => Effect.succeed(error.cause.message.split("\n"))),
  )

const fine = { DATABASE_URL: "postgres://altar:password@db/altar" }

describe("the configuration", () => {
  it.effect("reports all faults at once, a line for each variable, and quotes no value", () =>
    Effect.gen(function* () {
      const given = {
        DATABASE_URL: "postgres://altar:a-password@db/altar?sslmode=bogus-mode",
        PORT: "seventy",
        PUBLIC_URL: "altar.example.com",
        TRUSTED_PROXIES: "10.0.0.0/8, nowhere",
        PAY_TO: "0xnobody",
        RPC_URL: "wss-rpc-with-a-token",
        RELAYER_KEY: "0xsecret-key",
        FACILITATOR_URL: "not-a-url",
        ROOMS_MAX: "never-ever",
        X402_NETWORK: "eip155:424242",
        LOG_KEY: "no-such-key",
        LOG_LEVEL: "Loudest",
      }
      const said = yield* problems(given)
      for (const [name, value] of Object.entries(given)) {
        assert.lengthOf(
          said.filter((line) => line.startsWith(`${name} is wrong: `)),
          1,
          `${name}: ${said.join("\n")}`,
        )
        assert.notInclude(said.join("\n"), value)
      }
      assert.lengthOf(said, Object.keys(given).length)
    }),
  )

  it.effect("requires a database, and the other half of the cards", () =>
    Effect.gen(function* () {
      const [missing, ...others] = yield* problems({})
      assert.match(missing ?? "", /^DATABASE_URL is not set: /u)
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(yield* problems(fine), [])
      assert.deepStrictEqual(yield* problems({ ...fine, CARD_PROFILE_ID: "profile" }), [
        "The configuration of cards is incomplete: set CARD_SECRET_KEY as well, or none of them.",
      ])
    }),
  )

  it.effect("accepts every sslmode of PostgreSQL, and no other database", () =>
    Effect.gen(function* () {
      for (const mode of ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])
        assert.deepStrictEqual(yield* problems({ DATABASE_URL: `postgres://db/altar?sslmode=${mode}` }), [], mode)
      assert.lengthOf(yield* problems({ DATABASE_URL: "mysql://db/altar" }), 1)
    }),
  )
})

describe("advice about the configuration", () => {
  it("names unused variables that look like ours", () => {
    assert.deepStrictEqual(adviceFor({ ...fine, HOSTNAME: "box", HOME: "/root", PATH: "/bin", LOGNAME: "me" }), [])
    assert.deepStrictEqual(
      adviceFor({ RELAYER_KEYS: "0xsecret", DATABASE_URI: "postgres://", SPIRIT_ALTAR_PORTS: "1" }),
      [
        "RELAYER_KEYS is not used: serve --help lists every variable.",
        "DATABASE_URI is not used: serve --help lists every variable.",
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
  parse({ DATABASE_URL: "postgres://db/altar", PUBLIC_URL: "https://altar.example", ...env })

const refusal = (env: Record<string, string>) =>
  Effect.map(Effect.exit(read(env)), (exit) => (Exit.isFailure(exit) ? oneLine(exit.cause) : ""))

describe("the log's configuration", () => {
  it.effect("is empty without a key, and takes its name from the public URL or from the variable", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* read({})).log)
      assert.isUndefined((yield* read({ LOG_ORIGIN: "altar.example/log" })).log)
      const { log } = yield* read({ LOG_KEY: key })
      assert.deepStrictEqual([log?.origin, log?.signer.name], ["altar.example/log", "altar.example/log"])
      const moved = yield* read({ LOG_KEY: key, PUBLIC_URL: "https://new.example", LOG_ORIGIN: "altar.example/log" })
      assert.strictEqual(moved.log?.origin, "altar.example/log")
    }),
  )

  it.effect("rejects a key of another name or form, and quotes none", () =>
    Effect.gen(function* () {
      const other = yield* refusal({ LOG_KEY: key, PUBLIC_URL: "https://new.example" })
      assert.match(other, /^LOG_KEY is the key of altar\.example\/log, but this log is new\.example\/log: /u)
      const wrong = yield* refusal({ LOG_KEY: "PRIVATE+KEY+altar.example/log+00000000+secret" })
      assert.match(wrong, /^LOG_KEY is wrong: /u)
      for (const said of [other, wrong]) {
        assert.notInclude(said, "secret")
        assert.notInclude(said, key.slice(-30))
        assert.notInclude(said, "\n")
      }
    }),
  )
})

describe("the keys of receipts", () => {
  const text = (name: string) => Redacted.value(Result.getOrThrow(generate(name)))
  const vkey = (privateText: string) => Result.getOrThrow(fromText(Redacted.make(privateText))).vkey
  const [current, old, shared] = [text("receipts-2"), text("receipts-1"), text("altar.example")]

  it.effect("are absent, signing, or retired alone", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* read({})).receipts)
      const both = (yield* read({ RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(old) })).receipts
      assert.deepStrictEqual(
        [both?.current?.name, both?.retired.map(({ name }) => name)],
        ["receipts-2", ["receipts-1"]],
      )
      const stopped = (yield* read({ RECEIPT_KEYS_RETIRED: vkey(old) })).receipts
      assert.deepStrictEqual([stopped?.current, stopped?.retired.length], [undefined, 1])
    }),
  )

  it.effect.each<readonly [what: string, env: Record<string, string>]>([
    ["the key of the log", { RECEIPT_KEY: shared, LOG_KEY: shared, LOG_ORIGIN: "altar.example" }],
    ["a public URL with a path", { RECEIPT_KEY: current, PUBLIC_URL: "https://altar.example/here" }],
    ["a public URL without TLS", { RECEIPT_KEY: current, PUBLIC_URL: "http://altar.example" }],
    ["the current key as a retired one", { RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(current) }],
    [
      "a retired key with another id",
      { RECEIPT_KEY: current, RECEIPT_KEYS_RETIRED: vkey(old).replace(/[0-9a-f]{8}/u, "deadbeef") },
    ],
    ["a name that is no fragment", { RECEIPT_KEY: text("receipts/2") }],
  ])("reject %s, and quote none", ([, env]) =>
    Effect.gen(function* () {
      const said = yield* refusal(env)
      assert.match(said, /RECEIPT_KEY/u)
      assert.notMatch(said, /PRIVATE\+KEY|[A-Za-z0-9+/]{40}/u)
    }),
  )
})

const example = [...text(".env.example").matchAll(/^(# )?([A-Z][A-Z0-9_]*)=(.*)$/gmu)].map(
  ([, comment, name = "", value = ""]) => ({ isDefault: comment !== undefined, name, value }),
)

const askedBy = Effect.fnUntraced(function* (...parts: ReadonlyArray<Config.Config<unknown>>) {
  const names = new Set<string>()
  const env = ConfigProvider.fromEnv({ env: { DATABASE_URL: "postgres://db/altar" } })
  const listening = ConfigProvider.make((path) => {
    names.add(path.join("_"))
    return env.load(path)
  })
  for (const part of parts) yield* part.parse(listening)
  return names
})

const sorted = (names: Iterable<string>) => [...new Set(names)].sort()

const paying = {
  PAY_TO: `0x${"1".repeat(40)}`,
  RPC_URL: "https://rpc.example",
  RELAYER_KEY: `0x${"2".repeat(64)}`,
}

describe(".env.example", () => {
  it.effect("names every variable of help and configuration, and no other", () =>
    Effect.gen(function* () {
      const helped = serving.map(({ name }) => name)
      assert.deepStrictEqual(
        sorted(yield* askedBy(production, telemetry("json"))).filter((name) => !name.startsWith("TEST_")),
        sorted(helped),
      )
      const named = example.map(({ name }) => name)
      const buyers = Object.values(buyer).map(({ name }) => name)
      assert.deepStrictEqual(sorted(named), sorted([...helped, "DATA_DIR", "SANDBOX_LIMITS", ...buyers]))
      assert.strictEqual(new Set(named).size, named.length, "a name stands there once")
    }),
  )

  it("equals the output of `npm run variables`", () => {
    assert.strictEqual(text(".env.example"), written)
    assert.strictEqual(text("nix/secrets.json"), secretNames)
  })

  it.effect("begins with the five variables that suffice to sell", () =>
    Effect.gen(function* () {
      const values: Readonly<Record<string, string>> = {
        DATABASE_URL: "postgres://altar@127.0.0.1/altar",
        PUBLIC_URL: "https://altar.example",
        ...paying,
      }
      assertEach(
        example.filter(({ isDefault }) => !isDefault),
        ({ name }) => name,
        Object.keys(values),
      )
      const { payments } = yield* parse(values)
      assert.property(payments, "terms", "nothing is missing")
      for (const name of Object.keys(values)) {
        const { [name]: _, ...rest } = values
        const without = yield* Effect.result(parse(rest))
        // The public URL alone has a default, which no one but this machine can reach.
        const sells = Result.isSuccess(without) && "terms" in without.success.payments
        assert.strictEqual(sells, name === "PUBLIC_URL", name)
      }
    }),
  )

  it.effect("lists in the sandbox's help each variable of a sandbox, and no other", () =>
    Effect.gen(function* () {
      // Database and data folder are named where it is put together.
      const read = [...(yield* askedBy(listen, telemetry("json"))), "DATABASE_URL", "DATA_DIR", "SANDBOX_LIMITS"]
      assert.deepStrictEqual(sorted(rehearsing.map(({ name }) => name)), sorted(read))
    }),
  )

  it.effect("marks secrets that are read as such, and that the NixOS module keeps out of its store", () =>
    Effect.gen(function* () {
      // One of these is what each variable expects.
      const values = [`0x${"2".repeat(64)}`, "https://some.example", "postgres://db/altar", "3".repeat(32)]
      const secrets: Array<string> = []
      for (const variable of serving) {
        for (const value of values) {
          const read = yield* Effect.option(variable.parse(ConfigProvider.fromEnv({ env: { [variable.name]: value } })))
          if (Option.isSome(read) && Option.isOption(read.value) && Option.exists(read.value, Redacted.isRedacted))
            secrets.push(variable.name)
        }
      }
      const marked = serving.filter(({ isSecret }) => isSecret).map(({ name }) => name)
      assert.isAtLeast(marked.length, 7)
      assert.deepStrictEqual(sorted(secrets), sorted(marked))
      // Effect reads the second one, and it often holds a key.
      const kept = sorted([...marked, buyer.privateKey.name, "OTEL_EXPORTER_OTLP_HEADERS"])
      assert.deepStrictEqual(JSON.parse(text("nix/secrets.json")), kept)
    }),
  )

  it.effect("shows the defaults", () =>
    Effect.gen(function* () {
      // Everything that has no default, so that nothing is left out for want of it.
      const needed = {
        DATABASE_URL: example.find(({ name }) => name === "DATABASE_URL")?.value ?? "",
        ...paying,
        CARD_PROFILE_ID: "profile",
        CARD_SECRET_KEY: "secret",
      }
      const shown = Object.fromEntries(
        example.filter(({ isDefault, value }) => isDefault && value !== "").map(({ name, value }) => [name, value]),
      )
      const told = (env: Record<string, string>) => telemetry("json").parse(ConfigProvider.fromEnv({ env }))
      assert.deepStrictEqual(yield* told(shown), yield* told({}))
      assert.deepStrictEqual(yield* parse({ ...needed, ...shown }), yield* parse(needed))
    }),
  )
})
