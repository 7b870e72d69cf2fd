/** The auditor finds nothing in what is whole, and every fault that somebody puts into a copy of it. */
import { randomBytes } from "node:crypto"
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import postgres from "postgres"
import { spiritIds } from "../../../schema/altar/Spirit.ts"
import { AppConfig } from "../../../src/Config.ts"
import { Claim } from "../../../src/payments/ledger/Claim.ts"
import { Fail } from "../../../src/payments/ledger/Fail.ts"
import { Lookup } from "../../../src/payments/ledger/Lookup.ts"
import { LocalChain } from "../../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../../src/sandbox/LocalDatabase.ts"
import * as Server from "../../../src/Server.ts"
import { database, sql as ownSql } from "../../support/Database.ts"
import { origin, signer } from "../../support/LogWorld.ts"
import * as Purchase from "../../support/Purchase.ts"
import { broadcast } from "../../support/ThirdParty.ts"
import {
  type Answer,
  ask,
  chain,
  challengeOf,
  configOf,
  encode,
  network,
  newCommitment,
  newKey,
  newPayer,
  post,
  sign,
} from "../../support/World.ts"
import { audit, type GivenAnswer } from "./Audit.ts"

const publicUrl = "https://altar.example"
const otherSpirit = spiritIds.at(-1) ?? ""

/** A server on a database, until its scope ends; where it is asked. */
const serverOn = Effect.fnUntraced(function* (databaseUrl: string) {
  const config = yield* configOf(
    {},
    {
      publicUrl,
      databaseUrl: Redacted.make(databaseUrl),
      log: { signer, origin, checkpointFile: Option.none() },
    },
  )
  yield* Layer.build(
    Layer.fresh(Server.layer(Layer.empty)).pipe(Layer.provide(Layer.succeed(AppConfig, config)), Layer.orDie),
  )
  return `http://127.0.0.1:${config.port}`
})

/** A purchase that failed and one that nobody will pay: their numbers are free, and held. */
const strangers = Effect.fnUntraced(function* (payTo: `0x${string}`, asset: `0x${string}`) {
  const { claim } = yield* Claim
  const { fail } = yield* Fail
  const ids: Array<string> = []
  for (let count = 0; count < 2; count += 1) {
    const outcome = yield* claim({
      idempotencyKey: newKey(),
      fingerprint: "",
      act: "collectMaterial",
      url: `${publicUrl}/api/elements/beeswax/collect`,
      input: { elementId: "beeswax" },
      amountAtomic: 10_000n,
      payment: {
        rail: "x402",
        network,
        authorization: {
          asset,
          from: `0x${randomBytes(20).toString("hex")}`,
          to: payTo,
          value: 10_000n,
          validAfter: 0n,
          validBefore: BigInt(Math.floor(Date.now() / 1000) + 3600),
          nonce: `0x${randomBytes(32).toString("hex")}`,
          signature: `0x${randomBytes(65).toString("hex")}`,
        },
        fromBlock: 0n,
        transaction: Option.none(),
      },
      payload: "{}",
      claims: { slots: [], pool: { name: "edition:beeswax", capacity: 128 } },
      acceptedAtMillis: Date.now(),
      leaseMillis: 60_000,
    })
    if (outcome._tag === "Claimed") ids.push(outcome.attempt.id)
  }
  yield* fail(ids[0] ?? "", "authorization_expired")
})

interface Sold {
  readonly databaseUrl: string
  readonly server: string
  readonly answers: string
}

/** A server that sold every kind of act, its database, and what its buyers were told. */
class Altar extends Context.Service<Altar, Sold>()("test/Altar") {}

const statement = (databaseUrl: string, text: string) =>
  Effect.promise(async () => {
    const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
    try {
      await sql.unsafe(text)
    } finally {
      await sql.end()
    }
  })

