/** Stones as readers find them: listed, linked, revealed once, and in segments. */
import { buy } from "../lab/buyer/Purchase.ts"
import { createHash } from "node:crypto"
import { assert, layer } from "../lab/It.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { seal } from "../../src/altar/Hashes.ts"
import { ask, newCommitment, newKey, post, read, realClock, TestServer, world } from "../lab/Fixture.ts"
import { assertAnswer, valuesOf } from "../lab/Assertions.ts"

const salt = "a salt of sixteen or more"

const sequencesOf = (stones: ReadonlyArray<{ readonly sequence: number }>) => stones.map(({ sequence }) => sequence)

/** A sealed stone, and what is answered to a reveal of it. */
const sealed = Effect.fnUntraced(function* (text: string) {
  const { id, verify } = (yield* buy("/api/witness", { commitment: seal(salt, text) })).record
  return { id, reveal: (body: object) => ask(verify.revealUrl, post(body)) }
})

layer(world(), realClock)("a witness stone", (it) => {
  it.effect("hashes to its link, and is read as it was sold", function* () {
    const { url } = yield* TestServer
    const commitment = newCommitment()
    const body = { commitment, kind: "prediction", agentName: "Wren" }
    const { receipt: first, record } = yield* buy("/api/witness", body)
    assert.strictEqual(record.spirit, spiritIds[Number(BigInt(`0x${commitment}`) % 24n)])
    const link = [record.previousHash, record.sequence, commitment, record.witnessedAt, record.transaction]
    assert.strictEqual(createHash("sha256").update(link.join("\0")).digest("hex"), record.chainHash)
    assert.deepInclude(record, { kind: "prediction", permalink: `${url}/witness/${record.id}` })
    assert.match(record.verify.recipe, /previousHash 0x00 sequence 0x00 commitment 0x00 witnessedAt 0x00 transaction/u)
    const { receipt, stone } = yield* read(`/api/witness/${record.id}`)
    assert.deepStrictEqual(stone, { ...record, agentName: "Wren", reveal: null })
    assert.deepInclude(receipt, first)
  })

  it.effect("is revealed once, by its own salt and words", function* () {
    const text = "  Ich weiß, dass die Äpfel\r\nreif werden. "
    const { reveal } = yield* sealed(text)
    assertAnswer(yield* reveal({ salt, text: "Something else." }), 409, "commitment_mismatch")
    const first = yield* reveal({ salt, text, agentName: "Wren" })
    assert.deepStrictEqual([first.status, JSON.parse(first.text).stone.reveal.text], [201, text])
    for (const same of [
      { salt, text },
      // The same after normalization: the first reveal stands.
      { salt, text: text.trim().replace("\r\n", "\n") },
      { salt, text, agentName: "Wren" },
    ]) {
      const again = yield* reveal(same)
      assert.deepStrictEqual([again.status, again.json["replayed"]], [200, true])
    }
    for (const other of [
      { salt, text: "Something else." },
      { salt, text, agentName: "Finch" },
    ]) {
      assertAnswer(yield* reveal(other), 409, "already_revealed")
    }
  })

  it.effect("keeps the first of two concurrent names, and accepts none later", function* () {
    const text = "Two wrens."
    const { id, reveal } = yield* sealed(text)
    const names = ["Wren", "Finch", "Wren", "Finch", "Wren", "Finch"]
    const reveals = names.map((agentName) => reveal({ salt, text, agentName }))
    const answers = yield* Effect.all(reveals, { concurrency: "unbounded" })
    const kept = (yield* read(`/api/witness/${id}`)).stone.reveal.agentName
    assert.deepStrictEqual(valuesOf(answers, "status").sort(), [200, 200, 201, 409, 409, 409])
    assert.deepStrictEqual(
      answers.map(({ status }) => status === 409),
      names.map((name) => name !== kept),
    )

    const nameless = yield* sealed(text)
    assert.strictEqual((yield* nameless.reveal({ salt, text })).status, 201)
    assertAnswer(yield* nameless.reveal({ salt, text, agentName: "Wren" }), 409, "already_revealed")
    assert.strictEqual((yield* nameless.reveal({ salt, text })).status, 200)
  })

  it.effect("accepts reveals of 1 to 280 normalized code points, of stones that exist", function* () {
    const { url } = yield* TestServer
    const long = "😀".repeat(280)
    const { reveal } = yield* sealed(long)
    for (const body of [
      { salt, text: "😀".repeat(281) },
      { salt, text: " \n " },
      { salt: "x".repeat(15), text: "x" },
      { salt: "x".repeat(257), text: "x" },
    ]) {
      assertAnswer(yield* reveal(body), 400, "bad_request")
    }
    assert.strictEqual((yield* reveal({ salt, text: ` ${long}\n` })).status, 201)
    for (const id of ["3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1", "no-uuid"]) {
      const reveals = ask(`${url}/api/witness/${id}/reveal`, post({ salt, text: "x" }))
      for (const missing of [yield* reveals, yield* ask(`${url}/api/witness/${id}`)])
        assertAnswer(missing, 404, "witness_not_found")
    }
  })

  it.effect("cannot be revealed before its payment is settled", function* () {
    const { url } = yield* TestServer
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ id: string }>`
      INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, amount_atomic, payment, state,
        accepted_at, next_check_at)
      VALUES (gen_random_uuid(), ${newKey()}, '', 'setWitnessStone', '', '{}', 10000, '{"rail": "card"}', 'pending', now(), now() + interval '1 hour') RETURNING id`
    const answer = yield* ask(`${url}/api/witness/${row?.id}/reveal`, post({ salt, text: "x" }))
    assertAnswer(answer, 409, "witness_not_settled")
    yield* sql`DELETE FROM payment_attempts WHERE id = ${row?.id ?? ""}::uuid`
  })

  it.effect("is listed newest first, page by page, and in segments", function* () {
    const { url } = yield* TestServer
    for (const _ of [1, 2, 3])
      assert.deepInclude((yield* buy("/api/witness", { commitment: newCommitment(), spirit: "kelp-seal" })).record, {
        kind: "intention",
        spirit: "kelp-seal",
      })
    const all = yield* read("/api/witness?limit=50")
    const sequences = sequencesOf(all.stones)
    assert.deepStrictEqual(
      sequences,
      [...sequences].sort((a, b) => b - a),
    )
    assert.deepStrictEqual([all.head.sequence, all.next], [sequences[0], null])
    const page = yield* read("/api/witness?limit=2")
    const next = yield* read(`/api/witness?limit=2&before=${page.next}`)
    assert.deepStrictEqual(sequencesOf([...page.stones, ...next.stones]), sequences.slice(0, 4))

    const whole = yield* read("/api/witness/chain")
    assert.strictEqual((yield* read("/api/field")).stones, whole.head.sequence)
    assert.deepStrictEqual(whole.anchor, { sequence: 0, chainHash: "0".repeat(64) })
    assert.deepInclude(whole.entries[0], { sequence: 1, previousHash: "0".repeat(64) })
    const second = yield* read("/api/witness/chain?from=2&limit=1")
    assert.deepStrictEqual(second.anchor, { sequence: 1, chainHash: whole.entries[0].chainHash })
    assert.deepStrictEqual([second.entries, second.next], [[whole.entries[1]], 3])
    const beyond = yield* read("/api/witness/chain?from=1000")
    assert.deepStrictEqual([beyond.entries, beyond.next, beyond.anchor], [[], null, whole.head])
    for (const query of ["?limit=1&limit=2", "?colour=red", "?before=0", "/chain?from=0", "/chain?limit=101"])
      assert.strictEqual((yield* ask(`${url}/api/witness${query}`)).status, 400, query)
  })
})
