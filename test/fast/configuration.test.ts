/** The environment of a server: a wrong variable is reported by its name and without its value, and each right form is accepted. */
import { generateKeyPairSync } from "node:crypto"
import { readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "../lab/It.ts"
import { Effect } from "effect"
import { usdc } from "../../schema/payments/Usdc.ts"
import { sandbox, serving } from "../../src/server/config/Table.ts"
import { needed, parse, paying, problems, provider } from "../lab/Environment.ts"
import { newFolder } from "../lab/Folders.ts"

describe("the configuration", () => {
  it.effect("reports all faults at once, a line for each variable, and quotes no value", function* () {
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
    const lines = yield* problems(given)
    for (const [name, value] of Object.entries(given)) {
      assert.lengthOf(
        lines.filter((line) => line.startsWith(`${name} is wrong: `)),
        1,
        `${name}: ${lines.join("\n")}`,
      )
      assert.notInclude(lines.join("\n"), value)
    }
    assert.lengthOf(lines, Object.keys(given).length)
  })

  it.effect("requires a database, and the other half of the cards", function* () {
    const [missing, ...others] = yield* problems({})
    assert.match(missing ?? "", /^DATABASE_URL is not set: /u)
    assert.deepStrictEqual(others, [])
    assert.deepStrictEqual(yield* problems(needed), [])
    const { host, port, rooms, trustedProxies } = yield* parse({ ...needed, ROOMS_MAX: "7" })
    assert.deepStrictEqual([host, port, rooms?.rooms, trustedProxies], ["127.0.0.1", 3000, 7, []])
    assert.strictEqual(yield* sandbox.dataDir.parse(provider({})), ".data")
    assert.deepStrictEqual(yield* problems({ ...needed, CARD_PROFILE_ID: "profile" }), [
      "The configuration of cards is incomplete: set CARD_SECRET_KEY as well, or none of them.",
    ])
  })

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
  const everyFile = ["TERMS_FILE", "PRIVACY_FILE", "LOG_COSIGNERS", "LOG_CHECKPOINT_FILE"]
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
    ["LOG_COSIGNERS", file("policy", "quorum nobody"), file("binary", "\0")],
    ...everySecret.map((name) => [name, `${{ ...plainSecrets, [name]: "" }[name] || "secret"}\n`, "a\r\nb"] as const),
    ...everyUrl.map((name) => [name, "https://", "nonsense", "https://altar.example\n"] as const),
    ...everyFile.map((name) => [name, folder, join(readOnly, "folder"), "/dev/null"] as const),
    ...everyFile.slice(0, 3).map((name) => [name, join(folder, "absent"), "/proc/self/mem"] as const),
  ])("rejects a wrong %s, and quotes no value", ([name, ...values]) =>
    Effect.forEach(values, (value) =>
      Effect.map(problems({ ...needed, [name]: value }), (lines) => {
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
    ["LOG_COSIGNERS", file("nobody", "quorum none\n")],
    ["DATABASE_URL", "postgres://a%25b:c%2F@db:5432/al%20tar", "postgres:///altar?host=/run/postgresql&port=5433"],
  ])("accepts every form of %s, and leaves no file", ([name, ...values]) =>
    Effect.forEach(values, (value) =>
      Effect.gen(function* () {
        const before = readdirSync(folder)
        assert.deepStrictEqual(yield* problems({ ...needed, [name]: value }), [], value)
        assert.deepStrictEqual(readdirSync(folder), before)
      }),
    ),
  )

  it.effect("refuses the earlier name of LOG_COSIGNERS, which would be lost in silence", function* () {
    const lines = yield* problems({ ...needed, LOG_WITNESSES: "/etc/policy" })
    assert.deepStrictEqual(lines, ["LOG_WITNESSES is named LOG_COSIGNERS now: rename it."])
  })

  it.effect("takes the origin from every spelling of PUBLIC_URL", function* () {
    for (const PUBLIC_URL of ["https://Altar.Example/", "https://altar.example:443", "https://altar.example"])
      assert.strictEqual((yield* parse({ ...needed, PUBLIC_URL })).publicUrl, "https://altar.example")
  })

  it.effect("takes the catalogue of a facilitator alone", function* () {
    const facilitated = { ...needed, ...paying, FACILITATOR_CATALOGUES: "true", FACILITATOR_URL: "https://f.example" }
    for (const [env, isCatalogued] of [
      [{ ...facilitated, RELAYER_KEY: "" }, true],
      [{ ...facilitated, RELAYER_KEY: "", FACILITATOR_CATALOGUES: "" }, false],
      [{ ...facilitated, FACILITATOR_URL: "" }, false],
    ] as const)
      assert.strictEqual(Object(Object((yield* parse(env)).payments).terms).isCatalogued, isCatalogued)
  })

  it.effect("refuses parameters of TLS that it cannot honour, with a sentence", function* () {
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
  })

  it.effect("accepts every sslmode of PostgreSQL, and no other database", function* () {
    for (const mode of ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"])
      assert.deepStrictEqual(yield* problems({ DATABASE_URL: `postgres://db/altar?sslmode=${mode}` }), [], mode)
    assert.lengthOf(yield* problems({ DATABASE_URL: "mysql://db/altar" }), 1)
  })
})
