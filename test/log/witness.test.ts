/** Our own witness of other logs: it signs what continues what it signed, and remembers that before it says so. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { addCheckpointText, sizeType } from "../../schema/log/AddCheckpoint.ts"
import { base64, type Bytes } from "../../schema/log/Bytes.ts"
import { openCheckpoint } from "../../src/buyer/log/SignedCheckpoint.ts"
import { witnessServing } from "../../src/cli/log/WitnessServe.ts"
import { keyTypes } from "../../schema/log/Note.ts"
import { fromText, generate } from "../../src/log/Signer.ts"
import { nameOf } from "../../src/log/witness/Memory.ts"
import { cosignerOf, ownWitness, policyOf } from "../lab/log/Witnesses.ts"
import { goldenLeaves, goldenLog, MemoryLog } from "../lab/log/MemoryLog.ts"
import { origin, signer } from "../lab/log/LogFixture.ts"
import { assert, suite } from "../lab/Suites.ts"
import { newFolder } from "../lab/Folders.ts"

const post = (url: string, body: string) =>
  Effect.promise(async () => {
    const answer = await fetch(`${url}/add-checkpoint`, { method: "POST", body })
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() }
  })

const noteAt = (log: MemoryLog, size: number, by = signer) =>
  by.note({ origin: by.name, size, root: Uint8Array.from(log.rootAt(size)), extensions: [] })

const asking = (log: MemoryLog, old: number, size: number) =>
  addCheckpointText({
    old,
    hashes: old === 0 || old === size ? [] : log.consistency(old, size),
    note: noteAt(log, size),
  })

const log = goldenLog(300)

suite(
  "a log witness",
  Layer.empty,
  (it) => {
    it.each([
      ["an Ed25519 key", undefined],
      ["a post-quantum key", keyTypes.mlDsa],
    ] as const)(
      "with %s signs each checkpoint that continues the last one, and stores it on disk",
      function* ([, type]) {
        // A post-quantum signature is never of time 0.
        yield* TestClock.adjust("1 hour")
        const witness = yield* ownWitness("w.example/w", { cosigner: cosignerOf("w.example/w", type) })
        const lines = new Set<string>()
        const sizes = [0, 1, 7, 8, 255, 256, 300, 300]
        for (const [at, size] of sizes.entries()) {
          const { status, text } = yield* post(witness.url, asking(log, sizes[at - 1] ?? 0, size))
          assert.strictEqual(status, 200, text)
          lines.add(text)
          const stored = readFileSync(join(witness.folder, `${nameOf(origin)}.checkpoint`), "utf8")
          assert.strictEqual(stored, noteAt(log, size) + text)
          const trust = { vkey: signer.vkey, witnesses: policyOf([witness], "all") }
          const opened = yield* Effect.promise(() => openCheckpoint(stored, trust))
          if (size > 0) assert.deepInclude(opened, { ok: true, unchecked: [] }, JSON.stringify(opened))
        }
        assert.strictEqual(
          lines.size,
          sizes.length - (type === undefined ? 1 : 0),
          "only Ed25519 signs the same again alike",
        )
        const [line = ""] = [...lines].slice(-1)
        const many = addCheckpointText({ old: 300, hashes: [], note: noteAt(log, 300) + line.repeat(60) })
        assert.strictEqual((yield* post(witness.url, many)).status, 200, "60 other cosignatures fit")
      },
    )

    it("refuses any other with a status for its reason, and signs nothing then", function* () {
      const witness = yield* ownWitness("w.example/w")
      const ask = (body: string) => post(witness.url, body)
      assert.strictEqual((yield* ask(asking(log, 0, 8))).status, 200)
      const stranger = Result.getOrThrow(Result.flatMap(generate("stranger.example/log"), fromText))
      const impostor = Result.getOrThrow(Result.flatMap(generate(origin), fromText))
      const note = (by: typeof signer, size: number) => noteAt(log, size, by)
      const fork = new MemoryLog().append(goldenLeaves(1000, 1300))
      const next = asking(log, 8, 9)
      const told = (old: number, hashes: ReadonlyArray<Bytes>, signed: string) =>
        addCheckpointText({ old, hashes, note: signed })
      const rooted = signer.note({ origin, size: 0, root: Uint8Array.from(log.rootAt(8)), extensions: [] })
      const cases: ReadonlyArray<readonly [what: string, status: number, body: string]> = [
        ["nothing", 400, ""],
        ["no note", 400, told(8, [], "hello\n")],
        ["an older size than the old", 400, told(9, [], note(signer, 8))],
        ["a log that is not known", 404, told(0, [], note(stranger, 9))],
        ["another key of that name", 403, told(8, log.consistency(8, 9), note(impostor, 9))],
        ["a wrong signature", 403, next.replace("\n9\n", "\n10\n")],
        ["from the beginning again", 409, asking(log, 0, 9)],
        ["a rollback", 409, asking(log, 0, 7)],
        ["a rollback from where it is", 400, told(8, [], note(signer, 7))],
        ["no proof", 422, told(8, [], note(signer, 9))],
        ["another proof", 422, told(8, log.consistency(7, 9), note(signer, 9))],
        ["a fork", 422, told(8, fork.consistency(8, 9), noteAt(fork, 9))],
        ["a fork of the same size", 422, told(8, [], noteAt(fork, 8))],
        ["a proof where there is none", 422, told(8, log.consistency(7, 8), note(signer, 8))],
        ["an empty log with a root", 422, told(0, [], rooted)],
        ["more than fits", 400, next + "x".repeat(100_000)],
      ]
      for (const [what, status, body] of cases) {
        const answer = yield* ask(body)
        assert.strictEqual(answer.status, status, `${what}: ${answer.text}`)
        assert.notInclude(answer.text, "— w.example", what)
        if (status === 409) assert.deepStrictEqual([answer.type, answer.text], [sizeType, "8\n"], what)
      }
      assert.strictEqual((yield* ask(asking(log, 8, 9))).status, 200)
      const shown = yield* Effect.promise(() => fetch(`${witness.url}/${nameOf(origin)}/checkpoint`))
      assert.strictEqual(shown.status, 200)
      assert.include(yield* Effect.promise(() => shown.text()), noteAt(log, 9))
      const unknown = yield* Effect.promise(() => fetch(`${witness.url}/${nameOf("other")}/checkpoint`))
      assert.strictEqual(unknown.status, 404)
    })

    it("signs one of two histories, also when both come at once or after a restart", function* () {
      const folder = newFolder()
      const cosigner = cosignerOf("w.example/w")
      const witness = yield* ownWitness("w.example/w", { cosigner, folder })
      const fork = new MemoryLog().append(goldenLeaves(500, 520))
      const answers = yield* Effect.all(
        Array.from({ length: 12 }, (_, at) => post(witness.url, asking(at % 2 === 0 ? log : fork, 0, 10 + (at % 3)))),
        { concurrency: "unbounded" },
      )
      assert.lengthOf(
        answers.filter(({ status }) => status === 200),
        1,
      )
      const signed = readFileSync(join(folder, `${nameOf(origin)}.checkpoint`), "utf8")
      const [, size = ""] = signed.split("\n")
      yield* witness.stop
      const again = yield* ownWitness("w.example/w", { cosigner, folder })
      const other = signed.includes(base64(log.rootAt(Number(size)))) ? fork : log
      assert.strictEqual((yield* post(again.url, asking(other, 0, 20))).status, 409)
      assert.strictEqual((yield* post(again.url, asking(other, Number(size), 20))).status, 422)
    })

    it("signs nothing without its memory, and shares its folder with no other witness", function* () {
      const folder = newFolder()
      const witness = yield* ownWitness("w.example/w", { folder })
      const start = (...logs: ReadonlyArray<string>) => {
        const flags = { name: "w.example/w", log: logs, data: folder, host: "127.0.0.1", port: 0, postQuantum: false }
        return Effect.provide(Effect.flip(witnessServing(flags)), NodeServices.layer)
      }
      assert.match((yield* start(signer.vkey)).message, /cannot be locked: another witness uses it/u)
      assert.notInclude(readdirSync(folder), "key")
      const other = Result.getOrThrow(Result.flatMap(generate(origin), fromText))
      assert.match((yield* start(signer.vkey, other.vkey)).message, /is named twice/u)
      assert.strictEqual((yield* post(witness.url, asking(log, 0, 8))).status, 200)
      writeFileSync(join(folder, `${nameOf(origin)}.checkpoint`), "nonsense")
      const lost = yield* post(witness.url, asking(log, 8, 9))
      assert.deepStrictEqual([lost.status, lost.text.includes("— ")], [500, false])
    })

    it("keeps several logs apart", function* () {
      const other = Result.getOrThrow(Result.flatMap(generate("other.example/log"), fromText))
      const witness = yield* ownWitness("w.example/w", { logs: [signer.vkey, other.vkey] })
      const theirs = addCheckpointText({ old: 0, hashes: [], note: noteAt(log, 5, other) })
      for (const body of [asking(log, 0, 8), theirs]) assert.strictEqual((yield* post(witness.url, body)).status, 200)
    })
  },
  { excludeTestServices: false },
)
