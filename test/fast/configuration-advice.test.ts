/** Advice about an environment: unused and replaced variables, halves of pairs, and settings that do less than they seem to. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { adviceFor, overriddenIn } from "../../src/server/config/Advice.ts"
import { needed } from "../lab/Environment.ts"
import { newFolder } from "../lab/Folders.ts"

describe("advice about the configuration", () => {
  it("names unused variables that look like ours", () => {
    assert.deepStrictEqual(adviceFor({ ...needed, HOSTNAME: "box", HOME: "/root", PATH: "/bin", LOGNAME: "me" }), [])
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

  it("says that a log without a checkpoint file or a cosigner stops at its next start", () => {
    const [line, ...more] = adviceFor({ LOG_KEY: "key" })
    assert.match(line ?? "", /^LOG_KEY is set without LOG_CHECKPOINT_FILE or LOG_COSIGNERS: /u)
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(adviceFor({ LOG_KEY: "key", LOG_COSIGNERS: "policy" }), [])
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
