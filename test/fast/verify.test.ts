/** `verify` takes anything, checks what its form allows, and says what stayed open. */
import { getEventListeners } from "node:events"
import { assert, describe, it } from "@effect/vitest"
import { seal, type Trust, type Verified, verify } from "../../src/buyer/index.ts"
import { rejected } from "../lab/Assertions.ts"
import { key, log, madeReceiptFile } from "../lab/buyer/ReceiptFiles.ts"

const { file } = await madeReceiptFile()
const { record, reveal } = file
const trust = { key, log: { vkey: log.vkey } }
const statesOf = ({ checks }: Verified) => Object.fromEntries(checks.map(({ name, state }) => [name, state]))
const note = file.log?.split("\n\n").slice(1).join("\n\n") ?? ""
const sealed = await seal(String(reveal.text), String(reveal.salt))
const other = { ...sealed, words: "Other words." }
const leaf = Uint8Array.from(Buffer.from("00".repeat(32), "hex"))

describe("verify", () => {
  it.each<readonly [what: string, thing: unknown, by: Trust, kind: Verified["kind"], ok: boolean, states: object]>([
    ["a receipt file by its keys", file, trust, "receipt", true, { signature: "holds", log: "holds", payment: "open" }],
    ["a receipt file's text", JSON.stringify(file), trust, "receipt", true, { signature: "holds", words: "holds" }],
    ["a receipt file without a key", file, {}, "receipt", false, { signature: "open" }],
    ["a cut receipt file", `${JSON.stringify(file)}x`, trust, "unknown", false, { form: "open" }],
    ["a stone", record, {}, "stone", true, { stone: "holds", words: "open", place: "open" }],
    ["a stone in an answer", { stone: { ...record, reveal } }, {}, "stone", true, { stone: "holds", words: "holds" }],
    ["a stone in an act", { act: { record, reveal } }, {}, "stone", true, { words: "holds" }],
    ["a stone in an answer to a purchase", { record, permalink: "/" }, {}, "stone", true, { stone: "holds" }],
    [
      "a stone beside another",
      { ...record, stone: { ...record, sequence: 3 } },
      {},
      "stone",
      false,
      { stone: "broken" },
    ],
    ["a segment after no number", { entries: [], anchor: {} }, {}, "segment", false, { links: "broken" }],
    ["a changed stone", { ...record, sequence: 3 }, {}, "stone", false, { stone: "broken" }],
    ["a stone's own words", record, { sealed }, "stone", true, { sealed: "holds" }],
    ["other words", record, { sealed: other }, "stone", false, { stone: "holds", sealed: "broken" }],
    ["exported words", sealed, {}, "words", true, { words: "holds" }],
    ["exported words that were changed", other, {}, "words", false, { words: "broken" }],
    ["a candle", { intentionCommitment: sealed.commitment, unsealed: sealed }, {}, "words", true, { words: "holds" }],
    ["a sealed candle", { intentionCommitment: sealed.commitment }, {}, "words", false, { words: "open" }],
    [
      "a proof of its stone",
      file.log,
      { ...trust, of: record },
      "proof",
      true,
      { checkpoint: "holds", entry: "holds" },
    ],
    ["a proof of nothing", file.log, trust, "proof", true, { checkpoint: "holds", entry: "open" }],
    ["a proof of another leaf", file.log, { ...trust, of: { leaf } }, "proof", false, { entry: "broken" }],
    ["a proof without a key", file.log, {}, "proof", false, { checkpoint: "open" }],
    ["a damaged proof", "c2sp.org/tlog-proof@v1\nno", trust, "proof", false, { file: "broken" }],
    ["a checkpoint", note, trust, "checkpoint", true, { checkpoint: "holds", cosignatures: "open" }],
    ["a checkpoint under another key", note, { log: { vkey: key } }, "checkpoint", false, { checkpoint: "open" }],
    ["an object of another form", { hello: 1 }, trust, "unknown", false, { form: "open" }],
    ["nothing", undefined, trust, "unknown", false, { form: "open" }],
    ["any text", "The heron will return by May.", trust, "unknown", false, { form: "open" }],
  ])("says of %s what holds and what was not checked", async (_, thing, by, kind, ok, states) => {
    const verdict = await verify(thing, by)
    assert.deepInclude(verdict, { kind, ok }, JSON.stringify(verdict.checks))
    assert.deepInclude(statesOf(verdict), states)
    for (const { says } of verdict.checks) assert.match(says, /\.$/u)
  })

  const site =
    (asked: Array<string>): typeof fetch =>
    async (input) => {
      asked.push(String(input))
      return String(input).endsWith(".json") ? Response.json(file) : Response.json({ stone: record })
    }

  it("reads a permalink, and its receipt file where a key is named", async () => {
    const asked: Array<string> = []
    const by = { fetch: site(asked) }
    assert.deepInclude(await verify(file.permalink, by), { kind: "stone", ok: true })
    assert.deepInclude(await verify(file.permalink, { ...by, ...trust }), { kind: "receipt", ok: true })
    assert.deepStrictEqual(asked, [file.permalink, `${file.permalink}.receipt.json`])
    const gone = { fetch: async () => new Response("", { status: 404 }) }
    assert.strictEqual((await rejected(verify(file.permalink, gone))).code, "unreachable")
    assert.strictEqual((await rejected(verify("http://altar.example/cosigner/1", by))).code, "insecure_url")
  })

  it("ends with its signal, and leaves no listener there", async () => {
    const ended = new AbortController()
    const never: typeof fetch = () => (ended.abort(new Error("enough")), new Promise(() => {}))
    assert.strictEqual(
      (await rejected(verify(file.permalink, { fetch: never, signal: ended.signal }))).message,
      "enough",
    )
    const { signal } = new AbortController()
    await verify(file.permalink, { fetch: site([]), signal })
    assert.deepStrictEqual(
      [ended.signal, signal].map((each) => getEventListeners(each, "abort").length),
      [0, 0],
    )
  })
})
