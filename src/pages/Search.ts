/** Finds acts by exactly what a reader has: an id, a number, a hash, a transaction, a wallet, a name, or shown words. */
import { Effect } from "effect"
import { ActNotFound } from "../../schema/payments/Act.ts"
import { Acts } from "../altar/Acts.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { actReader, pathOf } from "./templates/ActList.ts"
import { plates, spiritPath } from "./templates/Plates.ts"
import { isUuid } from "./Pages.ts"

const most = 50

/** Answers what a reader typed with the path of the only page that fits, or with the acts that do, newest first. */
export const searching = Effect.gen(function* () {
  const acts = yield* Acts
  const { actOf, actsOf } = yield* actReader
  const chain = yield* WitnessChain
  const stones = yield* WitnessStones

  const byId = (id: string) =>
    acts.get(id).pipe(
      Effect.flatMap(actOf),
      Effect.map(pathOf),
      Effect.catchIf(
        (error) => error instanceof ActNotFound,
        () => Effect.succeed([]),
      ),
    )

  const bySequence = (number: number) =>
    Effect.map(chain.segment(number, 1), ({ links: [stone] }) =>
      stone === undefined ? undefined : `/witness/${stone.id}`,
    )

  /** A commitment may have several stones. */
  const byHash = Effect.fnUntraced(function* (hash: string) {
    const [only, ...others] = yield* stones.find({ hash }, most)
    if (only === undefined) return []
    if (others.length === 0) return `/witness/${only.id}`
    const texts = yield* Effect.forEach([only, ...others], ({ id }) => Effect.orDie(acts.get(id)))
    return yield* actsOf(texts)
  })

  const byTransaction = (transaction: string) => Effect.flatMap(acts.leftBy({ transaction }, most), actsOf)

  /** Acts with this public name, above acts with these words in a shown text. */
  const byWords = Effect.fnUntraced(function* (words: string) {
    const texts = yield* Effect.all([acts.leftBy({ name: words }, most), acts.saying(words, most)], {
      concurrency: "unbounded",
    })
    return yield* actsOf([...new Set(texts.flat())].slice(0, most))
  })

  return Effect.fn("Search.find")(function* (typed: string) {
    // No name, hash or link has control characters, and PostgreSQL rejects NUL in text.
    const written = typed.replace(/\p{Cc}/gu, " ").trim()
    const asked = written.toLowerCase()
    const plate = plates.find(({ id, name }) => [id, name.toLowerCase()].includes(asked))
    if (plate !== undefined) return spiritPath(plate.id)
    const id = /^(?:.*\/(?:witness|acts)\/)?([0-9a-f-]{36})(?:[/?#].*)?$/u.exec(asked)?.[1] ?? ""
    if (isUuid(id)) return yield* byId(id)
    const number = /^(?:#|(?:witness )?stone ?#?)?([1-9][0-9]{0,14})$/u.exec(asked)?.[1]
    const stone = number === undefined ? undefined : yield* bySequence(Number(number))
    if (stone !== undefined) return stone
    if (/^0x[0-9a-f]{40}$/u.test(asked)) return `/v2/wallets/${asked}`
    if (/^0x[0-9a-f]{64}$/u.test(asked)) return yield* byTransaction(asked)
    if (/^[0-9a-f]{64}$/u.test(asked)) return yield* byHash(asked)
    return written === "" ? [] : yield* byWords(written)
  })
})
