/** An altar that has sold every kind of act and kept rooms, as an auditor finds it: its rows can be changed, and put back. */
import { hash } from "node:crypto"
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Option, Redacted } from "effect"
import postgres from "postgres"
import { commitmentText } from "../../schema/altar/Recipe.ts"
import { AppConfig } from "../../src/server/config/Config.ts"
import { Claim } from "../../src/payments/ledger/Claim.ts"
import { Fail } from "../../src/payments/ledger/Fail.ts"
import { Lookup } from "../../src/payments/ledger/Lookup.ts"
import { LocalChain } from "../../src/sandbox/LocalChain.ts"
import { LocalDatabase } from "../../src/sandbox/LocalDatabase.ts"
import * as Server from "../../src/server/Server.ts"
import { audit } from "../fire/audit/Audit.ts"
import type { CardAccount } from "../fire/audit/Cards.ts"
import type { GivenAnswer } from "../fire/audit/Given.ts"
import * as CardProcessor from "./CardProcessor.ts"
import { cardsOf, credentialFor, Processor, processor } from "./Cards.ts"
import { database, sql as ownSql } from "./Database.ts"
import { newIntent, newPayment } from "./Intents.ts"
import { origin, signer } from "./LogWorld.ts"
import { patience } from "./Patience.ts"
import * as Purchase from "./Purchase.ts"
import { bearer, from, json, loopback, newAddress } from "./Rooms.ts"
import {
  type Answer,
  ask,
  chain,
  challengeOf,
  configOf,
  encode,
  newCommitment,
  newKey,
  newPayer,
  post,
  sign,
} from "./World.ts"

const publicUrl = "https://altar.example"

