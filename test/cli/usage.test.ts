/** The output of a malformed call, for programs and people. */
import { writeFileSync } from "node:fs"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { assert, describe, it } from "../lab/It.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Option, Redacted } from "effect"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { accountOf, walletOf } from "../../src/cli/buyer/Wallet.ts"
import { commandRun } from "../lab/CommandRun.ts"
import { main } from "../lab/Process.ts"
import { newFolder } from "../lab/Folders.ts"

const folder = newFolder()

/** As a process, which Node itself configures. */
const start = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  spawnSync(process.execPath, args, {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env },
  })

describe("a command", () => {
  it.effect.each<readonly [args: ReadonlyArray<string>, code: string, named: string]>([
    [["witness", "--json"], "usage", "--text"],
    [["acts", "--nosuch", "--json"], "usage", "--nosuch"],
    [["admin", "hide", "--json"], "usage", "act"],
    [["acts", "--url", "nonsense", "--json"], "bad_url", "nonsense"],
  ])("with invalid arguments prints one JSON document under --json: %s", function* ([args, named, word]) {
    const { code, stdout } = yield* commandRun(args)
    assert.strictEqual(code, 1)
    assert.strictEqual(stdout.trim().split("\n").length, 1)
    const refusal = JSON.parse(stdout)
    assert.deepInclude(refusal, { ok: false, code: named })
    assert.include(refusal.message, word)
  })

  it("that starts a sandbox reports every wrong and unknown variable at once", () => {
    const { status, stderr } = start([main, "sandbox"], { LOG_LEVEL: "loud", PORT: "99999", RELAYER_INFLIGHT: "3" })
    assert.strictEqual(status, 1)
    for (const sentence of ["LOG_LEVEL is wrong", "PORT is wrong", "RELAYER_INFLIGHT is not used"])
      assert.include(stderr, sentence)
  })

  it.effect.each<readonly [args: ReadonlyArray<string>, sentence: string]>([
    [["admin", "hide"], "Missing required argument: act"],
    [["admin", "hide", "x", "name", "--why", "y"], 'Invalid value for argument <act>: "x". Expected: the id of an act'],
    [["admin", "pause"], "Missing required flag: --why"],
    [["admin", "nosuch"], 'Unknown subcommand "nosuch"'],
    [["log", "confirm", "--nosuch"], "Unrecognized flag: --nosuch"],
    [["nosuch"], 'Unknown subcommand "nosuch"'],
  ])("with invalid arguments prints first what is wrong, and then how to call it: %s", function* ([args, sentence]) {
    const { code, stderr, stdout } = yield* commandRun(args)
    assert.deepStrictEqual([code, stdout], [1, ""])
    const [first, usage, help] = stderr.split("\n")
    assert.include(first, sentence)
    assert.match(usage ?? "", /^Usage: spirit-altar /u)
    assert.match(help ?? "", /^Help: spirit-altar .*--help$/u)
  })

  it("that --env-file configures names each variable that an exported one replaces", () => {
    const file = join(folder, "altar.env")
    writeFileSync(file, "DATABASE_URL=postgres://127.0.0.1:1/altar\nHOST=127.0.0.1\nOPERATOR_NAME=Wren\n")
    const checked = (env: Record<string, string>) => start([`--env-file=${file}`, main, "serve", "--check"], env)
    const sentence = "HOST of --env-file is not used: the environment exports another value"
    assert.include(checked({ HOST: "127.0.0.2" }).stdout, sentence)
    assert.include(checked({ HOST: "[::1]" }).stderr, sentence)
    const { stderr, stdout } = checked({ HOST: "127.0.0.1" })
    assert.notInclude(stdout + stderr, "--env-file")
  })

  it("prints no colours when they are off", () => {
    for (const args of [["--help"], ["witness"]]) {
      const { stderr, stdout } = start([main, ...args], { NO_COLOR: "1", FORCE_COLOR: "1" })
      assert.notInclude(stdout + stderr, "\u001b[")
    }
  })
})

describe("a wallet", () => {
  it.effect("of another form, or of a number that is no key, is refused", function* () {
    for (const secret of ["0x1234", `0x${"0".repeat(64)}`]) {
      const { message } = yield* Effect.flip(accountOf(Redacted.make(secret), "The file"))
      assert.match(message, /^The file holds no private key/u)
    }
  })
})

describe("a wallet file", () => {
  it.effect("that other users can read causes a warning, and a private one does not", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const error = (...line: ReadonlyArray<unknown>) => void said.push(line.join(" "))
      const key = generatePrivateKey()
      const used = (mode: number) => {
        const file = join(folder, `wallet-${mode.toString(8)}`)
        writeFileSync(file, key, { mode })
        return walletOf(Option.some(file), "https://altar.example", Option.none(), folder)
      }
      const account = yield* Effect.provideService(used(0o644), Console.Console, { ...globalThis.console, error })
      assert.strictEqual(account.address, privateKeyToAddress(key))
      assert.match(said.join("\n"), /^warning {5}others can read .*: chmod 600 /u)
      said.length = 0
      yield* Effect.provideService(used(0o600), Console.Console, { ...globalThis.console, error })
      assert.notInclude(said.join("\n"), "warning")
    }).pipe(Effect.provide(NodeServices.layer)),
  )
})