/** All rows as they are, beside the tables, and back again; whoever writes meanwhile waits. */
const tables = `SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'`
const keep = `
  CREATE SCHEMA kept;
  DO $$ DECLARE t text; BEGIN FOR t IN ${tables} LOOP
    EXECUTE format('CREATE TABLE kept.%s AS TABLE public.%s', t, t); END LOOP; END $$`
const putBack = `
  SET session_replication_role = replica;
  DROP TRIGGER IF EXISTS later ON payment_attempts;
  DO $$ DECLARE t text; BEGIN
    EXECUTE (SELECT 'TRUNCATE ' || string_agg('public.' || name, ', ') FROM (${tables}) AS t);
    FOR t IN ${tables} LOOP EXECUTE format('INSERT INTO public.%s SELECT * FROM kept.%s', t, t); END LOOP; END $$`

const auditOf = Effect.fnUntraced(function* ({ answers, databaseUrl, server }: Sold) {
  const { asset: token, payTo, rpcUrl } = yield* LocalChain
  const log = () => undefined
  return yield* Effect.promise(() =>
    audit({ databaseUrl, rpcUrl, servers: [server], token, payTo, answersFile: answers, log }),
  )
})

const sold = Effect.gen(function* () {
  const { asset, payTo } = yield* LocalChain
  const databaseUrl = Redacted.value((yield* LocalDatabase).url)
  const answers = join(mkdtempSync(join(tmpdir(), "audit-")), "answers.jsonl")
  const tell = (server: string, url: string, init: RequestInit, answer: Answer) => {
    const sent = new Headers(init.headers)
    const { body } = init
    const given: GivenAnswer = {
      at: Date.now(),
      server,
      method: init.method ?? "GET",
      url,
      key: sent.get("idempotency-key"),
      ...(typeof body === "string" ? { requestBody: body } : {}),
      ...(sent.has("payment-signature") ? { payment: sent.get("payment-signature") ?? "" } : {}),
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: answer.text,
    }
    appendFileSync(answers, `${JSON.stringify(given)}\n`)
    return answer
  }
  yield* strangers(payTo, asset).pipe(
    Effect.provide(Layer.merge(Claim.layer.pipe(Layer.provide(Lookup.layer)), Fail.layer).pipe(Layer.provide(ownSql))),
    Effect.orDie,
  )
  const server = yield* serverOn(databaseUrl)
  const hear = (path: string, init: RequestInit = {}) =>
    Effect.map(ask(`${server}${path}`, init), (answer) => tell(server, `${server}${path}`, init, answer))
  const payer = yield* newPayer(100_000_000n)
  const buy = Effect.fnUntraced(function* (path: string, body: object) {
    const key = { "idempotency-key": newKey() }
    const { accepts, resource } = challengeOf(yield* hear(path, post(body, key)))
    const headers = { ...key, "payment-signature": encode(yield* sign(payer, accepts[0], resource)) }
    const answer = yield* hear(path, post(body, headers))
    assert.strictEqual(answer.status, 201, answer.text)
    yield* hear(path, post(body, headers))
    return answer.json
  })
  const intentionCommitment = newCommitment()
  for (let stones = 0; stones < 3; stones += 1) yield* buy("/api/witness", { commitment: newCommitment() })
  yield* buy("/api/prayers/moss-hare", { agentName: "Wren", intentionCommitment })
  yield* buy("/api/acquire/moss-hare", {})
  yield* buy("/api/elements/beeswax/collect?spirit=moss-hare", { agentName: "Wren" })
  yield* buy("/api/elements/beeswax/collect", {})
  yield* buy("/api/candles/day/moss-hare", { dedication: "For Grandma" })
  assert.strictEqual((yield* hear("/api/acquire/moss-hare", post({}, { "idempotency-key": newKey() }))).status, 409)
  for (const path of ["/api/witness/chain", "/api/publish-chain", "/api/acts", "/api/witness", "/log/checkpoint"]) {
    yield* hear(path)
  }
  yield* Purchase.onChain((client) => client.mine({ blocks: 4 }))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(join(answers, ".."), { recursive: true })))
  // Its log is whole before it is kept.
  yield* auditOf({ databaseUrl, server, answers })
  yield* statement(databaseUrl, keep)
  return Altar.of({ databaseUrl, server, answers })
})

