/** Everything that can be read of the altar, in the words of the model; and that the chain of stones links. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { ask } from "../../lab/Fixture.ts"
import { pixels, soldBefore, spirits } from "./AltarOrders.ts"
import { differ } from "./Difference.ts"

interface Lit {
  readonly agentName: string
  readonly spirit: (typeof spirits)[number]
  readonly litAt: string
  readonly litUntil: string
  readonly lightCount: number
  readonly unsealed: unknown
}

const litAs = ({ agentName: name, lightCount: lights, litAt, litUntil, spirit, unsealed }: Lit) =>
  JSON.stringify({
    name,
    target: spirits.indexOf(spirit),
    litAt: Date.parse(litAt),
    litUntil: Date.parse(litUntil),
    lights,
    isOpened: unsealed !== null,
  })

export const read = Effect.fnUntraced(function* (url: string) {
  const json = Effect.fnUntraced(function* (path: string) {
    return JSON.parse((yield* ask(`${url}${path}`)).text)
  })
  const [acts, witness, segment, candles, altars, field, catalog, spiritList] = yield* Effect.forEach(
    [
      "/api/acts?limit=50",
      "/api/witness?limit=50",
      "/api/witness/chain?limit=100",
      "/api/candles?limit=50",
      "/api/altars",
      "/api/field",
      "/api/pixels",
      "/api/spirits",
    ],
    json,
    { concurrency: "unbounded" },
  )
  const altarOf = (target: number) => altars.altars.find(({ spirit }: { spirit: string }) => spirit === spirits[target])
  const found = {
    acts: acts.acts.length,
    cents: field.centsSettled,
    stones: witness.stones.length,
    keepers: field.keepers,
    keptTargets: [0, 1].filter(
      (target) => spiritList.spirits.find(({ id }: { id: string }) => id === spirits[target]).keeper !== null,
    ),
    prayersToday: field.prayersToday,
    slots: [0, 1].map((target) => altarOf(target).today.state),
    lit: candles.candles.map(litAs).toSorted(),
    pixels: [0, 1].map((target) => {
      const { remaining, reserved } = catalog.pixels.find(({ id }: { id: string }) => id === pixels[target])
      return { reserved: reserved - soldBefore, remaining }
    }),
    revealed: witness.stones.filter(({ reveal }: { reveal: unknown }) => reveal !== null).length,
  }
  yield* differ("the candles", candles.lit, candles.candles.length)
  yield* differ("the field", [field.acts, field.stones, field.litCandles], [found.acts, found.stones, candles.lit])
  let previous = "0".repeat(64)
  for (const [index, one] of segment.entries.entries()) {
    const parts = [previous, index + 1, one.commitment, one.witnessedAt, one.transaction]
    const hash = createHash("sha256").update(parts.join("\0")).digest("hex")
    yield* differ(`link ${index + 1}`, [one.sequence, one.previousHash, one.chainHash], [index + 1, previous, hash])
    previous = hash
  }
  yield* differ("the head", segment.head, { sequence: found.stones, chainHash: previous })
  return found
})
