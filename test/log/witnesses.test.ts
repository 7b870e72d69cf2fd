/** Witnesses of the log over real sockets: an honest witness signs, and a slow, lying or absent one changes nothing. */
import type { ServerResponse } from "node:http"
import { Clock, Effect, type Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { base64, hex, utf8 } from "../../schema/log/Bytes.ts"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { sha256 } from "../../src/log/Tree.ts"
import { Witnesses } from "../../src/log/Witnesses.ts"
import { heldClock, onOwnClock, pass } from "../lab/Clock.ts"
import { cosignerOf, ownWitness, policyOf, strangeWitness, witnessesOf } from "../lab/log/Witnesses.ts"
import {
  forget,
  grow,
  integrateAll,
  newest,
  origin,
  publish,
  resume,
  server,
  stopReason,
  stored,
  takeAway,
  layer as world,
} from "../lab/log/LogFixture.ts"
import { LastSigned } from "../../src/log/LastSigned.ts"
import { patience } from "../lab/Patience.ts"
import { lineOf, open, published, publishedBy, signersOf, withWitnesses } from "../lab/log/WitnessedLog.ts"
import { assert, assertEach, suite } from "../lab/Suites.ts"

suite("the log's witnesses", onOwnClock(world), (it) => {
  it("sign each published checkpoint as it grows, also after a restart of each", function* () {
    const one = yield* ownWitness("one.example/w")
    const two = yield* ownWitness("two.example/w")
    const both = [one, two]
    yield* withWitnesses(
      both,
      Effect.gen(function* () {
        for (const count of [3, 300, 1]) {
          yield* grow(count)
          assert.deepStrictEqual(yield* signersOf((yield* published).note, both), ["one.example/w", "two.example/w"])
        }
      }),
    )
    // A log that does not know any more what they signed is told by a 409, and a witness reads it from its folder.
    yield* one.stop
    const again = yield* ownWitness("one.example/w", { cosigner: one.cosigner, folder: one.folder })
    const { note } = yield* withWitnesses([again, two], Effect.andThen(grow(5), published))
    assert.isTrue((yield* open(note, [again, two])).ok)
    const shown = yield* Effect.promise(() =>
      fetch(`${again.url}/${hex(sha256(utf8(origin)))}/checkpoint`).then((answer) => answer.text()),
    )
    assert.isTrue((yield* open(shown, [again], "any")).ok)
    assert.isTrue(shown.startsWith(note.split("\n\n")[0] ?? "no"))
  })

  it("that are slow, lie, answer 409 for ever or sign with another key delay nothing, and are left out", function* () {
    const good = yield* ownWitness("good.example/w")
    const wrongKey = cosignerOf("wrong.example/w")
    const elsewhere = yield* ownWitness("elsewhere.example/w")
    const status =
      (code: number, headers = {}) =>
      (_: string, response: ServerResponse) =>
        void response.writeHead(code, headers).end()
    const size = (of: (body: string) => number) => (body: string, response: ServerResponse) =>
      void response.writeHead(409, { "content-type": "text/x.tlog.size" }).end(`${of(body)}\n`)
    const answers: Readonly<Record<string, Parameters<typeof strangeWitness>[1]>> = {
      slow: () => {},
      dripping: (_, response) => {
        response.writeHead(200)
        const timer = setInterval(() => response.write("— "), 50)
        response.on("close", () => clearInterval(timer))
      },
      endless: (_, response) => {
        response.writeHead(200)
        const more = () => {
          while (!response.destroyed && response.write("x".repeat(65_536)));
        }
        response.on("drain", more)
        more()
      },
      garbage: (_, response) => void response.end("yes\n"),
      impostor: (body, response) => void response.end(lineOf(wrongKey, body)),
      ever: size(() => 1),
      counting: size((body) => Number(/^old (\d+)/u.exec(body)?.[1]) + 1),
      ahead: size(() => 9_000_000),
      nowhere: status(404),
      forbidden: status(403),
      doubting: status(422),
      // It would sign with its right key, if it stood where the policy says.
      redirecting: status(307, { location: `${elsewhere.url}/add-checkpoint` }),
    }
    const strange = yield* Effect.forEach(Object.entries(answers), ([name, answer]) =>
      strangeWitness(`${name}.example/w`, answer),
    )
    const all = [good, ...strange]
    // However long a step takes here, no pause has ended before the clock is advanced.
    const { clock, put } = yield* heldClock
    const waitsMs = patience(2)
    yield* withWitnesses(
      all,
      Effect.gen(function* () {
        yield* grow(40)
        const started = performance.now()
        const { note } = yield* published
        // Once for the slowest, and again for those in doubt.
        assert.isBelow(performance.now() - started, 2 * waitsMs + patience(2))
        assert.deepStrictEqual(yield* signersOf(note, all, "any"), ["good.example/w"])
        assert.deepStrictEqual((yield* stored).stopped, Option.none(), "a lie stops no log")
        for (const { asked, name } of strange) assert.isAtMost(asked.times, 3, name)
        // A failed witness pauses, and is not asked for the next stone.
        const times = strange.map(({ asked }) => asked.times)
        yield* grow(1)
        assert.deepStrictEqual(yield* signersOf((yield* published).note, all, "any"), ["good.example/w"])
        assertEach(strange, ({ asked }) => asked.times, times)
        // Its rest of a second over, each is asked again.
        put(clock.currentTimeMillisUnsafe() + 1000)
        yield* grow(1)
        yield* published
        for (const [index, { asked, name }] of strange.entries()) assert.isAbove(asked.times, times[index] ?? 0, name)
      }).pipe(Effect.provideService(Clock.Clock, clock)),
      { waitsMs },
    )
  })

  it("that were away sign the published checkpoint later", function* () {
    let isAway = true
    const cosigner = cosignerOf("late.example/w")
    const late = yield* strangeWitness(
      "late.example/w",
      (body, response) => {
        if (isAway) return void response.writeHead(503).end()
        response.end(lineOf(cosigner, body))
      },
      cosigner,
    )
    yield* withWitnesses(
      [late],
      Effect.gen(function* () {
        yield* grow(1)
        const bare = yield* published
        assert.isFalse((yield* open(bare.note, [late])).ok)
        isAway = false
        yield* pass(1000)
        assert.isFalse(yield* publish)
        const { note, size } = yield* newest
        assert.strictEqual(size, bare.size)
        assert.isTrue((yield* open(note, [late])).ok)
        assert.isTrue(note.startsWith(bare.note))
      }),
    )
  })

  it("tell a server without memory what they signed before it signs, and stop a restored backup", function* () {
    const { note: held, size } = yield* withWitnesses([], Effect.andThen(grow(5), published), { quorum: "none" })
    const left = yield* takeAway(3)
    yield* forget
    const witness = yield* strangeWitness(
      "asked.example/w",
      (_, response, { method }) => void (method === "GET" ? response.end(held) : response.writeHead(404).end()),
    )
    yield* withWitnesses(
      [witness],
      Effect.gen(function* () {
        yield* integrateAll
        assert.strictEqual((yield* Effect.flip(publish))._tag, "LogStopped")
        assert.match(
          yield* stopReason,
          new RegExp(
            `witness asked\\.example/w holds covers ${size} stones, .* has ${left} .*a backup was restored`,
            "u",
          ),
        )
        yield* resume
        yield* grow(20)
        assert.strictEqual((yield* Effect.flip(publish))._tag, "LogStopped", "what it said is not forgotten")
      }),
      { lastSigned: LastSigned.none },
    )
    const client = yield* SqlClient.SqlClient
    const signed = yield* client`SELECT size FROM log_checkpoints`
    assert.deepStrictEqual([witness.asked.times, signed], [0, []], "no fork was signed and shown to anybody")
    yield* forget
  })

  it("that signed stones and hide the checkpoint keep an empty database from signing a fork", function* () {
    const real = yield* ownWitness("hiding.example/w")
    // It cosigns as it should, and has no resource for monitors, which is optional.
    const hiding = yield* strangeWitness(
      "hiding.example/w",
      (body, response, { method }) =>
        void (method === "GET"
          ? response.writeHead(404).end()
          : fetch(`${real.url}/add-checkpoint`, { method: "POST", body }).then(async (answer) =>
              response
                .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
                .end(await answer.text()),
            )),
      real.cosigner,
    )
    const asking = <A, E, R>(use: Effect.Effect<A, E, R>) =>
      withWitnesses([hiding], use, { lastSigned: LastSigned.none })
    // A log without any signature continues.
    assert.isTrue((yield* open((yield* asking(Effect.andThen(grow(3), published))).note, [hiding])).ok)
    yield* forget
    const client = yield* SqlClient.SqlClient
    yield* asking(Effect.andThen(integrateAll, publish))
    assert.deepStrictEqual(yield* client`SELECT size FROM log_checkpoints`, [])
    yield* forget
  })

  it("make a proof cacheable for ever once their quorum signed, and only then", function* () {
    const good = yield* ownWitness("good.example/w")
    const absent = { name: "absent", vkey: cosignerOf("absent.example/w").vkey, url: "http://127.0.0.1:1" }
    const both = [good, absent]
    yield* withWitnesses(both, Effect.andThen(grow(1), published), { quorum: "none" })
    const { links } = yield* Effect.flatMap(WitnessChain, (chain) => chain.segment(1, 10_000))
    const isFinal = (lines: Layer.Layer<Witnesses>) =>
      Effect.flatMap(PublishedLog, ({ proof }) => proof(links.at(-1)?.id ?? "")).pipe(
        Effect.map((file) => file.isFinal),
        Effect.provide(publishedBy(lines)),
      )
    assert.isFalse(yield* isFinal(Witnesses.none))
    assert.isFalse(yield* isFinal(witnessesOf(policyOf(both, "none"))))
    assert.isFalse(yield* isFinal(witnessesOf(policyOf(both, "all"))))
    assert.isTrue(yield* isFinal(witnessesOf(policyOf(both, "any"))))
    yield* forget
  })

  it("with a signature that was changed in the database are not served", function* ({ sql: client }) {
    const witness = yield* ownWitness("signing.example/w")
    const lines = witnessesOf(policyOf([witness], "all"))
    const { note, size } = yield* Effect.provide(
      Effect.andThen(Effect.andThen(forget, grow(1)), published),
      server(256, LastSigned.none, undefined, lines),
    )
    const checkpoint = Effect.flatMap(PublishedLog, (one) => one.checkpoint).pipe(Effect.provide(publishedBy(lines)))
    assert.strictEqual((yield* checkpoint).note, note)
    const [own = "", line = ""] = note.split(/(?<=\n)(?=— signing)/u)
    const blob = Buffer.from(line.trim().split(" ")[2] ?? "", "base64")
    blob[40] = 255 - (blob[40] ?? 0)
    const lie = `${own}— signing.example/w ${base64(blob)}\n`
    yield* client`UPDATE log_checkpoints SET note = ${lie} WHERE size = ${size}::bigint`
    assert.strictEqual((yield* Effect.flip(checkpoint))._tag, "LogStopped")
    assert.isTrue(Option.isNone((yield* Effect.provide(Witnesses, lines)).cosigned(lie)))
    yield* forget
  })
})