/** What the auditor finds after a change, which is taken back afterwards. */
const auditAfter = Effect.fnUntraced(function* (change: string, answers?: string) {
  const altar = yield* Altar
  yield* Effect.acquireRelease(statement(altar.databaseUrl, change), () => statement(altar.databaseUrl, putBack))
  return yield* auditOf({ ...altar, answers: answers ?? altar.answers })
}, Effect.scoped)

/** A settled act of a kind, in SQL. */
const the = (act: string) =>
  `(SELECT id FROM payment_attempts WHERE act = '${act}' AND state = 'settled' ORDER BY id LIMIT 1)`
const keeper = the("takeIn")

/** Everything that is left of a purchase. */
const forget = (id: string, table: string) => `
  CREATE TEMP TABLE gone AS SELECT ${id} AS id;
  DELETE FROM relayer_broadcasts WHERE attempt_id IN (SELECT id FROM gone);
  DELETE FROM payment_claims WHERE attempt_id IN (SELECT id FROM gone);
  DELETE FROM acts WHERE id IN (SELECT id FROM gone);
  DELETE FROM ${table} WHERE id IN (SELECT id FROM gone);
  UPDATE payment_totals SET settled = settled - 1, settled_atomic = settled_atomic - 10000;
  DELETE FROM payment_attempts WHERE id IN (SELECT id FROM gone)`

/** All stones hashed anew from the first one on, as whoever rewrites history does. */
const rehash = `
  CREATE FUNCTION link(text, bigint, text, text, text) RETURNS text LANGUAGE sql AS $$
    SELECT encode(sha256(convert_to($1, 'UTF8') || '\\x00' || convert_to($2::text, 'UTF8') || '\\x00' ||
      convert_to($3, 'UTF8') || '\\x00' || convert_to($4, 'UTF8') || '\\x00' || convert_to($5, 'UTF8')), 'hex') $$;
  WITH RECURSIVE anew AS (
    SELECT 0::bigint AS sequence, ''::text AS previous, repeat('0', 64) AS hash
    UNION ALL SELECT s.sequence, a.hash, link(a.hash, s.sequence, s.commitment, s.witnessed_at, s.transaction)
    FROM anew a JOIN witness_stones s ON s.sequence = a.sequence + 1
  ) UPDATE witness_stones s SET previous_hash = a.previous, chain_hash = a.hash FROM anew a WHERE a.sequence = s.sequence;
  UPDATE witness_head SET chain_hash = (SELECT chain_hash FROM witness_stones ORDER BY sequence DESC LIMIT 1)`

