/** The obstacles to selling and starting, as `serve --check`, a start, a log and a command name them. */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { base } from "../../schema/payments/Usdc.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { main, run } from "../lab/Process.ts"
import { stage } from "../lab/server/ProxiedServer.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { asOwner, database, newRole } from "../lab/Database.ts"
import { newFolder } from "../lab/Folders.ts"
import { freePort } from "../lab/Ports.ts"
import { ask, realClock } from "../lab/Fixture.ts"
import { usdcOwner } from "../lab/buyer/ThirdParty.ts"
import { direct, serving } from "../lab/server/ServerProcess.ts"
import { staged } from "../lab/server/Live.ts"

const checked = (more: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(direct, (env) => commandRun(["serve", "--check"], { ...env, ...more }))

const fails = (says: RegExp) =>
  Effect.map(checked(), ({ code, stderr }) => {
    assert.strictEqual(code, 1)
    assert.match(stderr, says)
  })

describe.concurrent("serve --check", () => {
  staged(
    "fails for an absent database or node, an unnamed operator, a paused token and a blocked PAY_TO, without a secret",
    function* () {
      const { payTo } = yield* LocalChain
      const { code, stderr, stdout } = yield* checked()
      assert.strictEqual(code, 0, stderr)
      for (const part of ["database", "chain", "token", "relayer"]) assert.match(stdout, new RegExp(`^${part} `, "mu"))
      for (const [env, says] of [
        [{ DATABASE_URL: "postgres://u:hush@127.0.0.1:1/d" }, /^The database cannot be used/mu],
        [{ RPC_URL: "http://127.0.0.1:1/hush" }, /^The node of RPC_URL cannot be used: eth_chainId /mu],
      ] as const) {
        const away = yield* checked(env)
        assert.strictEqual(away.code, 1)
        assert.match(away.stderr, says)
        assert.notInclude(away.stdout + away.stderr, "hush")
      }
      const unnamed = yield* checked({ X402_NETWORK: base, OPERATOR_NAME: "Wren" })
      assert.strictEqual(unnamed.code, 1)
      assert.match(unnamed.stderr, /^OPERATOR_NAME and OPERATOR_CONTACT must both be set/mu)
      yield* usdcOwner(["pause"])
      yield* fails(/paused all transfers/u)
      yield* usdcOwner(["unpause"])
      yield* usdcOwner(["blacklist", payTo])
      yield* fails(/blocked PAY_TO/u)
    },
  )
})

/** In a mount namespace of its own, where a path is mounted on itself. */
const mounted = (path: string, args: ReadonlyArray<string>, env: Record<string, string>) =>
  Effect.promise(
    () =>
      run(
        ["-m", "sh", "-c", 'mount --bind "$MOUNTED" "$MOUNTED" && exec "$@"', "sh", process.execPath, main, ...args],
        {
          command: "unshare",
          env: { PATH: process.env["PATH"] ?? "", MOUNTED: path, ...env },
        },
      ).ended,
  )

describe.concurrent("a wrong value", () => {
  it.live("is refused by a start with the sentences of serve --check, all at once", function* () {
    const folder = newFolder()
    const wrong = {
      DATABASE_URL: "x",
      PAY_TO: `0x${"0".repeat(40)}`,
      PUBLIC_URL: "https://altar.example/?x=1",
      HOST: "[::1]",
      METRICS_PORT: "99999",
      RPC_URL: "https://a%b:c@rpc.example",
      CDP_API_KEY_SECRET: "-----BEGIN EC PRIVATE KEY-----\\nMHc=\\n-----END EC PRIVATE KEY-----",
      TERMS_FILE: join(folder, "absent"),
      PRIVACY_FILE: folder,
      LOG_COSIGNERS: join(folder, "absent"),
      LOG_CHECKPOINT_FILE: folder,
      LOG_LEVEL: "loud",
      PAYTO: "0x",
    }
    const env = { PATH: process.env["PATH"] ?? "", ...wrong }
    const [check, start] = yield* Effect.forEach([["--check"], []], (more) =>
      Effect.promise(() => run([main, "serve", ...more], { env }).ended),
    )
    assert.deepStrictEqual([check?.code, start?.code], [1, 1])
    assert.strictEqual(start?.stderr, check?.stderr)
    for (const name of Object.keys(wrong)) assert.match(check?.stderr ?? "", new RegExp(`^${name} is `, "mu"))
  })

  it.live.each([
    ["an address of another machine", { HOST: "203.0.113.7" }, /^HOST is wrong: /mu],
    ["a metrics address of another machine", { METRICS_PORT: "203.0.113.7:9464" }, /^METRICS_PORT is wrong: /mu],
  ] as const)("that the system refuses is named: %s", ([, env, sentence]) =>
    Effect.gen(function* () {
      const { code, stderr } = yield* checked(env).pipe(Effect.provide(stage))
      assert.strictEqual(code, 1)
      assert.match(stderr, sentence)
    }),
  )

  staged("of OpenTelemetry stops its exports alone, and is named by a check and by a start", function* () {
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=%hush",
    }
    const check = yield* checked(env)
    assert.strictEqual(check.code, 0, check.stderr)
    const sentence = /OTEL_EXPORTER_OTLP_HEADERS cannot be used, so no traces or metrics are sent/u
    assert.match(check.stdout, sentence)
    const server = yield* serving({ ...(yield* direct), ...env })
    assert.match(yield* server.says("server listening"), sentence)
    assert.notInclude(check.stdout + server.output(), "hush")
  })
})

