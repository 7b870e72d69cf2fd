/** `.env.example`, the help of `serve` and the NixOS module name every variable, with its default and whether it is a secret. */
import { assert, describe, it } from "../lab/It.ts"
import { type Config, ConfigProvider, Effect, Option, Redacted, Result } from "effect"
import { example as written, secretNames } from "../../src/build/variables.ts"
import { listen, production, telemetry } from "../../src/server/config/Config.ts"
import { buyer, rehearsing, renamed, serving } from "../../src/server/config/Table.ts"
import { assertEach } from "../lab/Assertions.ts"
import { needed, parse, paying, provider } from "../lab/Environment.ts"
import { textOf as text } from "../lab/Sources.ts"

const example = [...text(".env.example").matchAll(/^(# )?([A-Z][A-Z0-9_]*)=(.*)$/gmu)].map(
  ([, comment, name = "", value = ""]) => ({ isDefault: comment !== undefined, name, value }),
)

const askedBy = Effect.fnUntraced(function* (...parts: ReadonlyArray<Config.Config<unknown>>) {
  const names = new Set<string>()
  const env = provider(needed)
  const listening = ConfigProvider.make((path) => {
    names.add(path.join("_"))
    return env.load(path)
  })
  for (const part of parts) yield* part.parse(listening)
  return names
})

const sorted = (names: Iterable<string>) => [...new Set(names)].sort()

describe(".env.example", () => {
  it.effect("names every variable of help and configuration, and no other", function* () {
    const helped = serving.map(({ name }) => name)
    assert.deepStrictEqual(
      sorted(yield* askedBy(production, telemetry("json"))).filter((name) => !name.startsWith("TEST_")),
      sorted([...helped, ...Object.keys(renamed)]),
    )
    const named = example.map(({ name }) => name)
    const buyers = Object.values(buyer).map(({ name }) => name)
    assert.deepStrictEqual(sorted(named), sorted([...helped, "DATA_DIR", "SANDBOX_LIMITS", ...buyers]))
    assert.strictEqual(new Set(named).size, named.length, "a name stands there once")
  })

  it("equals the output of `npm run variables`", () => {
    assert.strictEqual(text(".env.example"), written)
    assert.strictEqual(text("nix/secrets.json"), secretNames)
  })

  it.effect("begins with the five variables that suffice to sell", function* () {
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
    assert.nestedPropertyVal(payments, "terms.network", "eip155:8453", "nothing is missing")
    for (const name of Object.keys(values)) {
      const { [name]: _, ...rest } = values
      const without = yield* Effect.result(parse(rest))
      // The public URL alone has a default, which no one but this machine can reach.
      const sells = Result.isSuccess(without) && "terms" in without.success.payments
      assert.strictEqual(sells, name === "PUBLIC_URL", name)
    }
  })

  it.effect("lists in the sandbox's help each variable of a sandbox, and no other", function* () {
    // Database and data folder are named where it is put together.
    const read = [...(yield* askedBy(listen, telemetry("json"))), "DATABASE_URL", "DATA_DIR", "SANDBOX_LIMITS"]
    assert.deepStrictEqual(sorted(rehearsing.map(({ name }) => name)), sorted(read))
  })

  it.effect("marks secrets that are read as such, and that the NixOS module keeps out of its store", function* () {
    // One of these is what each variable expects.
    const values = [
      `0x${"2".repeat(64)}`,
      "https://some.example",
      "postgres://db/altar",
      "3".repeat(32),
      "A".repeat(86) + "==",
    ]
    const secrets: Array<string> = []
    for (const variable of serving) {
      for (const value of values) {
        const read = yield* Effect.option(variable.parse(provider({ [variable.name]: value })))
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
  })

  it.effect("shows the defaults", function* () {
    // Everything that has no default, so that nothing is left out for want of it.
    const given = { ...needed, ...paying, CARD_PROFILE_ID: "profile", CARD_SECRET_KEY: "secret" }
    const shown = Object.fromEntries(
      example.filter(({ isDefault, value }) => isDefault && value !== "").map(({ name, value }) => [name, value]),
    )
    const told = (env: Record<string, string>) => telemetry("json").parse(provider(env))
    assert.deepStrictEqual(yield* told(shown), yield* told({}))
    assert.deepStrictEqual(yield* parse({ ...given, ...shown }), yield* parse(given))
  })
})