/** What is changed, and a check that finds it. */
const faults: ReadonlyArray<readonly [name: string, change: string, check: string]> = [
  [
    "an act that is no longer shown",
    `DELETE FROM acts WHERE id = ${keeper}`,
    "a receipt is shown of each settled act, once",
  ],
  ["a purchase that was lost", forget(keeper, "keepers"), "a transfer buys one act"],
  ["a record that was lost", "DELETE FROM keepers", "a settled act has its one record"],
  [
    "a record of another kind beside its own",
    `INSERT INTO candles SELECT ${keeper}, NULL, 'moss-hare', 'day', 'x', NULL, NULL, NULL, NULL, now(), now()`,
    "a settled act has its one record",
  ],
  [
    "an act that was not paid",
    `UPDATE payment_attempts SET nonce = '0x' || repeat('7', 64) WHERE id = ${keeper}`,
    "a settled act was paid once",
  ],
  [
    "an act that costs more than was paid",
    `UPDATE payment_attempts SET amount_atomic = 20000 WHERE id = ${keeper}`,
    "a settled act was paid once",
  ],
  [
    "an act that was paid to somebody else",
    `UPDATE payment_attempts SET pay_to = '0x' || repeat('7', 40) WHERE id = ${keeper}`,
    "a settled act was paid once",
  ],
  [
    "an authorization in two acts",
    `UPDATE payment_attempts a SET payer = b.payer, nonce = b.nonce FROM payment_attempts b WHERE a.id = ${keeper} AND b.id = ${the("offerPrayer")}`,
    "no authorization pays two acts",
  ],
  [
    "a receipt of another transaction",
    `UPDATE acts SET receipt = regexp_replace(receipt, '0x[0-9a-f]{64}', '0x' || repeat('7', 64)) WHERE id = ${keeper}`,
    "a receipt is shown of each settled act, once",
  ],
  [
    "a record that says something else",
    `UPDATE acts SET record = replace(record, 'moss-hare', '${otherSpirit}') WHERE id = ${keeper}`,
    "a record is shown as it was answered",
  ],
  [
    "a settled act that is said to have failed",
    `UPDATE payment_attempts SET state = 'failed', reason = 'x' WHERE id = ${keeper}`,
    "a transfer buys one act",
  ],
  [
    "a paid attempt that stays open",
    `UPDATE payment_attempts SET state = 'pending', next_check_at = now() + interval '1 minute' WHERE id = ${keeper}`,
    "nothing is pending without a reason",
  ],
  [
    "an open attempt that nobody looks at",
    `CREATE OR REPLACE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.next_check_at := now() + interval '1 year'; RETURN NEW; END $$;
    CREATE TRIGGER later BEFORE UPDATE ON payment_attempts FOR EACH ROW EXECUTE FUNCTION later();
    UPDATE payment_attempts SET checks = checks WHERE state = 'pending'`,
    "nothing is pending without a reason",
  ],
  [
    "a paid act that is said to be lost",
    `UPDATE payment_attempts SET finality = 'lost' WHERE id = ${keeper}`,
    "a lost act was not paid",
  ],
  [
    "a total that is one too many",
    "UPDATE payment_totals SET settled = settled + 1",
    "the totals are the sums of the settled acts",
  ],
  [
    "a name that is free again",
    "DELETE FROM payment_claims WHERE name LIKE 'keeper:%'",
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "an authorization that is free again",
    `DELETE FROM payment_claims WHERE attempt_id = ${keeper} AND name LIKE 'authorization:%'`,
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "a name that a failed attempt keeps",
    "INSERT INTO payment_claims SELECT 'keeper:nobody', id FROM payment_attempts WHERE state = 'failed'",
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "a prayer on another day",
    "UPDATE prayers SET day = '2001-01-01'",
    "what is open or settled holds its names, and nothing else does",
  ],
  [
    "a number of a pool that is gone",
    "UPDATE payment_pools SET highest = highest + 1 WHERE name = 'edition:beeswax'",
    "the numbers of a pool are out once, or free",
  ],
  [
    "a number of a pool that is out twice",
    "UPDATE payment_pools SET released = released || 2 WHERE name = 'edition:beeswax'",
    "the numbers of a pool are out once, or free",
  ],
  [
    "an edition of another number",
    "UPDATE collectibles SET edition = 99 WHERE edition = 1",
    "an edition has the number that was claimed",
  ],
  [
    "a stone with another hash",
    "UPDATE witness_stones SET chain_hash = repeat('7', 64) WHERE sequence = 2",
    "the chain of /api/witness/chain follows and hashes from its genesis",
  ],
  [
    "a stone that was lost",
    "DELETE FROM witness_stones WHERE sequence = 2",
    "the chain of /api/witness/chain follows and hashes from its genesis",
  ],
  [
    "a head that went back",
    "UPDATE witness_head SET sequence = 2, chain_hash = (SELECT chain_hash FROM witness_stones WHERE sequence = 2)",
    "the stones are the settled ones",
  ],
  [
    "a history that was rewritten",
    `UPDATE witness_stones SET commitment = repeat('7', 64) WHERE sequence = 1; ${rehash}`,
    "a checkpoint is signed, and of the stones as they are",
  ],
  [
    "a publication of another keeper",
    "UPDATE publications SET keeper = '0x' || repeat('7', 40) WHERE type = 'edition'",
    "the chain of /api/publish-chain follows and hashes from its genesis",
  ],
  [
    "a publication that was lost",
    "DELETE FROM publications WHERE sequence = (SELECT max(sequence) FROM publications); UPDATE publication_head SET sequence = p.sequence, chain_hash = p.chain_hash FROM (SELECT * FROM publications ORDER BY sequence DESC LIMIT 1) p",
    "the publications are the settled editions",
  ],
  [
    "a tile of the log with another hash",
    "UPDATE log_tiles SET hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0))",
    "the log's files are those of its stones",
  ],
  [
    "a checkpoint of another tree",
    "UPDATE log_checkpoints SET root = decode(repeat('77', 32), 'hex')",
    "every stone is in the log",
  ],
  ["a log that stopped", "UPDATE log_head SET stopped_reason = 'x', stopped_at = now()", "every stone is in the log"],
  [
    "an act that was sold for another price",
    "UPDATE payment_attempts SET amount_atomic = 10000 WHERE act = 'lightDay'",
    "an act is paid its price",
  ],
  [
    "a stored answer of another payment",
    `UPDATE payment_attempts SET answer = regexp_replace(answer, '("receipt":.*?"0x)[0-9a-f]{64}', '\\1' || repeat('7', 64)) WHERE id = ${keeper}`,
    "a stored answer names its payment",
  ],
  [
    "a stored answer that changed",
    `UPDATE payment_attempts SET answer = replace(answer, 'moss-hare', '${otherSpirit}') WHERE id = ${keeper}`,
    "an answer of a settled act is the stored one, to the byte",
  ],
  [
    "a stored PAYMENT-RESPONSE that changed",
    `UPDATE payment_attempts SET payment_response = 'e30=' WHERE id = ${keeper}`,
    "an answer of a settled act is the stored one, to the byte",
  ],
  [
    "a purchase whose request is no longer known",
    `UPDATE payment_attempts SET fingerprint = repeat('7', 64) WHERE id = ${keeper}`,
    "a settled purchase is replayed, to the byte, by every server",
  ],
]

