/** A command names its altar before it asks it anything, and finds the sandbox of its folder. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "../lab/It.ts"
import { Effect } from "effect"
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts"
import { commandRun } from "../lab/CommandRun.ts"
import { freePort } from "../lab/Ports.ts"
import { main, run } from "../lab/Process.ts"
import { json, type Reply, serve } from "../lab/proxy/HttpServer.ts"
import { newFolder } from "../lab/Folders.ts"

const key = generatePrivateKey()
const order = ["witness", "--text", "The heron will return by May."]
const sandbox = json({ network: "eip155:84532", asset: `0x${"1".repeat(40)}`, payTo: `0x${"2".repeat(40)}` })
const reconcileKey = "buyer-1f0c2c1e5b0a4c1f9d518a54"
const asked = ["acts", reconcileKey]
const code = "attempt_not_found"
const unknown = json(
  { ok: false, code, message: "Nothing was charged under this key.", docs: `/docs/errors#${code}` },
  404,
)

const altar = (tells: (path: string, times: number) => Reply) =>
  Effect.gen(function* () {
    const heard: Array<string> = []
    const signed: Array<string> = []
    const url = yield* serve(async (path, _, { headers }) => {
      heard.push(path)
      if (headers["payment-signature"] !== undefined) signed.push(path)
      return tells(path, heard.filter((one) => one === path).length)
    })
    return { url, heard, signed }
  })

const terminal = Effect.sync(newFolder).pipe(
  Effect.map((folder) => ({
    signedBy: (pid: number, url: string) => {
      mkdirSync(join(folder, ".data"))
      writeFileSync(join(folder, ".data", "sandbox.json"), JSON.stringify({ pid, url }))
    },
    run: (args: ReadonlyArray<string>) =>
      Effect.promise(() => {
        const env = { PATH: process.env["PATH"], HOME: folder, SPIRIT_ALTAR_PRIVATE_KEY: key }
        return run([main, ...args], { cwd: folder, env }).ended
      }),
  })),
)

describe("the altar of a command", () => {
  it.live("must be the expected sandbox before a key signs", function* () {
    const { heard, signed, url } = yield* altar((path) => {
      if (path === "/sandbox") return sandbox
      return path === "/sandbox/fund" ? json({ ok: true }) : "drop"
    })
    const at = yield* terminal
    const { code, stderr } = yield* at.run([...order, "--url", url])
    assert.strictEqual(code, 1)
    const [first, second = ""] = stderr.split("\n")
    assert.strictEqual(first, `altar       ${url}`)
    assert.match(second, /^wallet {6}0x[0-9a-fA-F]{40} \(throw-away, play money on eip155:84532\)$/u)
    assert.notInclude(stderr, privateKeyToAddress(key))
    assert.deepStrictEqual([heard.slice(0, 1), signed], [["/sandbox"], []])
  })

  it.live("is rejected when no answer tells whether it is a sandbox", function* () {
    for (const [status, why] of [
      [503, "is still starting, or its parts do not answer: try again later"],
      [502, "answers 502 to the question whether it is a sandbox: try again later"],
      [429, "answers 429 to the question whether it is a sandbox: try again later"],
    ] as const) {
      const { heard, url } = yield* altar(() => json({ ok: false }, status))
      const paying = { SPIRIT_ALTAR_PRIVATE_KEY: key }
      const { code, stderr } = yield* commandRun([...order, "--url", url, "--data", newFolder()], paying)
      assert.strictEqual(code, 1)
      assert.include(stderr, `${url} ${why}. Nothing was signed, so nothing was charged.`)
      assert.notInclude(stderr, "wallet      ")
      assert.deepStrictEqual(heard, ["/sandbox"])
    }
  })

  it.live("may be none: every command that asks it says why, what to do, and that nothing was charged", function* () {
    const url = `http://127.0.0.1:${yield* freePort}`
    const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"
    const opening = ["--salt", "0123456789abcdef"]
    const at = newFolder()
    const journal = ["--data", at]
    const buys = [
      order,
      ["pray", "rain-crow", "--words", "Quiet.", "--name", "Wren"],
      ["keep", "rain-crow"],
      ["collect", "beeswax"],
      ["light", "kelp-seal", "--dedication", "Bees"],
      ["wallet"],
    ].map((args) => [...args, ...journal])
    const others = [
      ["verify"],
      ["verify", "--log"],
      [...asked, ...journal],
      ["reveal", id, "--text", "Calm.", ...opening, ...journal],
      ["unseal", id, "--words", "Calm.", ...opening, ...journal],
    ]
    for (const args of [...buys, ...others]) {
      const { code, stderr } = yield* commandRun([...args, "--url", url])
      assert.strictEqual(code, 1, args.join(" "))
      assert.include(stderr, ": connect ECONNREFUSED 127.0.0.1:", args.join(" "))
      const advice = "Is that an altar? Name yours with --url or SPIRIT_ALTAR_URL, or start a sandbox with npm start."
      assert.include(stderr, advice, args.join(" "))
      if (buys.includes(args)) assert.match(stderr, /This command charged nothing\.\n$/u)
    }
  })

  it.live("may be another program: a purchase says so, what to do, and that nothing was charged", function* () {
    for (const reply of [json({}), { status: 200, body: "<!doctype html>", type: "text/html" }]) {
      const { url } = yield* altar(() => reply)
      for (const args of [order, ["wallet"]]) {
        const { code, stderr } = yield* commandRun([...args, "--url", url, "--data", newFolder()])
        assert.strictEqual(code, 1, args.join(" "))
        assert.match(stderr, /\. Is that an altar\? Name yours .*This command charged nothing\.\n$/u, args.join(" "))
      }
    }
  })

  it.live("is by default the folder's running sandbox, or the default address without one", function* () {
    const { heard, url } = yield* altar(() => unknown)
    const living = yield* terminal
    living.signedBy(process.pid, url)
    const found = yield* living.run(asked)
    assert.deepStrictEqual(
      [found.stderr.split("\n")[0], heard],
      [`altar       ${url}`, [`/api/reconcile/${reconcileKey}`]],
    )
    const named = yield* altar(() => unknown)
    assert.include((yield* living.run([...asked, "--url", named.url])).stderr, `altar       ${named.url}\n`)
    assert.strictEqual(heard.length, 1)
    const dead = yield* terminal
    dead.signedBy(2 ** 22 + 1, url)
    const { stderr } = yield* dead.run(asked)
    assert.match(stderr, /^altar {7}http:\/\/127\.0\.0\.1:3000\n/u)
    assert.strictEqual(heard.length, 1)
  })

  it.live("gets no real payment when another program answers at the port of the folder's sandbox", function* () {
    const { heard, url } = yield* altar(() => json({ ok: false, code: "not_found" }, 404))
    const at = yield* terminal
    at.signedBy(process.pid, url)
    const { code, stderr } = yield* at.run(order)
    assert.strictEqual(code, 1)
    assert.include(stderr, "another program answers there. Nothing was signed, so nothing was charged.")
    assert.notInclude(stderr, privateKeyToAddress(key))
    assert.deepStrictEqual(heard, ["/sandbox"])
  })
})