/** A server on a database, until its scope ends; where it is asked. */
const serverOn = Effect.fnUntraced(function* (databaseUrl: string) {
  const config = yield* configOf(
    // It sweeps when it starts and no more: a second look would end the purchase that nobody will pay.
    { cards: cardsOf(yield* Processor), patience: Duration.millis(patience(5)), sweepEvery: Duration.hours(1) },
    {
      publicUrl,
      databaseUrl: Redacted.make(databaseUrl),
      trustedProxies: loopback,
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
    const outcome = yield* claim(
      newIntent({
        act: "collectMaterial",
        url: `${publicUrl}/api/elements/beeswax/collect`,
        input: { elementId: "beeswax" },
        payment: newPayment({ asset, to: payTo }),
        claims: { slots: [], pool: { name: "edition:beeswax", capacity: 128 } },
      }),
    )
    if (outcome._tag === "Claimed") ids.push(outcome.attempt.id)
  }
  yield* fail(ids[0] ?? "", "authorization_expired")
})

/** What an auditor is told of. */
export interface Sold {
  readonly databaseUrl: string
  readonly server: string
  /** JSONL. */
  readonly answers: string
  readonly cards: CardAccount
  readonly endedRooms: ReadonlyArray<string>
}

/** A server that sold every kind of act and kept rooms, its database, and what everybody was told. */
export class Altar extends Context.Service<Altar, Sold>()("test/Altar") {}

export const statement = (databaseUrl: string, text: string) =>
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
export const putBack = `
  SET session_replication_role = replica;
  DROP TRIGGER IF EXISTS later ON payment_attempts;
  DO $$ DECLARE t text; BEGIN
    EXECUTE (SELECT 'TRUNCATE ' || string_agg('public.' || name, ', ') FROM (${tables}) AS t);
    FOR t IN ${tables} LOOP EXECUTE format('INSERT INTO public.%s SELECT * FROM kept.%s', t, t); END LOOP; END $$`

export const auditOf = Effect.fnUntraced(function* ({ answers, cards, databaseUrl, endedRooms, server }: Sold) {
  const { asset: token, payTo, rpcUrl } = yield* LocalChain
  const log = () => undefined
  return yield* Effect.promise(() =>
    audit({ databaseUrl, rpcUrl, servers: [server], token, payTo, answersFile: answers, cards, endedRooms, log }),
  )
})

type Hear = (path: string, init?: RequestInit) => Effect.Effect<Answer>

/** The room that is past its end stays for its auditor, whenever the server's sweep of each minute comes. */
const unswept = `
  CREATE FUNCTION stays() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
  CREATE TRIGGER unswept BEFORE DELETE ON rooms FOR EACH ROW WHEN (OLD.expires_at <= clock_timestamp())
    EXECUTE FUNCTION stays()`

/** Three rooms: one with more signals than it keeps, one that a member deleted, one that is past its end. */
const gather = Effect.fnUntraced(function* (databaseUrl: string, hear: Hear) {
  const ids: Array<string> = []
  yield* statement(databaseUrl, unswept)
  for (const count of [52, 2, 1]) {
    const made = yield* hear("/api/rooms", { method: "POST", headers: from(newAddress()) })
    const { room, token }: { room: { id: string }; token: string } = JSON.parse(made.text)
    const path = `/api/rooms/${room.id}`
    ids.push(room.id)
    for (let nth = 1; nth <= count; nth += 1) {
      const named = nth % 10 === 5 ? {} : { clientId: `signal-${nth}` }
      const body = { sender: "Wren", text: `Signal ${nth}`, mode: "calm", ...named }
      const send = () => hear(`${path}/messages`, json("POST", body, bearer({ token })))
      assert.strictEqual((yield* send()).status, 201)
      if (nth === count) yield* send()
      if (nth % 20 > 0 && nth < count) continue
      yield* hear(`${path}?after=${Math.max(0, nth - 5)}`, { headers: bearer({ token }) })
      // A room takes thirty in a minute, and nobody waits that long here.
      yield* statement(databaseUrl, "UPDATE rooms SET sent = '{}'")
    }
    yield* hear(path, { headers: from(newAddress()) })
    if (count === 2) yield* hear(path, { method: "DELETE", headers: bearer({ token }) })
    if (count === 1) yield* statement(databaseUrl, `UPDATE rooms SET expires_at = now() WHERE id = '${room.id}'`)
    if (count < 50) yield* hear(path, { headers: bearer({ token }) })
  }
  return ids.slice(2)
})

/** What is sealed in a stone, in one whose words are a link, in a candle, and in a light on it. */
const salt = "5c1fd1e6a0bb4e7f9c2d"
const seals = {
  stone: " The heron\r\nwill return by May.",
  link: "All of it is at https://heron.example",
  candle: "Thank you for the bees.",
  light: "Un cafe\u0301 pour la loutre",
} as const
export const commitmentOf = (words: string) => hash("sha256", commitmentText(salt, words))

interface Opened {
  readonly stone: string
  readonly link: string
  /** Nobody has opened it. */
  readonly closed: string
  readonly candle: string
  readonly light: string
  /** Has no words. */
  readonly empty: string
}

/** Owners open what they sealed, twice; others guess, and come late. */
const open = Effect.fnUntraced(function* (hear: Hear, { candle, closed, empty, light, link, stone }: Opened) {
  const post = Effect.fnUntraced(function* (path: string, body: object, status: number) {
    const answer = yield* hear(path, json("POST", { salt, ...body }, from(newAddress())))
    assert.strictEqual(answer.status, status, answer.text)
  })
  const reveal = (id: string, text: string, status: number) =>
    post(`/api/witness/${id}/reveal`, { text, agentName: "Wren" }, status)
  const unseal = (id: string, words: string, status: number) => post(`/api/candles/${id}/unseal`, { words }, status)
  yield* hear(`/api/witness/${stone}`)
  yield* reveal(stone, "guessed", 409)
  for (const status of [201, 200]) {
    yield* reveal(stone, seals.stone, status)
    yield* reveal(link, seals.link, status)
    yield* unseal(candle, seals.candle, status)
    yield* unseal(light, seals.light, status)
  }
  yield* reveal(stone, "too late", 409)
  yield* reveal(closed, "guessed", 409)
  yield* unseal(light, "too late", 409)
  yield* unseal(empty, "guessed", 409)
  yield* unseal(stone, "guessed", 404)
  for (const path of [`/api/witness/${stone}`, `/api/witness/${closed}`, "/api/candles"]) yield* hear(path)
})

const sold = Effect.gen(function* () {
  const { asset, payTo } = yield* LocalChain
  const databaseUrl = Redacted.value((yield* LocalDatabase).url)
  const answers = join(mkdtempSync(join(tmpdir(), "audit-")), "answers.jsonl")
  const tell = (server: string, url: string, init: RequestInit, answer: Answer, askedAt: number) => {
    const sent = new Headers(init.headers)
    const { body } = init
    const given: GivenAnswer = {
      at: Date.now(),
      askedAt,
      server,
      method: init.method ?? "GET",
      url,
      key: sent.get("idempotency-key"),
      ...(typeof body === "string" ? { requestBody: body } : {}),
      ...(sent.has("payment-signature") ? { payment: sent.get("payment-signature") ?? "" } : {}),
      ...(sent.get("authorization")?.startsWith("Bearer ") === true
        ? { invite: sent.get("authorization")?.slice("Bearer ".length) ?? "" }
        : {}),
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
    Effect.suspend(() => {
      const askedAt = Date.now()
      return Effect.map(ask(`${server}${path}`, init), (answer) =>
        tell(server, `${server}${path}`, init, answer, askedAt),
      )
    })
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
  const idOf = (answer: unknown) => (answer as { readonly record: { readonly id: string } }).record.id
  const intentionCommitment = newCommitment()
  const stone = idOf(yield* buy("/api/witness", { commitment: commitmentOf(seals.stone) }))
  const closed = idOf(yield* buy("/api/witness", { commitment: newCommitment() }))
  const link = idOf(yield* buy("/api/witness", { commitment: commitmentOf(seals.link) }))
  yield* buy("/api/prayers/moss-hare", { agentName: "Wren", intentionCommitment })
  yield* buy("/api/acquire/moss-hare", {})
  yield* buy("/api/elements/beeswax/collect?spirit=moss-hare", { agentName: "Wren" })
  yield* buy("/api/elements/beeswax/collect", {})
  const dedication = "For Grandma"
  const candle = idOf(
    yield* buy("/api/candles/day/moss-hare", { dedication, intentionCommitment: commitmentOf(seals.candle) }),
  )
  const onIt = { parentId: candle, intentionCommitment: commitmentOf(seals.light) }
  const light = idOf(yield* buy("/api/candles/day/moss-hare", onIt))
  const refused = yield* hear("/api/candles/day/moss-hare", post({ parentId: stone }, { "idempotency-key": newKey() }))
  assert.strictEqual(refused.status, 409, refused.text)
  const bank = yield* Processor
  const payByCard = Effect.fnUntraced(function* (method: string, status: number) {
    const [path, body] = ["/api/candles/week/moss-hare", { dedication }]
    const key = { "idempotency-key": newKey() }
    const offer = yield* hear(path, post(body, key))
    const spt = yield* Effect.promise(() => bank.grant(method, "300"))
    const headers = { ...key, authorization: credentialFor(offer, spt) }
    const answer = yield* hear(path, post(body, headers))
    assert.strictEqual(answer.status, status, answer.text)
    yield* hear(path, post(body, headers))
    return answer.json
  })
  const empty = idOf(yield* payByCard("pm_card_visa", 201))
  yield* open(hear, { candle, closed, empty, light, link, stone })
  yield* payByCard("pm_card_visa_chargeDeclined", 402)
  const endedRooms = yield* gather(databaseUrl, hear)
  assert.strictEqual((yield* hear("/api/acquire/moss-hare", post({}, { "idempotency-key": newKey() }))).status, 409)
  for (const path of ["/api/witness/chain", "/api/publish-chain", "/api/acts", "/api/witness", "/log/checkpoint"]) {
    yield* hear(path)
  }
  yield* Purchase.onChain((client) => client.mine({ blocks: 4 }))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(join(answers, ".."), { recursive: true })))
  // Its log is whole before it is kept.
  const altar = Altar.of({
    databaseUrl,
    server,
    answers,
    cards: { url: bank.url, secretKey: CardProcessor.secretKey },
    endedRooms,
  })
  yield* auditOf(altar)
  yield* statement(databaseUrl, keep)
  return altar
})

/** What was sold, with all it stands on. */
export const altar = Layer.provideMerge(Layer.effect(Altar, sold), Layer.mergeAll(database, chain, processor))
