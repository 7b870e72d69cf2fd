/** How many claims, stones and leaves a second go through the single rows that they lock, without HTTP and without a chain. */
import { Effect, Layer, ManagedRuntime, Redacted, References } from "effect"
import { WitnessChain } from "../../../src/altar/witness/WitnessChain.ts"
import { defaults, Integrator } from "../../../src/log/Integrator.ts"
import { LogStore } from "../../../src/log/LogStore.ts"
import * as StoneEntries from "../../../src/log/StoneEntries.ts"
import { Claim } from "../../../src/payments/ledger/Claim.ts"
import { Lookup } from "../../../src/payments/ledger/Lookup.ts"
import * as Migrator from "../../../src/platform/Migrator.ts"
import * as Sql from "../../../src/platform/Sql.ts"
import * as Databases from "../../lab/Databases.ts"
import * as Ledger from "../../lab/Ledger.ts"
import { newIntent, newPayment } from "../../lab/Intents.ts"
import type { Outcome, Run } from "../Run.ts"

const rounds = 3
const stones = 2_000

/** Claims of an act that draws from a pool, or of one that draws from none; each by a wallet of its own. */
const attempt = (pool: string | undefined) =>
  newIntent({
    act: "collectMaterial",
    url: `${Ledger.publicUrl}/api/elements/beeswax/collect`,
    input: { elementId: "beeswax" },
    payment: newPayment({ to: Ledger.payTo }),
    claims: { slots: [], ...(pool === undefined ? {} : { pool: { name: pool, capacity: 1_000_000_000 } }) },
    balance: { balanceAtomic: 1_000_000n, asOfMillis: Date.now(), isExact: true, isContract: false },
    leaseMillis: 3_600_000,
  })

const layer = (url: string) =>
  Layer.merge(Claim.layer.pipe(Layer.provide(Lookup.layer)), Integrator.layerNoLoop(defaults)).pipe(
    Layer.provide(LogStore.layer),
    Layer.provide(StoneEntries.layer),
    Layer.provide(WitnessChain.layer),
    Layer.provide(Migrator.layer),
    Layer.provide(Sql.layer(Redacted.make(url))),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")),
    Layer.orDie,
  )

/** As many as are claimed in so many seconds, for each of them. */
const claimFor = Effect.fnUntraced(function* (seconds: number, pool: string | undefined, waiting: number) {
  const { claim } = yield* Claim
  const began = performance.now()
  const isOver = () => performance.now() - began >= seconds * 1_000
  let count = 0
  const one = Effect.suspend(() => claim(attempt(pool))).pipe(
    Effect.flatMap(({ _tag }) => (_tag === "Claimed" ? Effect.sync(() => (count += 1)) : Effect.die(_tag))),
  )
  yield* Effect.forEach(Array.from({ length: waiting }), () => Effect.repeat(one, { until: isOver }), {
    concurrency: "unbounded",
    discard: true,
  })
  return count / ((performance.now() - began) / 1_000)
})

const rateOf = async (count: number, work: () => Promise<unknown>) => {
  const began = performance.now()
  await work()
  return count / ((performance.now() - began) / 1_000)
}

export const rows = async ({ log, minutes, size }: Run): Promise<Outcome> => {
  const databases = await Databases.open()
  const runtime = ManagedRuntime.make(layer(databases.ours))
  // Stones of the benchmark's ledger, so that settling meets the real chain of stones.
  const ledger = Ledger.open(databases.ours)
  const found = new Map<string, Array<number>>()
  const note = (what: string, rate: number) => found.set(what, [...(found.get(what) ?? []), rate])
  try {
    log(databases.about)
    const each = (minutes * 60) / (2 * rounds)
    await runtime.runPromise(claimFor(1, undefined, size))
    for (let round = 0; round < rounds; round += 1) {
      note(
        "payment_pools: claims that draw from one pool",
        await runtime.runPromise(claimFor(each, "edition:beeswax", size)),
      )
      note("no pool: claims that draw from none", await runtime.runPromise(claimFor(each, undefined, size)))
      const ids = await ledger.claim(stones)
      note("witness_head: stones that settle", await rateOf(stones, () => ledger.settle(ids, size)))
      const all = Effect.flatMap(Integrator, ({ integrate }) =>
        Effect.repeat(integrate, { until: (added) => added === 0 }),
      )
      note("log_head: stones that the log takes in", await rateOf(stones, () => runtime.runPromise(all)))
    }
    // Of three rounds the middle one.
    const middleOf = (rates: ReadonlyArray<number>) => Math.round(rates.toSorted((a, b) => a - b)[1] ?? 0)
    for (const [what, rates] of found) log(`${what}: ${rates.map(Math.round).join(", ")} a second`)
    return {
      counts: Object.fromEntries([...found].map(([what, rates]) => [`a second: ${what}`, middleOf(rates)])),
      violations: [],
    }
  } finally {
    await ledger.close()
    await runtime.dispose()
    await databases.close()
  }
}
