/** Stones sold by a server that is killed twice, each proved by the shipped verifier; `LOG_STONES` says how many. */
import { Effect, Fiber } from "effect"
import { type Link, verifyProof } from "../../src/buyer/index.ts"
import { signer } from "../lab/log/LogFixture.ts"
import { patience } from "../lab/Patience.ts"
import * as ServerProcess from "../lab/server/ServerProcess.ts"
import { type Answer, ask, newCommitment, newPayer, pay, post } from "../lab/Fixture.ts"
import { until } from "../lab/Eventually.ts"
import { covered, place, signingIn } from "../lab/log/LogServer.ts"
import { newFolder } from "../lab/Folders.ts"
import { assert, suite, valuesOf } from "../lab/Suites.ts"

/** Six hundred take minutes: `npm run campaign -- soak`. */
const wanted = Number(process.env["LOG_STONES"] ?? 36)

interface Listed extends Link {
  readonly id: string
}

const allStones = Effect.fnUntraced(function* (url: string) {
  const found: Array<Listed> = []
  for (let query = "limit=50"; ;) {
    const { text } = yield* ask(`${url}/api/witness?${query}`)
    const { next, stones }: { next: number | null; stones: ReadonlyArray<Listed> } = JSON.parse(text)
    found.push(...stones)
    if (next === null) return found
    query = `limit=50&before=${next}`
  }
})

suite("a server that is killed twice", place, (it) => {
  it(
    "sells each stone once, and each is proved",
    function* ({ sql }) {
      const server = yield* ServerProcess.make(yield* signingIn(newFolder()))
      const { url } = server
      const buyer = yield* newPayer()
      const sold = new Set<string>()
      const bodyOf = () => ({ commitment: newCommitment() })
      const keep = (answer: Answer) => {
        if (answer.status === 201) sold.add(JSON.parse(answer.text).record.id)
        return answer.status === 201
      }
      const tryToBuy = Effect.suspend(() =>
        Effect.map(pay(buyer, `${url}/api/witness`, bodyOf()), ({ answer }) => keep(answer)),
      )
      const buy = Effect.gen(function* () {
        const body = bodyOf()
        const { answer, headers } = yield* pay(buyer, `${url}/api/witness`, body)
        if (keep(answer)) return
        yield* ask(`${url}/api/witness`, post(body, headers)).pipe(
          until(`never sold after ${answer.status} ${answer.text}`, keep),
        )
      })
      const six = { concurrency: 6 }
      yield* server.start
      const third = Math.ceil(wanted / 3)
      for (const _ of [1, 2]) {
        yield* Effect.replicateEffect(buy, third, six)
        const dying = yield* Effect.forkChild(Effect.replicateEffect(Effect.exit(tryToBuy), 6, six))
        yield* sql`SELECT id FROM payment_attempts WHERE state = 'pending'`.pipe(
          until("no payment was ever pending", (rows) => rows.length > 0),
        )
        yield* server.kill
        yield* Fiber.join(dying)
        yield* server.start
      }
      yield* Effect.replicateEffect(buy, wanted - 2 * third, six)
      assert.isAtLeast(sold.size, wanted)

      const stones = yield* allStones(url)
      const ids = new Set(stones.map(({ id }) => id))
      for (const id of sold) assert.isTrue(ids.has(id), `${id} was paid for and sold`)
      assert.deepStrictEqual(
        valuesOf(stones, "sequence"),
        stones.map((_, at) => stones.length - at),
      )
      for (const stone of stones) {
        const proof = yield* covered(url, stone.id)
        assert.strictEqual(proof.status, 200)
        const verdict = yield* Effect.promise(() => verifyProof(proof.text, stone, { vkey: signer.vkey }))
        assert.isTrue(verdict.ok, JSON.stringify(verdict))
      }
    },
    patience(wanted > 100 ? 1_200 : 180),
  )
})
