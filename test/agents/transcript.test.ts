/** The purchase published on the agents' page is run as it stands there, and prints what the page says it prints. */
import { execFile } from "node:child_process"
import { symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { SqlClient } from "effect/sql"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { unescaped } from "../lab/Html.ts"
import { ask, world } from "../lab/Fixture.ts"
import { TestServer, realClock } from "../lab/TestServices.ts"
import { newFolder } from "../lab/Folders.ts"

const run = promisify(execFile)

/** Code blocks of the section for a terminal: their language and what a reader would copy. */
const blocksOf = (page: string) => {
  const section = /<section aria-labelledby="terminal">([\s\S]*?)<\/section>/u.exec(page)?.[1] ?? ""
  return [...section.matchAll(/<pre\s+class="(\w+)"[^>]*><code[^>]*>([\s\S]*?)<\/code>/gu)].map((match) => ({
    language: match[1] ?? "",
    text: unescaped(match[2] ?? ""),
  }))
}

layer(world(), realClock)("the published transcript", (it) => {
  it.effect("buys, replays, verifies and reveals a stone for one cent", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const chain = yield* LocalChain
      const key = generatePrivateKey()
      yield* Effect.orDie(chain.fund(privateKeyToAccount(key).address, 10_000n))
      const blocks = blocksOf((yield* ask(`${url}/for-agents`)).text)
      const cwd = newFolder()
      symlinkSync(new URL("../../node_modules", import.meta.url).pathname, join(cwd, "node_modules"))
      writeFileSync(join(cwd, "sign.mjs"), blocks.find(({ language }) => language === "js")?.text ?? "")
      const commands = blocks.filter(({ language }) => language === "sh").map(({ text }) => text)
      assert.isAtLeast(commands.length, 6)
      const { stderr, stdout } = yield* Effect.promise(() =>
        run("sh", ["-eu", "-c", commands.join("\n")], {
          cwd,
          env: { PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, BUYER_KEY: key },
        }),
      )
      assert.strictEqual(stderr, "")
      const promised = blocks.filter(({ language }) => language === "prints").map(({ text }) => text)
      assert.strictEqual(stdout.trim(), promised.join("\n"))
      const [row] = yield* sql<{ stones: bigint; reveals: bigint }>`
        SELECT (SELECT count(*) FROM witness_stones) AS stones, (SELECT count(*) FROM witness_reveals) AS reveals`
      assert.deepStrictEqual(row, { stones: 1n, reveals: 1n })
    }),
  )
})
