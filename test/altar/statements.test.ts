/** The database cost of a read: one statement each, whatever it gathers. */
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import { Acts } from "../../src/altar/Acts.ts"
import { CandleWall } from "../../src/altar/candles/CandleWall.ts"
import { Catalogs } from "../../src/altar/collectibles/Catalogs.ts"
import { FieldGuide } from "../../src/altar/guide/FieldGuide.ts"
import { PublicationChain } from "../../src/altar/collectibles/PublicationChain.ts"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { WitnessStones } from "../../src/altar/witness/WitnessStones.ts"
import * as Server from "../../src/server/Server.ts"
import { database } from "../lab/Database.ts"
import { chain } from "../lab/Chain.ts"
import { configOf } from "../lab/Fixture.ts"
import { suite } from "../lab/Suites.ts"

/** How many statements an effect sends. */
const counted = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let statements = 0
    return effect.pipe(
      Effect.exit,
      Effect.provideService(Statement.CurrentTransformer, (statement) =>
        Effect.sync(() => {
          statements += 1
          return statement
        }),
      ),
      Effect.map(() => statements),
    )
  })

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

type Reads = FieldGuide | CandleWall | Acts | Catalogs | PublicationChain | WitnessStones | WitnessChain

const reads: ReadonlyArray<readonly [name: string, statements: Effect.Effect<number, never, Reads>]> = [
  ["spirits", counted(Effect.flatMap(FieldGuide, (guide) => guide.spirits))],
  ["altars", counted(Effect.flatMap(FieldGuide, (guide) => guide.altars))],
  ["field", counted(Effect.flatMap(FieldGuide, (guide) => guide.field))],
  ["candles", counted(Effect.flatMap(CandleWall, (wall) => wall.list({ spirit: "moss-hare", limit: 20, before: id })))],
  ["acts", counted(Effect.flatMap(Acts, (acts) => acts.list(20, id)))],
  ["the acts of an altar", counted(Effect.flatMap(Acts, (acts) => acts.onAltar("moss-hare", 50)))],
  ["one act", counted(Effect.flatMap(Acts, (acts) => acts.get(id)))],
  ["elements", counted(Effect.flatMap(Catalogs, (catalogs) => catalogs.get("elements")))],
  ["companions", counted(Effect.flatMap(Catalogs, (catalogs) => catalogs.get("companions")))],
  ["pixels", counted(Effect.flatMap(Catalogs, (catalogs) => catalogs.get("pixels")))],
  ["publications", counted(Effect.flatMap(PublicationChain, (publications) => publications.segment(1, 100)))],
  ["stones", counted(Effect.flatMap(WitnessStones, (stones) => stones.list(20, 7)))],
  ["one stone", counted(Effect.flatMap(WitnessStones, (stones) => stones.get(id)))],
  ["chain segment", counted(Effect.flatMap(WitnessChain, (witness) => witness.segment(1, 100)))],
]

const services = Layer.unwrap(Effect.map(configOf(), Server.services)).pipe(
  Layer.provide(Layer.merge(database, chain)),
  Layer.orDie,
)

suite("a read", services, (it) => {
  for (const [name, statements] of reads) {
    it(`of ${name} is one statement`, () => Effect.map(statements, (count) => assert.strictEqual(count, 1)))
  }
})
