/** The environment: `.env.example` names every variable and default, and a wrong one is told whole, by name and without a value. */
import { generateKeyPairSync } from "node:crypto"
import { readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { type Config, ConfigProvider, Effect, Exit, Option, Redacted, Result } from "effect"
import { usdc } from "../../schema/payments/Usdc.ts"
import { oneLine } from "../../src/cli/CommandFailure.ts"
import { fromText, generate } from "../../src/log/Signer.ts"
import { adviceFor, overriddenIn } from "../../src/server/config/Advice.ts"
import { listen, production, telemetry } from "../../src/server/config/Config.ts"
import { example as written, secretNames } from "../../src/build/variables.ts"
import { buyer, rehearsing, sandbox, serving } from "../../src/server/config/Table.ts"
import { assertEach } from "../lab/Assertions.ts"
import { newFolder } from "../lab/Folders.ts"
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
      const { host, port, rooms, trustedProxies } = yield* parse({ ...fine, ROOMS_MAX: "7" })
      assert.deepStrictEqual([host, port, rooms?.rooms, trustedProxies], ["127.0.0.1", 3000, 7, []])
      assert.strictEqual(yield* sandbox.dataDir.parse(ConfigProvider.fromEnv({ env: {} })), ".data")
      assert.deepStrictEqual(yield* problems({ ...fine, CARD_PROFILE_ID: "profile" }), [
        "The configuration of cards is incomplete: set CARD_SECRET_KEY as well, or none of them.",
      ])
    }),
  )

  const [folder, readOnly] = [newFolder(), newFolder()]
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const pem = generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ format: "pem", type: "sec1" })
    .toString()
  const otherPem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" }).toString()
  const bytes = Buffer.alloc(64, 7).toString("base64")
  const checksummed = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
  const order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
  symlinkSync(folder, join(readOnly, "folder"))
  const everySecret = serving.filter(({ isSecret }) => isSecret).map(({ name }) => name)
  const everyFile = ["TERMS_FILE", "PRIVACY_FILE", "LOG_WITNESSES", "LOG_CHECKPOINT_FILE"]
  const everyUrl = ["PUBLIC_URL", "RPC_URL", "FACILITATOR_URL", "DATABASE_URL"]
  const plainSecrets = {
    RELAYER_KEY: `0x${"2".repeat(64)}`,
    CARD_SECRET_KEY: "sk_live_1",
    RPC_URL: "https://rpc.example",
  }

  it.effect.each<readonly [name: string, ...values: ReadonlyArray<string>]>([
    ["PAY_TO", `0x${"0".repeat(40)}`, checksummed.replace("d", "D"), checksummed.replace("5a", "5A")],
    ["PAY_TO", ...Object.values(usdc).flatMap(({ asset }) => [asset, asset.toLowerCase()])],
    ["PUBLIC_URL", ...["/here", "//", "?x=1", "/?", "#here", "/#"].map((end) => `https://altar.example${end}`)],
    ["PUBLIC_URL", "https://me@altar.example", "https://me:it@altar.example", "ftp://altar.example", "altar.example"],
    [
      "FACILITATOR_URL",
      "https://f.example/?x=1",
      "https://f.example/#",
      "https://me@f.example",
      "https://f.example:99999",
    ],
    [
      "RPC_URL",
      "https://a%b:c@rpc.example",
      "https://a:c%@rpc.example",
      "https://rpc.example:99999",
      "wss://rpc.example",
    ],
    [
      "DATABASE_URL",
      "postgres://a%b@db/altar",
      "postgres://a:%@db/altar",
      "postgres://db/%",
      "postgres://db:99999/altar",
    ],
    ["DATABASE_URL", "postgres://db:0/altar", "postgres://db/altar?port=99999"],
    ["OPERATOR_CONTACT", "https://%", "nobody"],
    ["HOST", "[::1]", "127.0.0.1:3000", "http://localhost", "256.0.0.1", "::g", "a b"],
    ["PORT", "0", "99999", "-1", "1.5", "http"],
    ["METRICS_PORT", "99999", "127.0.0.1:99999", "::1:x", "[nowhere:9464", "256.0.0.1:9464"],
    ["ROOMS_MAX", "0", "10000001", "1.5"],
    ["RELAYER_IN_FLIGHT", "0", "1001"],
    ["RELAYER_KEY", `0x${"0".repeat(64)}`, `0x${order}`, `0x${"f".repeat(64)}`],
    [
      "CDP_API_KEY_SECRET",
      pem.replaceAll("\n", "\\n"),
      otherPem,
      `${bytes}\\n`,
      `${bytes}\n`,
      bytes.slice(4),
      "-----BEGIN EC",
    ],
    ["CARD_SECRET_KEY", "sk live", "sk_live_\u00e9"],
    ["LOG_CHECKPOINT_FILE", join(folder, "absent", "file"), "/proc/self/checkpoint", `${file("plain", "")}/below`],
    ["LOG_WITNESSES", file("policy", "quorum nobody"), file("binary", "\0")],
    ...everySecret.map((name) => [name, `${{ ...plainSecrets, [name]: "" }[name] || "secret"}\n`, "a\r\nb"] as const),
    ...everyUrl.map((name) => [name, "https://", "nonsense", "https://altar.example\n"] as const),
    ...everyFile.map((name) => [name, folder, join(readOnly, "folder"), "/dev/null"] as const),
    ...everyFile.slice(0, 3).map((name) => [name, join(folder, "absent"), "/proc/self/mem"] as const),
  ])("rejects a wrong %s, and quotes no value", ([name, ...values]) =>
    Effect.forEach(values, (value) =>
      Effect.map(problems({ ...fine, [name]: value }), (lines) => {
        assert.lengthOf(lines, 1, JSON.stringify(value))
        assert.match(lines[0] ?? "", new RegExp(`^${name} is wrong: expected `, "u"))
        if (value.length > 4) assert.notInclude(lines[0], value)
      }),
    ),
  )

  it.effect.each<readonly [name: string, ...values: ReadonlyArray<string>]>([
    ["PAY_TO", checksummed, checksummed.toLowerCase(), `0x${checksummed.slice(2).toUpperCase()}`],
    ["HOST", "::1", "::", "0.0.0.0", "localhost", "altar-1.internal"],
    ["METRICS_PORT", "9464", "0", "127.0.0.1:65535", "[::1]:9464", "localhost:9464"],
    ["RPC_URL", "https://a%25b:c@rpc.example/v1/key?x=%", "http://[::1]:8545"],
    ["FACILITATOR_URL", "https://f.example/platform/v2/x402/"],
    ["CDP_API_KEY_SECRET", pem, bytes],
    ["LOG_CHECKPOINT_FILE", join(folder, "new")],
    ["TERMS_FILE", file("terms", "Ours.")],
    ["LOG_WITNESSES", file("nobody", "quorum none\n")],
    ["DATABASE_URL", "postgres://a%25b:c%2F@db:5432/al%20tar", "postgres:///altar?host=/run/postgresql&port=5433"],
  ])("accepts every form of %s, and leaves no file", ([name, ...values]) =>
    Effect.forEach(values, (value) =>
      Effect.gen(function* () {
        const before = readdirSync(folder)
        assert.deepStrictEqual(yield* problems({ ...fine, [name]: value }), [], value)
        assert.deepStrictEqual(readdirSync(folder), before)
      }),
    ),
  )

  it.effect("takes the origin from every spelling of PUBLIC_URL", () =>
    Effect.gen(function* () {
      for (const PUBLIC_URL of ["https://Altar.Example/", "https://altar.example:443", "https://altar.example"])
        assert.strictEqual((yield* parse({ ...fine, PUBLIC_URL })).publicUrl, "https://altar.example")
    }),
  )

  it.effect("takes the number of rooms, and the catalogue of a facilitator alone", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* parse({ ...fine, ROOMS_MAX: "3" })).rooms?.rooms, 3)
      const facilitated = { ...fine, ...paying, FACILITATOR_CATALOGUES: "true", FACILITATOR_URL: "https://f.example" }
      for (const [env, isCatalogued] of [
        [{ ...facilitated, RELAYER_KEY: "" }, true],
        [{ ...facilitated, RELAYER_KEY: "", FACILITATOR_CATALOGUES: "" }, false],
        [{ ...facilitated, FACILITATOR_URL: "" }, false],
      ] as const)
        assert.strictEqual(Object(Object((yield* parse(env)).payments).terms).isCatalogued, isCatalogued)
    }),
  )

  it.effect("refuses parameters of TLS that it cannot honour, with a sentence", () =>
    Effect.gen(function* () {
      const cases: ReadonlyArray<readonly [string, RegExp]> = [
        ["sslmode=bogus", /sslmode is none of disable, allow, prefer, require, verify-ca, verify-full/u],
        ["sslmode=require&sslrootcert=/nowhere/root.crt", /sslrootcert names no readable file of PEM certificates/u],
        ["sslrootcert=/etc/hostname", /sslrootcert names no readable file/u],
        ["sslmode=require&sslrootcert=system", /sslrootcert=system needs sslmode=verify-full/u],
        ["sslmode=verify-full&sslcert=client.crt", /parameter sslcert is not supported/u],
        ["ssl=true", /parameter ssl is not supported/u],
      ]
      for (const [query, why] of cases) {
        const [problem = "", ...others] = yield* problems({ DATABASE_URL: `postgres://db/altar?${query}` })
        assert.match(problem, why, query)
        assert.deepStrictEqual(others, [])
      }
      assert.deepStrictEqual(yield* problems({ DATABASE_URL: "postgres://db/altar?sslrootcert=system" }), [])
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
        "RELAYER_KEYS is not used: is RELAYER_KEY meant?",
        "DATABASE_URI is not used: is DATABASE_URL meant?",
        "SPIRIT_ALTAR_PORTS is not used: serve --help lists every variable.",
      ],
    )
    assert.deepStrictEqual(adviceFor({ SPIRIT_ALTAR_URL: "http://altar", RELAYER_KEYS: "" }), [])
  })

  it("asks whether a variable with a similar name is meant, and leaves those of a system alone", () => {
    for (const [name, meant] of [
      ["PAYTO", "PAY_TO"],
      ["TRUSTED_PROXY", "TRUSTED_PROXIES"],
      ["RPCURL", "RPC_URL"],
      ["PUBLIC_URI", "PUBLIC_URL"],
      ["OPERATOR_NAMES", "OPERATOR_NAME"],
      ["LOGKEY", "LOG_KEY"],
    ] as const)
      assert.deepStrictEqual(adviceFor({ [name]: "x" }), [`${name} is not used: is ${meant} meant?`])
    const system = `HOME HOSTNAME HOSTTYPE LANG LOGNAME MAIL NODE_ENV OLDPWD PATH PWD SHELL SHLVL TERM TMPDIR TZ USER
      HTTP_PROXY HTTPS_PROXY NO_PROXY INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET CREDENTIALS_DIRECTORY XDG_DATA_DIRS
      SSH_TTY PGHOST PGPORT npm_lifecycle_event NODE_OPTIONS SYSTEMD_EXEC_PID LC_ALL EDITOR VISUAL PAGER CI DEBUG`
    for (const name of system.split(/\s+/u)) assert.deepStrictEqual(adviceFor({ [name]: "x" }), [], name)
  })

  it("names the variables of an environment file that exported ones replace", () => {
    const path = join(newFolder(), "env")
    writeFileSync(path, "PORT=4000\nHOST=::1\nRPC_URL=https://a-token.example\nOTHERS=1\n")
    const env = { PORT: "4001", HOST: "::1", RPC_URL: "", OTHERS: "2" }
    for (const args of [[`--env-file=${path}`], ["--expose-gc", "--env-file-if-exists", path], ["--env-file", path]]) {
      const lines = overriddenIn(env, args)
      assert.deepStrictEqual(
        lines.map((line) => line.replace(/ is not used.*/u, "")),
        ["PORT of --env-file", "RPC_URL of --env-file"],
      )
      assert.notInclude(lines.join("\n"), "a-token")
    }
    assert.deepStrictEqual(overriddenIn(env, ["--env-file=/nowhere"]), [])
  })

  it("says that a log without a checkpoint file or a witness stops at its next start", () => {
    const [line, ...more] = adviceFor({ LOG_KEY: "key" })
    assert.match(line ?? "", /^LOG_KEY is set without LOG_CHECKPOINT_FILE or LOG_WITNESSES: /u)
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(adviceFor({ LOG_KEY: "key", LOG_WITNESSES: "policy" }), [])
    assert.lengthOf(adviceFor({ LOG_CHECKPOINT_FILE: "file" }), 1)
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
      assert.nestedPropertyVal(payments, "terms.network", "eip155:8453", "nothing is missing")
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
