/** The help is complete: every command with examples that are spelled as it understands them, and shells complete it. */
import { execFileSync } from "node:child_process"
import { assert, describe, it } from "../lab/It.ts"
import { Effect } from "effect"
import { withDashes } from "../../src/cli/Command.ts"
import { purchases } from "../../src/cli/buyer/Commands.ts"
import { messages } from "../../src/platform/LogMessages.ts"
import { commandRun, printed as ask } from "../lab/CommandRun.ts"

const buying = [...purchases.map(({ name }) => name), "reveal", "unseal", "wallet", "acts"]
const commands: ReadonlyArray<ReadonlyArray<string>> = [
  ...[...buying, "mcp", "verify", "verify-proof", "sandbox", "serve", "migrate", "openapi"].map((name) => [name]),
  ...["key", "status", "confirm", "resume"].map((name) => ["log", name]),
  ...[
    "attempts",
    "attempt",
    "pause",
    "resume",
    "hide",
    "show",
    "acknowledge",
    "delete-room",
    "audit",
    "messages",
    "receipt-key",
  ].map((name) => ["admin", name]),
]

describe("a value that begins with a dash", () => {
  it.each([
    ["witness --text - --key -hv3 --json", "witness --text - --key=-hv3 --json"],
    ["acts --json -- -v0", "acts --json -- -v0"],
    ["reveal id --salt -v --text calm", "reveal id --salt=-v --text calm"],
    ["witness --text=calm -h", "witness --text=calm -h"],
    ["witness --text --json", "witness --text --json"],
    ["-v", "-v"],
  ])("is not read as a bundle of options: %s", (typed, meant) => {
    assert.deepStrictEqual(withDashes(typed.split(" ")), meant.split(" "))
  })
})

describe("the help", () => {
  it.effect("names every command, the meaning of exit codes, and the variables of a server and a buyer", function* () {
    let help = ""
    for (const group of ["", "log", "admin", "serve", "witness"])
      help += yield* ask(...group.split(" ").filter(Boolean), "--help")
    for (const command of commands) assert.match(help, new RegExp(`^ {2}${command.at(-1) ?? ""} +\\S`, "mu"))
    assert.match(help, /Exit code 0 is success; 1 is a failure/u)
    for (const name of ["RELAYER_KEY", "SPIRIT_ALTAR_URL", "SPIRIT_ALTAR_PRIVATE_KEY"]) assert.include(help, name)
  })

  it.effect("is also what `help` prints, before or after a group of commands", function* () {
    for (const [words, options] of [
      ["help", "--help"],
      ["--json help", "--json --help"],
      ["help witness", "witness --help"],
      ["help log", "log --help"],
      ["admin help attempts", "admin attempts --help"],
    ] as const)
      assert.strictEqual(yield* ask(...words.split(" ")), yield* ask(...options.split(" ")), words)
  })

  it.effect("leads no unknown command to a purchase, with and without --json", function* () {
    const near = purchases
      .flatMap(({ name }) => [name.slice(1), name.slice(0, -1), `${name}s`, `${name[0]}${name}`])
      .filter((word) => word !== "acts")
    for (const word of [...near, "halp", "list", "pay", "keys", "kelp", "lights"]) {
      const human = yield* commandRun([word])
      assert.strictEqual(human.code, 1)
      const { message } = JSON.parse((yield* commandRun([word, "--json"])).stdout)
      for (const says of [human.stderr, String(message)]) {
        assert.include(says, `Unknown subcommand "${word}"`)
        assert.notInclude(says, "Did you mean")
      }
    }
    assert.match((yield* commandRun(["verfy"])).stderr, /Did you mean this\?\s+verify\n/u)
  })

  it.effect("shows every command with examples of its own flags", () =>
    Effect.forEach(commands, (command) =>
      Effect.gen(function* () {
        const help = yield* ask(...command, "--help")
        assert.match(help, /^USAGE$/mu, command.join(" "))
        const [declared = "", examples] = help.split(/^EXAMPLES$/mu)
        assert.isDefined(examples, command.join(" "))
        for (const [flag] of examples?.matchAll(/(?<= )--[a-z-]+/gu) ?? [])
          assert.include(declared, flag, `${command.join(" ")} has an example with ${flag}`)
        const options = [...help.matchAll(/^ {2}(--[a-z-]+)(?:, (-\w))?( \S+)? {2,}/gmu)]
        assert.isAtLeast(options.length, 4)
        for (const [, option = "", letter] of options)
          assert.strictEqual(letter, { "--help": "-h", "--version": "-v" }[option], `${command.join(" ")} ${option}`)
      }),
    ),
  )

  it.effect("of the log's messages is `admin messages`: each warning and error with what to do", function* () {
    const lines = yield* ask("admin", "messages")
    for (const level of [messages.Fatal, messages.Error, messages.Warn])
      for (const [message, action] of Object.entries(level)) assert.include(lines, `${message}: ${action}\n`)
  })

  it.effect("includes a well-formed bash completion of commands, flags and choices", function* () {
    const script = yield* ask("--completions", "bash")
    execFileSync("bash", ["-n"], { input: script })
    for (const word of ["witness", "acts", "--max-per-day", "moss-hare"]) assert.include(script, word)
  })
})