/** What buyers were told, in which somebody changes the first answer of a status. */
const toldOtherwise = Effect.fnUntraced(function* (status: number, change: (answer: GivenAnswer) => GivenAnswer) {
  const { answers } = yield* Altar
  const lines = readFileSync(answers, "utf8").trim().split("\n")
  const all = lines.map((line): GivenAnswer => JSON.parse(line))
  const at = all.findIndex((answer) => answer.status === status && answer.key !== null)
  const file = `${answers}.${newKey()}`
  writeFileSync(file, all.map((answer, index) => JSON.stringify(index === at ? change(answer) : answer)).join("\n"))
  return file
})

const refusal = (code: string, message: string) => JSON.stringify({ ok: false, code, message })

const lies: ReadonlyArray<
  readonly [name: string, status: number, change: (answer: GivenAnswer) => GivenAnswer, check: string]
> = [
  [
    "a success of an unknown key",
    201,
    (answer) => ({ ...answer, key: newKey() }),
    "an answer of a settled act is the stored one, to the byte",
  ],
  [
    "a replay that differs by a byte",
    200,
    (answer) => ({ ...answer, body: `${answer.body.slice(0, -1)} }` }),
    "an answer of a settled act is the stored one, to the byte",
  ],
  [
    "a failure of what was paid",
    200,
    (answer) => ({ ...answer, status: 402, body: refusal("payment_failed", "Nothing was charged") }),
    "what was said to have failed was not paid",
  ],
  [
    "a pending attempt that is not there",
    201,
    (answer) => ({ ...answer, key: newKey(), status: 202, body: "{}" }),
    "what was said to be pending is on disk",
  ],
  [
    "an internal error",
    201,
    (answer) => ({ ...answer, status: 500, body: refusal("internal", "x") }),
    "no answer is an internal error",
  ],
  [
    "a checkpoint of another key",
    201,
    (answer) => ({
      ...answer,
      url: `${answer.server}/log/checkpoint`,
      key: null,
      status: 200,
      body: `${origin}\n9\n${"A".repeat(43)}=\n\n— ${origin} AAAA\n`,
    }),
    "every checkpoint and proof that was ever given is of the log",
  ],
  [
    "a link that is not in the chain",
    201,
    (answer) => ({
      ...answer,
      url: `${answer.server}/api/witness/chain`,
      key: null,
      status: 200,
      body: JSON.stringify({ entries: [{ sequence: 1, chainHash: "7".repeat(64) }] }),
    }),
    "every link that was ever shown is in its chain",
  ],
]