const mayMount = spawnSync("unshare", ["-m", "true"]).status === 0

describe.runIf(mayMount)("a checkpoint file that is a mount", () => {
  it.live("is refused by a check and a start, since it cannot be replaced; its folder may be one", function* () {
    const folder = newFolder()
    const file = join(folder, "check point")
    writeFileSync(file, "as it was")
    const PORT = String(yield* freePort)
    const env = { DATABASE_URL: "postgres://u:hush@127.0.0.1:1/d", LOG_CHECKPOINT_FILE: file, PORT }
    for (const args of [["serve", "--check"], ["serve"]]) {
      const { code, stderr } = yield* mounted(file, args, env)
      assert.strictEqual(code, 1)
      assert.match(stderr, /^LOG_CHECKPOINT_FILE is wrong: .* It is a mount/mu)
    }
    assert.match((yield* mounted(folder, ["serve", "--check"], env)).stderr, /^The database cannot be used/mu)
    assert.deepStrictEqual([readdirSync(folder), readFileSync(file, "utf8")], [["check point"], "as it was"])
  })
})

layer(database, realClock)("a database role without a grant", (it) => {
  it.effect("is told of at start, in the log of a request and by admin", function* () {
    const { role, url } = yield* newRole()
    const port = yield* freePort
    const start = yield* commandRun(["serve"], { DATABASE_URL: url, PORT: String(port) })
    assert.strictEqual(start.code, 1)
    assert.include(start.stderr, `The database role ${role} lacks a privilege: permission denied for table`)
    assert.match(start.stderr, /Use the owner's DATABASE_URL\.$/mu)

    const admin = yield* commandRun(["admin", "pause", "--why", "test", "--json"], { DATABASE_URL: url })
    assert.strictEqual(admin.code, 1)
    assert.match(JSON.parse(admin.stdout).message, /payment_pause\. Use the owner's DATABASE_URL\.$/u)

    yield* asOwner(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
    yield* asOwner(`REVOKE SELECT ON acts FROM ${role}`)
    const server = yield* serving({ DATABASE_URL: url })
    yield* server.says("server listening")
    assert.strictEqual((yield* ask(`${server.url}/api/acts`)).status, 500)
    yield* server.says(
      `permission denied for table acts. Use the owner's DATABASE_URL, or have the owner run the grants`,
    )
    for (const said of [start.stderr, admin.stdout, server.output()]) {
      assert.notInclude(said, "hush")
      assert.notInclude(said, "GRANT", "a server's role may be closed to a table on purpose")
    }
  })
})
