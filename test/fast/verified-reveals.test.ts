/** `verify` against an altar that shows words which nobody sealed: each of them is named, and nothing is said to hold. */
import { createHash } from "node:crypto"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Console, Effect, Option } from "effect"
import { genesisHash } from "../../schema/altar/ChainLink.ts"
import { verifying } from "../../src/cli/verify/Verify.ts"
import { json, serve } from "../lab/proxy/HttpServer.ts"

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

const [salt, text] = ["5c1fd1e6a0bb4e7f9c2d", "The heron will return by May."]
const commitment = sha256(`${salt}\0${text}`)
const other = sha256(`${salt}\0Something that came true.`)

const link = { previousHash: genesisHash, sequence: 1, commitment, witnessedAt: "2026-11-21T00:00:00.000Z" }
const transaction = `0x${"1".repeat(64)}`
const chainHash = sha256([link.previousHash, 1, commitment, link.witnessedAt, transaction].join("\0"))
const entry = { ...link, transaction, chainHash, id: "stone", payer: `0x${"2".repeat(40)}` }

const reveal = { text, salt, hidden: false }
const stone = { id: "stone", act: "setWitnessStone", record: { sequence: 1, commitment }, reveal }
const light = { id: "light", act: "lightDay", record: { intentionCommitment: commitment }, reveal }

/** A chain of one stone, and a list of acts that says whatever it likes. */
const altar = (acts: ReadonlyArray<object>, next: string | null = null) =>
  serve(async (path) =>
    path.startsWith("/api/acts")
      ? json({ acts, next })
      : path.startsWith("/api/witness/chain")
        ? json({ entries: [entry], head: { sequence: 1, chainHash }, next: null })
        : json({}, 404),
  )

const flags = { rpc: Option.none(), payTo: [], log: false, vkey: Option.none(), policy: Option.none() }

const verify = Effect.fnUntraced(function* (url: string, asJson = false) {
  const lines: Array<string> = []
  const log = (line: string) => void lines.push(line)
  yield* Effect.provideService(verifying({ ...flags, url, seen: Option.none(), json: asJson }), Console.Console, {
    ...globalThis.console,
    log,
  })
  return lines.join("\n")
})

const hidden = { ...reveal, text: null, salt: null, hidden: true }
const changed = { ...reveal, text: "Something that came true." }

const lies: ReadonlyArray<readonly [what: string, act: object, says: RegExp]> = [
  ["other words of a stone", { ...stone, reveal: changed }, /^Broken: BROKEN at stone 1: it shows other words than/u],
  [
    "another salt",
    { ...stone, reveal: { ...reveal, salt: "0".repeat(20) } },
    /^Broken: BROKEN at stone 1: it shows oth/u,
  ],
  ["words without their salt", { ...stone, reveal: { ...reveal, salt: null } }, /stone 1: .* without their salt/u],
  ["words without any salt", { ...stone, reveal: { text, hidden: false } }, /stone 1: .* without their salt/u],
  [
    "other words of a light",
    { ...light, reveal: changed },
    /^Broken: BROKEN at http.*\/acts\/light: it shows other words/u,
  ],
  [
    "words of an act that sealed none",
    { ...light, record: {} },
    /^Broken: BROKEN at http.*\/acts\/light: it shows other/u,
  ],
  [
    "a commitment that the chain does not hold",
    { ...stone, record: { sequence: 1, commitment: other }, reveal: changed },
    /^Broken: BROKEN at stone 1: its revealed words are shown with the commitment .* which is not its own\.$/u,
  ],
  [
    "a stone that the chain does not hold",
    { ...stone, id: "another", record: { sequence: 7, commitment } },
    /^Broken: BROKEN at stone 7: its words are revealed, but it is not in the chain\.$/u,
  ],
  [
    "acts without reveals",
    { ...stone, reveal: undefined },
    /^Trouble: .* cannot be checked: it runs a version before 0\.16/u,
  ],
]

layer(NodeServices.layer, { excludeTestServices: true })("the revealed words of an altar that is verified", (it) => {
  it.effect("hold when they hash to what was sealed, and are counted", () =>
    Effect.gen(function* () {
      const url = yield* altar([stone, light, { ...light, id: "hidden", reveal: hidden }, { ...light, reveal: null }])
      const said = yield* verify(url)
      assert.include(said, "2 reveals: all words that are shown hash to what was sealed. 1 more are hidden")
      const { ok, reveals } = JSON.parse(yield* verify(url, true))
      assert.deepStrictEqual([ok, reveals], [true, { checked: 2, hidden: 1 }])
    }),
  )

  for (const [what, act, says] of lies) {
    it.effect(`are refused, and named, with ${what}`, () =>
      Effect.gen(function* () {
        const url = yield* altar([act])
        const refused = yield* Effect.flip(verify(url))
        assert.match(`${refused._tag}: ${refused.message}`, says)
      }),
    )
  }

  it.effect("are not looked for without an end", () =>
    Effect.gen(function* () {
      const url = yield* altar([stone], "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1")
      assert.match((yield* Effect.flip(verify(url))).message, /leads back to where it was, so it would never end/u)
    }),
  )

  it.effect("that the altar itself refuses to show are told in its own words", () =>
    Effect.gen(function* () {
      const message = "The words revealed under stone do not hash to the commitment that was sealed."
      const url = yield* serve(async () => json({ ok: false, code: "reveal_broken", message }, 500))
      const refused = yield* Effect.flip(verify(url))
      assert.strictEqual(refused._tag, "Broken")
      assert.include(refused.message, message)
    }),
  )
})
