/** Everything that can be read of the altar, in the words of the model; and that the chain of stones links. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import { ask } from "../../lab/Fixture.ts"
import { pixels, soldBefore, spirits } from "./AltarOrders.ts"
import { differ } from "./Difference.ts"

const lists = [
  "/api/acts?limit=50",
  "/api/witness?limit=50",
  "/api/witness/chain?limit=100",
  "/api/altars",
  "/api/field",
  "/api/pixels",
  "/api/spirits",
]

export const read = Effect.fnUntraced(function* (url: string) {
  const [acts, witness, segment, altars, field, catalog, spiritList] = yield* Effect.forEach(
    lists,
    (path) => Effect.map(ask(`${url}${path}`), ({ text }) => JSON.parse(text)),
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
    pixels: [0, 1].map((target) => {
      const { remaining, reserved } = catalog.pixels.find(({ id }: { id: string }) => id === pixels[target])
      return { reserved: reserved - soldBefore, remaining }
    }),
  }
  yield* differ("the field", [field.acts, field.stones], [found.acts, found.stones])
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
