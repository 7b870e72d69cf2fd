/** Stones as their readers meet them: listed, linked, revealed once, and never served from a broken chain. */
import { createHash } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { seal } from "../../src/altar/Hashes.ts"
import { spiritIds } from "../../schema/altar/Spirit.ts"
import { ask, layer as world, newCommitment, newKey, newPayer, pay, post, TestServer } from "../lab/Fixture.ts"
import { assertAnswer } from "../lab/AnswerAssertions.ts"

const recordOf = (
  text: string,
): { id: string; sequence: number; chainHash: string; spirit: string; [member: string]: unknown } =>
  JSON.parse(text).record

layer(world(), { excludeTestServices: true })("a witness stone", (it) => {
  it.effect("has exactly the fields of the specification, and hashes", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const payer = yield* newPayer()
      const commitment = newCommitment()
      const { answer } = yield* pay(payer, `${url}/api/witness`, { commitment, kind: "prediction", agentName: "Wren" })
      const record = recordOf(answer.text)
      assert.deepStrictEqual(Object.keys(record), [
        "id",
        "permalink",
        "commitment",
        "kind",
        "spirit",
        "witnessedAt",
        "sequence",
        "chainHash",
        "previousHash",
        "payer",
        "transaction",
        "verify",
      ])
      assert.strictEqual(record.spirit, spiritIds[Number(BigInt(`0x${commitment}`) % 24n)])
      const link = [record["previousHash"], record.sequence, commitment, record["witnessedAt"], record["transaction"]]
      assert.strictEqual(createHash("sha256").update(link.join("\0")).digest("hex"), record.chainHash)
      assert.strictEqual(record["permalink"], `${url}/witness/${record.id}`)

      const one = yield* ask(`${url}/api/witness/${record.id}`)
      assert.strictEqual(one.status, 200)
      const { receipt, stone } = JSON.parse(one.text)
      assert.deepStrictEqual(stone, { ...record, agentName: "Wren", reveal: null })
      const { finality, ...first } = receipt
      assert.include(["pending", "final"], finality, "a read says how the transfer stands")
      assert.deepStrictEqual(first, JSON.parse(answer.text).receipt)
      const act = JSON.parse((yield* ask(`${url}/api/acts/${record.id}`)).text).act
      const stored = { ...act.receipt, finality }
      assert.deepStrictEqual([act.act, act.record, stored], ["setWitnessStone", record, receipt])
    }),
  )

  it.effect("is revealed once, by its own salt and words", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const payer = yield* newPayer()
      const salt = "a salt of sixteen or more"
      const text = "  Ich weiß, dass die Äpfel\r\nreif werden. "
      const { answer } = yield* pay(payer, `${url}/api/witness`, { commitment: seal(salt, text) })
      const reveal = `${url}/api/witness/${recordOf(answer.text).id}/reveal`

      const wrong = yield* ask(reveal, post({ salt, text: "Something else." }))
      assertAnswer(wrong, 409, "commitment_mismatch")
      const first = yield* ask(reveal, post({ salt, text, agentName: "Wren" }))
      assert.strictEqual(first.status, 201, first.text)
      assert.strictEqual(JSON.parse(first.text).stone.reveal.text, text)
      const again = yield* ask(reveal, post({ salt, text }))
      assert.deepStrictEqual([again.status, again.json["replayed"]], [200, true])
      // Other spelling, same commitment: the first reveal stands and the data is the same after normalization.
      const normalized = yield* ask(reveal, post({ salt, text: text.trim().replace("\r\n", "\n") }))
      assert.strictEqual(normalized.status, 200)
      assert.strictEqual((yield* ask(reveal, post({ salt, text, agentName: "Wren" }))).status, 200)
      for (const body of [
        { salt, text: "Something else." },
        { salt, text, agentName: "Finch" },
      ]) {
        const other = yield* ask(reveal, post(body))
        assertAnswer(other, 409, "already_revealed")
      }
    }),
  )

  it.effect(
    "keeps the first of two names that are given at once, and says so to the other; one given later is refused",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestServer
        const payer = yield* newPayer()
        const [salt, text] = ["a salt of sixteen or more", "Two wrens."]
        const { answer } = yield* pay(payer, `${url}/api/witness`, { commitment: seal(salt, text) })
        const id = recordOf(answer.text).id
        const names = ["Wren", "Finch", "Wren", "Finch", "Wren", "Finch"]
        const answers = yield* Effect.forEach(
          names,
          (agentName) => ask(`${url}/api/witness/${id}/reveal`, post({ salt, text, agentName })),
          { concurrency: "unbounded" },
        )
        const kept = JSON.parse((yield* ask(`${url}/api/witness/${id}`)).text).stone.reveal.agentName
        assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 200, 201, 409, 409, 409])
        assert.isTrue(answers.every(({ status }, index) => (status === 409) === (names[index] !== kept)))

        const nameless = yield* pay(payer, `${url}/api/witness`, { commitment: seal(salt, text) })
        const reveal = `${url}/api/witness/${recordOf(nameless.answer.text).id}/reveal`
        assert.strictEqual((yield* ask(reveal, post({ salt, text }))).status, 201)
        const named = yield* ask(reveal, post({ salt, text, agentName: "Wren" }))
        assertAnswer(named, 409, "already_revealed")
        assert.strictEqual((yield* ask(reveal, post({ salt, text }))).status, 200)
      }),
  )

  it.effect("reveals take strict bodies of 1 to 280 normalized code points, of stones that exist", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const payer = yield* newPayer()
      const salt = "a salt of sixteen or more"
      const long = "😀".repeat(280)
      const { answer } = yield* pay(payer, `${url}/api/witness`, { commitment: seal(salt, long) })
      const reveal = `${url}/api/witness/${recordOf(answer.text).id}/reveal`
      for (const body of [
        { salt, text: "😀".repeat(281) },
        { salt, text: " \n " },
        { salt: "short", text: "x" },
        { salt },
        { salt, text: "x", more: 1 },
      ]) {
        const refused = yield* ask(reveal, post(body))
        assertAnswer(refused, 400, "bad_request")
      }
      assert.strictEqual((yield* ask(reveal, post({ salt, text: ` ${long}\n` }))).status, 201)
      for (const id of ["3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1", "no-uuid"]) {
        const missing = yield* ask(`${url}/api/witness/${id}/reveal`, post({ salt, text: "x" }))
        assertAnswer(missing, 404, "witness_not_found")
        assert.strictEqual((yield* ask(`${url}/api/witness/${id}`)).json["code"], "witness_not_found")
      }
    }),
  )

  it.effect("cannot be revealed before its payment is settled", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ id: string }>`
        INSERT INTO payment_attempts (id, idempotency_key, fingerprint, act, url, input, network, asset, pay_to, payer,
          nonce, amount_atomic, valid_after, valid_before, signature, payload, from_block, state, accepted_at, next_check_at)
        VALUES (gen_random_uuid(), ${newKey()}, '', 'setWitnessStone', '', '{}', 'eip155:84532', '0x', '0x', '0x', '0x', 10000,
          0, 9999999999, '0x', '{}', 0, 'pending', now(), now() + interval '1 hour') RETURNING id`
      const answer = yield* ask(`${url}/api/witness/${row?.id}/reveal`, post({ salt: "a salt of sixteen", text: "x" }))
      assertAnswer(answer, 409, "witness_not_settled")
      yield* sql`DELETE FROM payment_attempts WHERE id = ${row?.id ?? ""}::uuid`
    }),
  )

  it.effect("is listed newest first, page by page, and in segments", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const payer = yield* newPayer()
      for (const _ of [1, 2, 3]) yield* pay(payer, `${url}/api/witness`, { commitment: newCommitment() })
      const all = JSON.parse((yield* ask(`${url}/api/witness?limit=50`)).text)
      const sequences: ReadonlyArray<number> = all.stones.map((stone: { sequence: number }) => stone.sequence)
      assert.deepStrictEqual(
        sequences,
        [...sequences].sort((a, b) => b - a),
      )
      assert.strictEqual(all.head.sequence, sequences[0])
      assert.isNull(all.next)
      const page = JSON.parse((yield* ask(`${url}/api/witness?limit=2`)).text)
      const next = JSON.parse((yield* ask(`${url}/api/witness?limit=2&before=${page.next}`)).text)
      assert.deepStrictEqual(
        [...page.stones, ...next.stones].map((stone: { sequence: number }) => stone.sequence),
        sequences.slice(0, 4),
      )

      const whole = JSON.parse((yield* ask(`${url}/api/witness/chain`)).text)
      const second = JSON.parse((yield* ask(`${url}/api/witness/chain?from=2&limit=1`)).text)
      assert.deepStrictEqual(second.anchor, { sequence: 1, chainHash: whole.entries[0].chainHash })
      assert.deepStrictEqual(second.entries, [whole.entries[1]])
      assert.strictEqual(second.next, 3)
      const beyond = JSON.parse((yield* ask(`${url}/api/witness/chain?from=1000`)).text)
      assert.deepStrictEqual([beyond.entries, beyond.next, beyond.anchor], [[], null, whole.head])
      for (const query of ["limit=0", "limit=51", "limit=x", "limit=1&limit=2", "before=0", "colour=red"]) {
        assert.strictEqual((yield* ask(`${url}/api/witness?${query}`)).status, 400, query)
      }
      for (const query of ["from=0", "limit=101", "from=9007199254740992", "from=-1", "from=1.5"]) {
        assert.strictEqual((yield* ask(`${url}/api/witness/chain?${query}`)).status, 400, query)
      }
    }),
  )

  it.effect("is not served from a chain that no longer hashes", () =>
    Effect.gen(function* () {
      const { url } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const payer = yield* newPayer()
      const { answer } = yield* pay(payer, `${url}/api/witness`, { commitment: newCommitment() })
      const record = recordOf(answer.text)
      assert.strictEqual((yield* ask(`${url}/api/health`)).status, 200)
      yield* sql`UPDATE witness_stones SET commitment = ${newCommitment()} WHERE sequence = ${record.sequence}::bigint`
      for (const path of ["/api/witness", "/api/witness/chain?limit=100", `/api/witness/${record.id}`]) {
        const broken = yield* ask(`${url}${path}`)
        assert.deepStrictEqual(
          [broken.status, broken.json["code"], broken.json["sequence"]],
          [500, "chain_broken", record.sequence],
          path,
        )
        assert.include(broken.json["message"], `The chain is broken at stone ${record.sequence}: `, path)
        // Known by now, it is asked for on the short way.
        assert.strictEqual((yield* ask(`${url}${path}`)).json["code"], "chain_broken", path)
      }
      const health = yield* ask(`${url}/api/health`)
      assert.strictEqual(health.status, 503)
      assert.strictEqual(JSON.parse(health.text).chain.state, "failing")
      yield* sql`UPDATE witness_stones SET commitment = ${String(record["commitment"])} WHERE sequence = ${record.sequence}::bigint`
      assert.strictEqual((yield* ask(`${url}/api/witness`)).status, 200)
    }),
  )
})
