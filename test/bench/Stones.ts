/** A log of unpaid stones: its key, its services, and how it is laid, integrated and published. */
import { createHash, randomUUID } from "node:crypto"
import { Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { Confirmation } from "../../src/log/Confirmation.ts"
import { defaults, Integrator } from "../../src/log/Integrator.ts"
import { LastSigned } from "../../src/log/LastSigned.ts"
import { LogStore } from "../../src/log/LogStore.ts"
import { PublishedLog } from "../../src/log/PublishedLog.ts"
import { Publisher } from "../../src/log/Publisher.ts"
import { fromText, generate } from "../../src/log/Signer.ts"
import * as StoneEntries from "../../src/log/StoneEntries.ts"
import { Witnesses } from "../../src/log/Witnesses.ts"
import * as Migrator from "../../src/platform/Migrator.ts"
import * as Sql from "../../src/platform/Sql.ts"

const origin = "bench.example/log"
const key = Result.getOrThrow(generate(origin))
export const signer = Result.getOrThrow(fromText(key))

/** The environment of a server with this log. */
export const logOn = { LOG_KEY: Redacted.value(key), LOG_ORIGIN: origin }

/** Lays stones as settling does; some of their ids. */
export const lay = Effect.fnUntraced(function* (count: number) {
  const sql = yield* SqlClient.SqlClient
  const chain = yield* WitnessChain
  yield* sql`ALTER TABLE witness_stones DROP CONSTRAINT IF EXISTS witness_stones_id_fkey`
  const ids: Array<string> = []
  for (let left = count; left > 0; left -= 5_000) {
    const stones = Array.from({ length: Math.min(5_000, left) }, () => {
      const id = randomUUID()
      const commitment = createHash("sha256").update(id).digest("hex")
      const whose = {
        kind: "intention",
        spirit: "moss-hare",
        agentName: null,
        payer: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
      } as const
      return { ...whose, id, commitment, transaction: `0x${commitment}` }
    })
    yield* sql.withTransaction(chain.append(stones))
    ids.push(...stones.slice(0, 20).map(({ id }) => id))
  }
  yield* sql`ANALYZE witness_stones`
  return ids
})

/** Integrates all stones that were laid, and publishes them. */
export const cover = Effect.gen(function* () {
  const { integrate } = yield* Integrator
  while ((yield* integrate) > 0);
  yield* Effect.flatMap(Publisher, ({ publish }) => publish)
})

export const servicesOf = (url: string) =>
  Layer.mergeAll(
    Integrator.layerNoLoop(defaults),
    Publisher.layerNoLoop({ signer, origin, publishSeconds: 0 }),
    PublishedLog.layer({ signer, origin }),
  ).pipe(
    Layer.provideMerge(LogStore.layer),
    Layer.provide(StoneEntries.layer),
    Layer.provideMerge(WitnessChain.layer),
    Layer.provide([LastSigned.none, Witnesses.none, Confirmation.layer]),
    Layer.provide(Migrator.layer),
    Layer.provideMerge(Sql.layer(Redacted.make(url))),
    Layer.orDie,
  )
