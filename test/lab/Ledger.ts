/** Our own ledger and chain in this process: seeds the stones the reads are measured on, and appends through `Settle.settle`. */
import { Effect, Layer, ManagedRuntime, Redacted, References } from "effect"
import { SqlClient } from "effect/sql"
import { Reveals } from "../../src/altar/Reveals.ts"
import { WitnessChain } from "../../src/altar/witness/WitnessChain.ts"
import { WitnessStones } from "../../src/altar/witness/WitnessStones.ts"
import { PaidActs } from "../../src/payments/Act.ts"
import { Claim } from "../../src/payments/store/Claim.ts"
import * as Payments from "../../src/payments/Payments.ts"
import { Settle } from "../../src/payments/store/Settle.ts"
import { PaymentTerms, usdc } from "../../src/payments/PaymentTerms.ts"
import { PublicUrl } from "../../src/platform/PublicUrl.ts"
import * as Migrator from "../../src/platform/Migrator.ts"
import * as Sql from "../../src/platform/Sql.ts"
import { newHex, newIntent, newPayment } from "./Intents.ts"

export interface StoneRow {
  readonly sequence: number
  readonly id: string
  readonly commitment: string
  readonly kind: string
  readonly spirit: string
  readonly agentName: string | null
  readonly witnessedAt: string
  readonly payer: string
  readonly transaction: string
  readonly previousHash: string
  readonly chainHash: string
}

export const network = "eip155:84532"
export const publicUrl = "https://altar.example"
export const payTo = "0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc"

/** No pool, so that the ceiling of a day does not end the benchmark. */
const intent = () =>
  newIntent({
    input: { commitment: newHex(32).slice(2), kind: "prediction", agentName: "Wren" },
    payment: newPayment({ to: payTo }),
    leaseMillis: 3_600_000,
  })

const acts = Layer.effect(
  PaidActs,
  Effect.map(WitnessStones, ({ act }) => new Map([[act.name, act]])),
)

const layer = (url: string) => {
  const terms = {
    network,
    ...usdc[network],
    payTo,
    maxTimeoutSeconds: 300,
    settledBy: "the benchmark",
    isCatalogued: false,
  } as const
  return Payments.ledger.pipe(
    Layer.provide(acts),
    Layer.provide(WitnessStones.layer),
    Layer.provide(Layer.merge(WitnessChain.layer, Reveals.layer)),
    Layer.provide(PublicUrl.layer(publicUrl)),
    Layer.provide(PaymentTerms.ready(terms, ["x402"])),
    Layer.provide(Migrator.layer),
    Layer.provideMerge(Sql.layer(Redacted.make(url))),
    // A line for each stone would be most of what is measured here.
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")),
  )
}

export const open = (url: string) => {
  const runtime = ManagedRuntime.make(layer(url))
  /** Writes `count` intents and answers their ids; this part is not measured. */
  const claim = (count: number): Promise<ReadonlyArray<string>> =>
    runtime.runPromise(
      Effect.flatMap(Claim, (ledger) =>
        Effect.forEach(
          Array.from({ length: count }, intent),
          (attempt) =>
            Effect.flatMap(ledger.claim(attempt), (outcome) =>
              outcome._tag === "Claimed" ? Effect.succeed(outcome.attempt.id) : Effect.die("an intent was lost"),
            ),
          { concurrency: 16 },
        ),
      ),
    )
  /** Settles them, `width` at a time, as that many requests would. */
  const settle = (ids: ReadonlyArray<string>, width: number) =>
    runtime.runPromise(
      Effect.flatMap(Settle, (ledger) =>
        Effect.as(
          Effect.forEach(
            ids,
            (id) =>
              ledger.settle(id, {
                rail: "x402",
                payment: newPayment({ to: payTo }),
                transaction: newHex(32),
                block: 100n,
              }),
            { concurrency: width, discard: true },
          ),
          ids.length,
        ),
      ),
    )
  return {
    claim,
    settle,
    /** Sets `count` stones, some thousand at a time. */
    seed: async (count: number, width: number) => {
      for (let left = count; left > 0; left -= 2_000) await settle(await claim(Math.min(left, 2_000)), width)
      // They are old: a measurement of the server must not include searches for transfers that never existed.
      await runtime.runPromise(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE payment_attempts SET finality = 'final'`),
      )
    },
    stones: () =>
      runtime.runPromise(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql<StoneRow>`
            SELECT sequence::int AS sequence, id, commitment, kind, spirit, agent_name, witnessed_at, payer, transaction,
              previous_hash, chain_hash FROM witness_stones ORDER BY witness_stones.sequence`,
        ),
      ),
    close: () => runtime.dispose(),
  }
}
