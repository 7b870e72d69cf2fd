/** An altar that lies to a terminal gets neither real money, nor a request to another host, nor unencrypted words. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { terminal } from "../lab/Terminal.ts"
import { json, serve } from "../lab/proxy/HttpServer.ts"
import { realClock, world } from "../lab/Fixture.ts"

const words = "The heron will return by May."

const sandbox = (says: object) =>
  Effect.gen(function* () {
    const heard: Array<string> = []
    const url = yield* serve(async (path) => {
      heard.push(path)
      return path === "/sandbox" ? json(says) : path === "/sandbox/fund" ? json({}) : "drop"
    })
    return { url, heard }
  })

const terms = { asset: `0x${"1".repeat(40)}`, payTo: `0x${"2".repeat(40)}` }

layer(world(), realClock)("spirit-altar against a hostile altar", (it) => {
  it.effect("rejects a sandbox on a network of real money", function* () {
    const at = yield* terminal
    writeFileSync(join(at.folder, "wallet"), at.secret, { mode: 0o600 })
    const { heard, url } = yield* sandbox({ ...terms, network: "eip155:1", fund: "http://127.0.0.1:9/" })
    const ended = yield* at.run(["witness", "--text", words, "--wallet", "wallet", "--url", url])
    assert.strictEqual(ended.code, 1)
    assert.match(ended.stderr, /gives an unknown answer at \/sandbox/u)
    assert.deepStrictEqual(heard, ["/sandbox"])
  })

  it.effect("sends to the sandbox alone, and to no address that the sandbox names", function* () {
    const at = yield* terminal
    const elsewhere = yield* sandbox({})
    const fund = `${elsewhere.url}/sandbox/fund`
    const { heard, url } = yield* sandbox({ ...terms, network: "eip155:84532", fund })
    const ended = yield* at.run(["keep", "moss-hare", "--url", url])
    assert.strictEqual(ended.code, 1)
    assert.include(heard, "/sandbox/fund")
    assert.deepStrictEqual(elsewhere.heard, [])
  })

  it.effect("says after a failed reveal that the stone is paid, and how to reveal it", function* () {
    const at = yield* terminal
    const file = join(at.folder, "silent.mjs")
    writeFileSync(
      file,
      `const real = globalThis.fetch
globalThis.fetch = (input, init) =>
  new Request(input, init).url.endsWith("/reveal") ? Promise.reject(new TypeError("hung up")) : real(input, init)
`,
    )
    const silent = { NODE_OPTIONS: `--import=${file}` }
    const ended = yield* at.run(["witness", "--text", words, "--reveal", "--json"], silent)
    assert.strictEqual(ended.code, 1)
    const { code, key, message } = JSON.parse(ended.stdout)
    assert.strictEqual(code, "unreachable")
    const [, id = ""] = /^Stone ([0-9a-f-]{36}) is set and paid for, but not revealed: /u.exec(message) ?? []
    assert.include(message, `reveal ${id}`)
    assert.match(key, /^buyer-/u)
    const revealed = yield* at.run(["reveal", id, "--json"])
    assert.strictEqual(JSON.parse(revealed.stdout).stone.reveal.text, words)
    assert.strictEqual(yield* at.spent, 1)
  })
})
