/** The newcomer's way: start, buy, verify, stop, start again; and one clear line when something is in the way. */
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { mkdtemp, rm, chmod } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../support/Ports.ts"

const main = new URL("../../src/start.js", import.meta.url).pathname

interface Ended {
  readonly code: number | null
  readonly output: string
}

const run = (args: ReadonlyArray<string>, env: Record<string, string>, cwd: string) =>
  new Promise<Ended>((resolve) => {
    execFile(process.execPath, [main, ...args], { env: { ...process.env, ...env }, cwd }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
    })
  })

/** Starts `sandbox` and waits for its block. */
const start = (env: Record<string, string>, cwd: string) =>
  new Promise<{ readonly child: ChildProcess; readonly block: string }>((resolve, reject) => {
    const child = spawn(process.execPath, [main, "sandbox"], { env: { ...process.env, ...env }, cwd, stdio: "pipe" })
    let output = ""
    const read = (bytes: Buffer) => {
      output += bytes.toString()
      if (output.includes("Ctrl-C")) resolve({ child, block: output })
    }
    child.stdout?.on("data", read)
    child.stderr?.on("data", read)
    child.on("exit", (code) => reject(new Error(`ended with ${code}: ${output}`)))
  })

const stop = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => {
    child.removeAllListeners("exit")
    child.on("exit", (code) => resolve(code))
    child.kill("SIGINT")
  })

const isAlive = (pid: string) => {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

const childrenOf = (pid: number) =>
  new Promise<ReadonlyArray<string>>((resolve) => {
    execFile("ps", ["-o", "pid=", "--ppid", String(pid)], (_, out) =>
      resolve(
        out
          .trim()
          .split(/\s+/u)
          .filter((one) => one !== ""),
      ),
    )
  })

describe("the sandbox", () => {
  let folder = ""
  let port = 0
  let url = ""
  let environment: Record<string, string> = {}

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "spirit-altar-sandbox-"))
    await chmod(folder, 0o755)
    port = await Effect.runPromise(freePort)
    url = `http://127.0.0.1:${port}`
    environment = { PORT: String(port), DATA_DIR: join(folder, "data"), DATABASE_URL: "" }
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it("starts, sells, proves, stops cleanly, and remembers", async () => {
    const first = await start(environment, folder)
    assert.match(first.block, /money is not real/u)
    assert.include(first.block, url)
    const words = "I will call my sister."
    const buy = ["buy", "witness", "--url", url, "--text", words, "--kind", "promise", "--spirit", "moss-hare"]
    const kept = { SPIRIT_ALTAR_DATA: join(folder, "buyer") }
    const bought = await run([...buy, "--salt", "salt-of-sixteen-or-more", "--key", "buyer-test-key-1"], kept, folder)
    assert.strictEqual(bought.code, 0, bought.output)
    assert.include(bought.output, "paid        $0.01, once")
    assert.include(bought.output, "(throw-away, play money on eip155:84532)")
    assert.notInclude(bought.output, words, "the words stay with the buyer until revealed")
    const real = { ...kept, SPIRIT_ALTAR_PRIVATE_KEY: `0x${"1".repeat(64)}` }
    const again = await run([...buy, "--key", "buyer-test-key-1", "--reveal"], real, folder)
    assert.strictEqual(again.code, 0, again.output)
    assert.include(again.output, "replayed    nothing was charged again")
    assert.include(again.output, words)
    const verified = await run(["verify", "--url", url], {}, folder)
    assert.deepStrictEqual(
      [verified.code, verified.output.split("\n")[0]],
      [0, "1 stones: every link hashes, every payment is on the chain."],
    )
    const children = await childrenOf(first.child.pid ?? 0)
    assert.isAtLeast(children.length, 2, "a database and a chain")
    await stop(first.child)
    assert.deepStrictEqual(children.filter(isAlive), [])

    const second = await start(environment, folder)
    const remembered = await run(["verify", "--url", url], {}, folder)
    assert.include(remembered.output, "1 stones: every link hashes, every payment is on the chain.")
    await stop(second.child)
  })

  it("says in one line that its port is taken, and leaves nothing running", async () => {
    const holder = createServer().listen(port, "127.0.0.1")
    const ended = await run(["sandbox"], environment, folder)
    holder.close()
    assert.strictEqual(ended.code, 1)
    assert.strictEqual(ended.output.trim().split("\n").length, 1, ended.output)
    assert.match(ended.output, new RegExp(`127.0.0.1:${port} is taken`, "u"))
  })

  it("serves nothing of itself in production, and says what is missing", async () => {
    const ended = await run(["serve"], { DATABASE_URL: "" }, folder)
    assert.strictEqual(ended.code, 1)
    assert.strictEqual(
      ended.output.trim(),
      "DATABASE_URL is not set: set it to postgres://user:password@host:port/database, with an sslmode of PostgreSQL's if it has one.",
    )
    const set = { DATABASE_URL: "postgres://altar@127.0.0.1/altar", RELAYER_KEY: "0xsecret" }
    const wrong = await run(["serve"], set, folder)
    assert.match(wrong.output, /^RELAYER_KEY is wrong: [^\n]+\n$/u)
    assert.notInclude(wrong.output, "0xsecret")
    // One that cannot be reached is waited for: test/contract/unreachable.test.ts.
    const { output } = await run(["serve"], { DATABASE_URL: "altar:secret" }, folder)
    assert.match(output, /^DATABASE_URL is wrong: [^\n]+\n$/u)
    assert.notInclude(output, "secret")
  })
})