layer(Layer.provideMerge(Layer.effect(Altar, sold), Layer.merge(database, chain)), { excludeTestServices: true })(
  "an auditor",
  (it) => {
    it.effect("finds nothing in an altar that is whole, and looks at all of it", () =>
      Effect.gen(function* () {
        const { checks, violations } = yield* auditAfter("SELECT 1")
        assert.deepStrictEqual(violations, [])
        const examined = new Map(checks.map(({ examined, name }) => [name, examined]))
        for (const check of [...faults.map((fault) => fault[2]), ...lies.map((lie) => lie[3])]) {
          // Nothing was lost, pending or refused here that could be looked at.
          if (/lost act|said to (?:be pending|have failed)/u.test(check)) continue
          assert.isAbove(examined.get(check) ?? 0, 0, check)
        }
        assert.strictEqual(examined.get("a transfer buys one act"), 8)
      }),
    )

    it.effect("takes no gift for a purchase, nor what an outsider brought before anybody showed it here", () =>
      Effect.gen(function* () {
        const { server } = yield* Altar
        const giver = yield* newPayer(10_000n)
        yield* Purchase.onChain(async (client, { asset, payTo }) => {
          await client.impersonateAccount({ address: giver.address })
          await client.setBalance({ address: giver.address, value: 10n ** 18n })
          const call = {
            address: asset,
            abi: Purchase.token,
            functionName: "transfer",
            args: [payTo, 10_000n],
          } as const
          const hash = await client.writeContract({ ...call, account: giver.address, chain: null })
          await client.waitForTransactionReceipt({ hash })
        })
        yield* broadcast(yield* Purchase.prepare(server))
        const { checks, violations } = yield* auditAfter("SELECT 1")
        assert.deepStrictEqual(violations, [])
        const examined = new Map(checks.map(({ examined, name }) => [name, examined]))
        assert.strictEqual(examined.get("a gift buys nothing"), 1)
        assert.strictEqual(examined.get("an outsider brought an authorization that nobody ever showed here"), 1)
        assert.strictEqual(examined.get("a transfer buys one act"), 9)
      }),
    )

    for (const [name, change, check] of faults) {
      it.effect(`finds ${name}`, () =>
        Effect.gen(function* () {
          const { violations } = yield* auditAfter(change)
          assert.include(
            violations.map((violation) => violation.check),
            check,
            JSON.stringify(violations, null, 1),
          )
        }),
      )
    }

    for (const [name, status, change, check] of lies) {
      it.effect(`finds ${name} among the answers`, () =>
        Effect.gen(function* () {
          const { violations } = yield* auditAfter("SELECT 1", yield* toldOtherwise(status, change))
          assert.deepStrictEqual([...new Set(violations.map((violation) => violation.check))], [check])
        }),
      )
    }
  },
)
