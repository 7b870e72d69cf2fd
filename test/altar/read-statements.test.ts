/** The database cost of a read: one statement each, whatever it gathers. */
import { assert, layer } from "../lab/It.ts"
import { Effect, Layer } from "effect"
import { Acts } from "../../src/altar/Acts.ts"
import { CandleWall } from "../../src/altar/candles/CandleWall.ts"
import { Catalogs } from "../../src/altar/collectibles/Catalogs.ts"
import { FieldGuide } from "../../src/altar/guide/FieldGuide.ts"
import { PublicationChain } from "../../src/altar/collectibles/PublicationChain.ts"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { WitnessStones } from "../../src/altar/witness/WitnessStones.ts"
import { DatabaseClock } from "../../src/platform/DatabaseClock.ts"
import * as Server from "../../src/server/Server.ts"
import { database } from "../lab/Database.ts"
import { chain } from "../lab/Chain.ts"
import { configOf, realClock } from "../lab/Fixture.ts"
import { statementsOf } from "../lab/Statements.ts"

const id = "3f0c2c1e-5b0a-4c1f-9d51-8a54f3a3f6a1"

type Reads = FieldGuide | CandleWall | Acts | Catalogs | PublicationChain | WitnessStones | WitnessChain

const reads: Readonly<Record<string, Effect.Effect<unknown, unknown, Reads>>> = {
  spirits: Effect.flatMap(FieldGuide, (guide) => guide.spirits),
  altars: Effect.flatMap(FieldGuide, (guide) => guide.altars),
  field: Effect.flatMap(FieldGuide, (guide) => guide.field),
  candles: Effect.flatMap(CandleWall, (wall) => wall.list({ spirit: "moss-hare", limit: 20, before: id })),
  acts: Effect.flatMap(Acts, (acts) => acts.list(20, id)),
  "one act": Effect.flatMap(Acts, (acts) => acts.get(id)),
  elements: Effect.flatMap(Catalogs, (catalogs) => catalogs.get("elements")),
  publications: Effect.flatMap(PublicationChain, (publications) => publications.segment(1, 100)),
  stones: Effect.flatMap(WitnessStones, (stones) => stones.list(20, 7)),
  "one stone": Effect.flatMap(WitnessStones, (stones) => stones.get(id)),
  "a wallet": Effect.flatMap(WitnessStones, (stones) =>
    stones.ofWallet({ wallet: `0x${"a".repeat(40)}`, limit: 20, before: 7 }),
  ),
  "a chain segment": Effect.flatMap(WitnessChain, (witness) => witness.segment(1, 100)),
}

const services = Layer.unwrap(Effect.map(configOf(), Server.services)).pipe(
  Layer.provide(Layer.merge(database, chain)),
  Layer.orDie,
)

layer(services, realClock)("a read", (it) => {
  it.effect.each(Object.entries(reads))("of %s is one statement", function* ([, read]) {
    // Reads share a comparison of the clocks for five seconds.
    yield* (yield* DatabaseClock).estimate
    assert.strictEqual(yield* statementsOf(read), 1)
  })
})
