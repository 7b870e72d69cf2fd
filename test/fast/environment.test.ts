/** `.env.example` names every variable that is read, and its defaults are the ones a server has. */
import { type Config, ConfigProvider, Effect, Option, Redacted, Result } from "effect"
import { documents } from "../../src/build/variables.ts"
import { listen, production } from "../../src/server/config/Config.ts"
import { buyer, refunds, rehearsing, serving } from "../../src/server/config/Table.ts"
import { telemetry } from "../../src/server/config/Telemetry.ts"
import { textOf as text } from "../lab/Sources.ts"
import { assert, assertEach, describe, effect, it } from "../lab/Suites.ts"

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

describe(".env.example", () => {
  effect("names every variable of help and configuration, and no other", function* () {
    const helped = serving.map(({ name }) => name)
    assert.deepStrictEqual(sorted(yield* askedBy(production, telemetry)), sorted(helped))
    const named = example.map(({ name }) => name)
    const buyers = [...Object.values(buyer), ...Object.values(refunds)].map(({ name }) => name)
    assert.deepStrictEqual(sorted(named), sorted([...helped, "DATA_DIR", ...buyers]))
    assert.strictEqual(new Set(named).size, named.length, "a name stands there once")
  })

  it("equals the output of `npm run variables`, and so does the table of the operator's guide", () => {
    for (const [file, written] of documents()) assert.strictEqual(text(file), written, file)
  })

  effect("begins with the five variables that suffice to sell", function* () {
    const values: Readonly<Record<string, string>> = {
      DATABASE_URL: "postgres://altar@127.0.0.1/altar",
      PUBLIC_URL: "https://altar.example",
      PAY_TO: `0x${"1".repeat(40)}`,
      RPC_URL: "https://rpc.example",
      RELAYER_KEY: `0x${"2".repeat(64)}`,
    }
    assertEach(
      example.filter(({ isDefault }) => !isDefault),
      ({ name }) => name,
      Object.keys(values),
    )
    const { payments } = yield* production.parse(ConfigProvider.fromEnv({ env: { ...values } }))
    assert.property(payments, "terms", "nothing is missing")
    for (const name of Object.keys(values)) {
      const { [name]: _, ...rest } = values
      const without = yield* Effect.result(production.parse(ConfigProvider.fromEnv({ env: rest })))
      // The public URL alone has a default, which no one but this machine can reach.
      const sells = Result.isSuccess(without) && "terms" in without.success.payments
      assert.strictEqual(sells, name === "PUBLIC_URL", name)
    }
  })

  effect("lists in the sandbox's help each variable of a sandbox, and no other", function* () {
    // Database, data folder and the log's pace are named where it is put together.
    const read = [...(yield* askedBy(listen, telemetry)), "DATABASE_URL", "DATA_DIR", "LOG_PUBLISH_SECONDS"]
    assert.deepStrictEqual(sorted(rehearsing.map(({ name }) => name)), sorted(read))
  })

  effect("marks secrets that are read as such, and that the NixOS module keeps out of its store", function* () {
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
    assert.isAtLeast(marked.length, 10)
    assert.deepStrictEqual(sorted(secrets), sorted(marked))
    const [, listed = ""] = /secrets = \[([^\]]*)\]/u.exec(text("nix/module.nix")) ?? []
    assert.deepStrictEqual(sorted([...listed.matchAll(/"([A-Z_]+)"/gu)].map(([, name = ""]) => name)), sorted(marked))
  })

  effect("shows the defaults", function* () {
    const read = (env: Record<string, string>) => Effect.result(production.parse(ConfigProvider.fromEnv({ env })))
    // Everything that has no default, so that nothing is left out for want of it.
    const needed = {
      DATABASE_URL: example.find(({ name }) => name === "DATABASE_URL")?.value ?? "",
      PAY_TO: `0x${"1".repeat(40)}`,
      RPC_URL: "https://rpc.example",
      RELAYER_KEY: `0x${"2".repeat(64)}`,
      CARD_PROFILE_ID: "profile",
      CARD_SECRET_KEY: "secret",
      CARD_CHALLENGE_SECRET: "3".repeat(32),
    }
    const shown = Object.fromEntries(
      example.filter(({ isDefault, value }) => isDefault && value !== "").map(({ name, value }) => [name, value]),
    )
    const told = (env: Record<string, string>) => telemetry.parse(ConfigProvider.fromEnv({ env }))
    // Headers are secret, and compared by what they hold.
    const plain = ({ otlp, ...rest }: Effect.Success<ReturnType<typeof told>>) => ({
      ...rest,
      isOn: otlp !== undefined,
    })
    assert.deepStrictEqual(plain(yield* told(shown)), plain(yield* told({})))
    const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example:4318/" }
    const [one, other] = [yield* told({ ...shown, ...collector }), yield* told(collector)]
    assert.deepStrictEqual({ ...one.otlp, headers: null }, { ...other.otlp, headers: null })
    assert.strictEqual(one.otlp?.traces, "http://collector.example:4318/v1/traces")
    const bare = yield* read(needed)
    assert.isTrue(Result.isSuccess(bare))
    assert.deepStrictEqual(yield* read({ ...needed, ...shown }), bare)
  })
})
