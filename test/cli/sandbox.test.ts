/** The newcomer's way: start, buy, verify, stop; and one clear line when something is in the way. */
import { execFile } from "node:child_process"
import { readdir } from "node:fs/promises"
import { createServer } from "node:net"
import { join } from "node:path"
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { freePort } from "../lab/Ports.ts"
import { main, run, type Running } from "../lab/Process.ts"
import { newFolder } from "../lab/Folders.ts"

const endOf = async (args: ReadonlyArray<string>, env: Record<string, string>, cwd: string) => {
  const { code, stderr, stdout } = await run([main, ...args], { env: { ...process.env, ...env }, cwd }).ended
  return { code, output: stdout + stderr, errors: stderr }
}

const start = async (env: Record<string, string>, cwd: string) => {
  const one = run([main, "sandbox"], { env: { ...process.env, ...env }, cwd })
  return { ...one, block: await one.says("Ctrl-C") }
}

const stop = async ({ ended, signal }: Running) => {
  signal("SIGINT")
  return (await ended).code
}

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

const takesManyRooms = async (url: string) => {
  const post = (path: string, body: object, token = "") =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(token === "" ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
  const opened = await Promise.all(Array.from({ length: 30 }, () => post("/api/rooms", {})))
  assert.deepStrictEqual([...new Set(opened.map(({ status }) => status))], [201])
  const [first] = opened
  if (first === undefined) return assert.fail("no room was opened")
  assert.include(first.headers.get("ratelimit-policy"), '"creations-day";q=1000;w=86400')
  const { room, token } = await first.json()
  for (let sent = 0; sent < 40; sent += 1) {
    const message = { sender: "Wren", text: `Number ${sent}.`, mode: "calm" }
    assert.strictEqual((await post(`/api/rooms/${room.id}/messages`, message, token)).status, 201)
  }
  const manual = await fetch(`${url}/llms.txt`).then((answer) => answer.text())
  assert.include(manual, "This server, a sandbox, takes 100 times as many.")
}

describe("the sandbox", () => {
  let folder = ""
  let port = 0
  let url = ""
  let environment: Record<string, string> = {}

  beforeAll(async () => {
    folder = newFolder()
    port = await Effect.runPromise(freePort)
    url = `http://127.0.0.1:${port}`
    environment = { PORT: String(port), DATA_DIR: join(folder, "data"), DATABASE_URL: "" }
  })

  it("starts, sells, proves, takes many rooms, and stops cleanly", async () => {
    const first = await start(environment, folder)
    assert.match(first.block, /money is not real/u)
    assert.include(first.block, url)
    const words = "I will call my sister."
    // It runs on a port of its own, and this folder says which.
    const buy = ["buy", "witness", "--text", words, "--kind", "promise", "--spirit", "moss-hare"]
    const kept = { SPIRIT_ALTAR_DATA: join(folder, "buyer"), SPIRIT_ALTAR_URL: "", DATA_DIR: join(folder, "data") }
    const bought = await endOf([...buy, "--salt", "salt-of-sixteen-or-more", "--key", "buyer-test-key-1"], kept, folder)
    assert.strictEqual(bought.code, 0, bought.output)
    assert.include(bought.output, `altar       ${url}\n`)
    assert.include(bought.output, "paid        $0.01, once")
    assert.include(bought.output, "(throw-away, play money on eip155:84532)")
    assert.notInclude(bought.output, words, "the words stay with the buyer until revealed")
    const real = { ...kept, SPIRIT_ALTAR_PRIVATE_KEY: `0x${"1".repeat(64)}` }
    const again = await endOf([...buy, "--key", "buyer-test-key-1", "--reveal"], real, folder)
    assert.strictEqual(again.code, 0, again.output)
    assert.include(again.output, "replayed    nothing was charged again")
    assert.include(again.output, words)
    const verified = await endOf(["verify", "--url", url], {}, folder)
    assert.deepStrictEqual(
      [verified.code, verified.output.split("\n")[0]],
      [0, "1 stones: every link hashes, every payment is on the chain."],
    )
    await takesManyRooms(url)
    const children = await childrenOf(first.pid)
    assert.isAtLeast(children.length, 2, "a database and a chain")
    await stop(first)
    assert.deepStrictEqual(children.filter(isAlive), [])
  })

  it("names a taken port in one line, leaves no process, and prints no log path after it", async () => {
    const holder = createServer().listen(port, "127.0.0.1")
    const ended = await endOf(["sandbox"], { ...environment, DATA_DIR: join(folder, "other") }, folder)
    holder.close()
    assert.notInclude(await readdir(join(folder, "other")), "log-key")
    assert.strictEqual(ended.code, 1)
    assert.strictEqual(ended.errors.trim().split("\n").length, 1, ended.output)
    assert.match(ended.errors, new RegExp(`127.0.0.1:${port} is taken`, "u"))
  })
})
