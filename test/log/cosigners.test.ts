/** Cosigners of the log over real sockets: an honest cosigner signs, and a slow, lying or absent one changes nothing. */
import type { ServerResponse } from "node:http"
import { assert, layer } from "../lab/It.ts"
import { Clock, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { base64 } from "../../schema/log/Bytes.ts"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { openCheckpoint } from "../../src/buyer/log/SignedCheckpoint.ts"
import { LastSigned } from "../../src/log/LastSigned.ts"
import { LogStore } from "../../src/log/LogStore.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { Cosigners } from "../../src/log/Cosigners.ts"
import { heldClock, onOwnClock, pass } from "../lab/Clock.ts"
import * as Log from "../lab/log/LogFixture.ts"
import { type CosigningKey, cosigningKey, ownCosigner } from "../lab/log/Cosigner.ts"
import { policyOf, strangeCosigner, cosignersOf, type Named } from "../lab/log/Cosigners.ts"
import { patience } from "../lab/Patience.ts"
import type { Answering } from "../lab/proxy/HttpServer.ts"
import { assertEach } from "../lab/Assertions.ts"
import { realClock } from "../lab/TestServices.ts"

/** Runs `use` on a server that asks these cosigners. */
const withCosigners = <A, E, R>(
  cosigners: ReadonlyArray<Named>,
  use: Effect.Effect<A, E, R>,
  {
    lastSigned = Log.sharedMemory,
    waitsMs,
  }: { readonly lastSigned?: typeof Log.sharedMemory; readonly waitsMs?: number } = {},
) => Effect.provide(use, Log.server(256, lastSigned, undefined, cosignersOf(policyOf(cosigners, "all"), waitsMs)))

/** The note that is published after `count` more stones. */
const publishedAfter = (count: number) =>
  Effect.andThen(Log.grow(count), Log.publish).pipe(
    Effect.andThen(Log.newest),
    Effect.map(({ note }) => note),
  )

/** The signature line that a request to a cosigner asks for. */
const lineOf = (key: ReturnType<typeof cosigningKey>, body: string) =>
  key.line(`${body.slice(body.indexOf("\n\n") + 2).split("\n\n")[0]}\n`, 1_700_000_000)

/** The names of the cosigners whose signatures under the note hold; none where they are not enough. */
const signersOf = (note: string, cosigners: ReadonlyArray<Named>, quorum = "all") =>
  Effect.promise(async () => {
    const opened = await openCheckpoint(note, { vkey: Log.signer.vkey, cosigners: policyOf(cosigners, quorum) })
    return opened.ok ? opened.cosignatures.map(({ name }) => name) : []
  })

/** Runs `use` with the published log of a server that trusts these cosigners. */
const withPublished = <A, E, R>(lines: Layer.Layer<Cosigners>, use: Effect.Effect<A, E, R>) =>
  Effect.provide(use, Layer.fresh(PublishedLog.layer(Log.signing).pipe(Layer.provide([LogStore.layer, lines]))))

const size = (of: (body: string) => number) => (body: string, response: ServerResponse) =>
  void response.writeHead(409, { "content-type": "text/x.tlog.size" }).end(`${of(body)}\n`)
/** The answers of strange cosigners. One signs with a wrong key, one redirects to a right one. */
const strangeAnswers = (wrong: CosigningKey, elsewhere: string): Readonly<Record<string, Answering>> => ({
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
  impostor: (body, response) => void response.end(lineOf(wrong, body)),
  ever: size(() => 1),
  counting: size((body) => Number(/^old (\d+)/u.exec(body)?.[1]) + 1),
  ahead: size(() => 9_000_000),
  doubting: (_, response) => void response.writeHead(422).end(),
  // The right key signs at another address, and redirects are not followed.
  redirecting: (_, response) => void response.writeHead(307, { location: `${elsewhere}/add-checkpoint` }).end(),
})

layer(onOwnClock(Log.logWorld), realClock)("the log's cosigners", (it) => {
  it.effect("sign each published checkpoint as it grows, also after a restart of each", function* () {
    const one = yield* ownCosigner("one.example/w")
    const two = yield* ownCosigner("two.example/w")
    const names = ["one.example/w", "two.example/w"]
    const grown = Effect.forEach([3, 300], publishedAfter)
    for (const note of yield* withCosigners([one, two], grown))
      assert.deepStrictEqual(yield* signersOf(note, [one, two]), names)
    // A restarted log does not know what its cosigners signed. Their 409 tells it.
    yield* one.stop
    const again = yield* ownCosigner("one.example/w", { key: one.key, memory: one.memory })
    const note = yield* withCosigners([again, two], publishedAfter(5))
    assert.deepStrictEqual(yield* signersOf(note, [again, two]), names)
  })

  it.effect("that are slow, lie, answer 409 for ever or use another key delay nothing, and are left out", function* () {
    const good = yield* ownCosigner("good.example/w")
    const wrongKey = cosigningKey("wrong.example/w")
    const elsewhere = yield* ownCosigner("elsewhere.example/w")
    const strange = yield* Effect.forEach(Object.entries(strangeAnswers(wrongKey, elsewhere.url)), ([name, answer]) =>
      strangeCosigner(`${name}.example/w`, answer),
    )
    const all = [good, ...strange]
    // However long a step takes here, no pause has ended before the clock is advanced.
    const { clock, put } = yield* heldClock
    const waitsMs = patience(0.5)
    yield* withCosigners(
      all,
      Effect.gen(function* () {
        const started = performance.now()
        const first = yield* publishedAfter(40)
        // One timeout for the signatures, and one for the checkpoints of cosigners in doubt.
        assert.isBelow(performance.now() - started, 2 * waitsMs + patience(2))
        assert.deepStrictEqual((yield* Log.stored).stopped, Option.none(), "a lie stops no log")
        for (const { requests, name } of strange) assert.isAtMost(requests.times, 3, name)
        // A failed cosigner pauses, and is not asked for the next stone.
        const times = strange.map(({ requests }) => requests.times)
        for (const note of [first, yield* publishedAfter(1)])
          assert.deepStrictEqual(yield* signersOf(note, all, "any"), ["good.example/w"])
        assertEach(strange, ({ requests }) => requests.times, times)
        // Its rest of a second over, each is asked again.
        put(clock.currentTimeMillisUnsafe() + 1000)
        yield* publishedAfter(1)
        for (const [index, { requests, name }] of strange.entries())
          assert.isAbove(requests.times, times[index] ?? 0, name)
      }).pipe(Effect.provideService(Clock.Clock, clock)),
      { waitsMs },
    )
  })

  it.effect("that were away sign the published checkpoint later", function* () {
    let isAway = true
    const key = cosigningKey("late.example/w")
    const late = yield* strangeCosigner(
      "late.example/w",
      (body, response) => {
        if (isAway) return void response.writeHead(503).end()
        response.end(lineOf(key, body))
      },
      key,
    )
    yield* withCosigners(
      [late],
      Effect.gen(function* () {
        const bare = yield* publishedAfter(1)
        assert.deepStrictEqual(yield* signersOf(bare, [late]), [])
        isAway = false
        yield* pass(1000)
        assert.isFalse(yield* Log.publish)
        const { note } = yield* Log.newest
        assert.deepStrictEqual(yield* signersOf(note, [late]), ["late.example/w"])
        assert.isTrue(note.startsWith(bare))
      }),
    )
  })

  it.effect("tell a server without memory what they signed before it signs, and stop a restored backup", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* Log.forget
    const published = Effect.andThen(Effect.andThen(Log.grow(5), Log.publish), Log.newest)
    const { note: held, size } = yield* Effect.provide(published, Log.server(256))
    const left = yield* Log.takeAway(3)
    yield* Log.forget
    const cosigner = yield* strangeCosigner(
      "asked.example/w",
      (_, response, { method }) => void (method === "GET" ? response.end(held) : response.writeHead(404).end()),
    )
    yield* withCosigners(
      [cosigner],
      Effect.gen(function* () {
        yield* Log.integrateAll
        assert.strictEqual((yield* Effect.flip(Log.publish))._tag, "LogStopped")
        assert.match(
          yield* Log.stopReason,
          new RegExp(
            `cosigner asked\\.example/w holds covers ${size} stones, .* has ${left} .*a backup was restored`,
            "u",
          ),
        )
        yield* Log.resume
        yield* Log.grow(20)
        assert.strictEqual((yield* Effect.flip(Log.publish))._tag, "LogStopped", "what it said is not forgotten")
      }),
      { lastSigned: LastSigned.memory },
    )
    const signed = yield* sql`SELECT size FROM log_checkpoints`
    assert.deepStrictEqual([cosigner.requests.times, signed], [0, []], "no fork was signed and shown to anybody")
    yield* Log.forget
  })

  it.effect("that signed stones and hide the checkpoint keep an empty database from signing a fork", function* () {
    const sql = yield* SqlClient.SqlClient
    const real = yield* ownCosigner("hiding.example/w")
    // It cosigns as it should, and has no resource for monitors, which is optional.
    const hiding = yield* strangeCosigner(
      "hiding.example/w",
      (body, response, { method }) =>
        void (method === "GET"
          ? response.writeHead(404).end()
          : fetch(`${real.url}/add-checkpoint`, { method: "POST", body }).then(async (answer) =>
              response
                .writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
                .end(await answer.text()),
            )),
      real.key,
    )
    const asking = <A, E, R>(use: Effect.Effect<A, E, R>) =>
      withCosigners([hiding], use, { lastSigned: LastSigned.memory })
    // The cosigner has signed nothing yet, so an empty database may sign.
    yield* Log.forget
    const note = yield* asking(publishedAfter(3))
    assert.deepStrictEqual(yield* signersOf(note, [hiding]), ["hiding.example/w"])
    yield* Log.forget
    yield* asking(Effect.andThen(Log.integrateAll, Log.publish))
    assert.deepStrictEqual(yield* sql`SELECT size FROM log_checkpoints`, [])
    yield* Log.forget
  })

  it.effect("make a proof cacheable for ever once their quorum signed, and only then", function* () {
    const good = yield* ownCosigner("good.example/w")
    const absent = { name: "absent", vkey: cosigningKey("absent.example/w").vkey, url: "http://127.0.0.1:1" }
    const both = [good, absent]
    yield* withCosigners(both, publishedAfter(1))
    const { links } = yield* Effect.flatMap(WitnessChain, (chain) => chain.segment(1, 10_000))
    const proof = Effect.flatMap(PublishedLog, (log) => log.proof(links.at(-1)?.id ?? ""))
    const isFinal = (lines: Layer.Layer<Cosigners>) => Effect.map(withPublished(lines, proof), (file) => file.isFinal)
    assert.isFalse(yield* isFinal(Cosigners.none))
    for (const [quorum, expected] of Object.entries({ none: false, all: false, any: true }))
      assert.strictEqual(yield* isFinal(cosignersOf(policyOf(both, quorum))), expected, quorum)
    yield* Log.forget
  })

  it.effect("with a signature that was changed in the database are not served", function* () {
    const sql = yield* SqlClient.SqlClient
    const cosigner = yield* ownCosigner("signing.example/w")
    const lines = cosignersOf(policyOf([cosigner], "all"))
    const note = yield* withCosigners([cosigner], publishedAfter(1), { lastSigned: LastSigned.memory })
    const checkpoint = withPublished(
      lines,
      Effect.flatMap(PublishedLog, (log) => log.checkpoint),
    )
    assert.strictEqual((yield* checkpoint).note, note)
    const [own = "", line = ""] = note.split(/(?<=\n)(?=— signing)/u)
    const blob = Buffer.from(line.trim().split(" ")[2] ?? "", "base64")
    blob[40] = 255 - (blob[40] ?? 0)
    yield* sql`UPDATE log_checkpoints SET note = ${`${own}— signing.example/w ${base64(blob)}\n`} WHERE note = ${note}`
    assert.strictEqual((yield* Effect.flip(checkpoint))._tag, "LogStopped")
    yield* Log.forget
  })
})
