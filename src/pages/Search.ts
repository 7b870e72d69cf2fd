/** Finds acts by exactly what a reader has: an id, a number, a hash, a transaction, a wallet, a name, or shown words. */
import { Context, Effect, Layer } from "effect"
import { ActNotFound } from "../../schema/payments/Act.ts"
import { Acts } from "../altar/Acts.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { actReader, pathOf, type SettledAct } from "./templates/ActList.ts"
import { plates, spiritPath } from "./templates/Plates.ts"
import { isUuid, type Unreadable } from "./Pages.ts"

const most = 50

/** The page of the only answer, or the acts that were found, newest first. */
export type Answer =
  | { readonly _tag: "Page"; readonly path: string }
  | { readonly _tag: "Found"; readonly acts: ReadonlyArray<SettledAct> }

const found = (acts: ReadonlyArray<SettledAct> = []): Answer => ({ _tag: "Found", acts })
const pageAt = (path: string): Answer => ({ _tag: "Page", path })

export class Search extends Context.Service<Search, { find(asked: string): Effect.Effect<Answer, Unreadable> }>()(
  "spirit-altar/pages/Search",
) {
  static readonly layer = Layer.effect(
    Search,
    Effect.gen(function* () {
      const acts = yield* Acts
      const { actOf, actsOf } = yield* actReader
      const chain = yield* WitnessChain
      const stones = yield* WitnessStones

      const byId = (id: string) =>
        acts.get(id).pipe(
          Effect.flatMap(actOf),
          Effect.map((act) => pageAt(pathOf(act))),
          Effect.catchIf(
            (error) => error instanceof ActNotFound,
            () => Effect.succeed(found()),
          ),
        )

      const bySequence = (number: number) =>
        Effect.map(chain.segment(number, 1), ({ links: [stone] }) =>
          stone === undefined ? undefined : pageAt(`/witness/${stone.id}`),
        )

      /** A commitment may have several stones. */
      const byHash = Effect.fnUntraced(function* (hash: string) {
        const [only, ...others] = yield* stones.find({ hash }, most)
        if (only === undefined) return found()
        if (others.length === 0) return pageAt(`/witness/${only.id}`)
        const texts = yield* Effect.forEach([only, ...others], ({ id }) => Effect.orDie(acts.get(id)))
        return found(yield* actsOf(texts))
      })

      const byTransaction = (transaction: string) =>
        Effect.map(Effect.flatMap(acts.leftBy({ transaction }, most), actsOf), found)

      /** Acts with this public name, above acts with these words in a shown text. */
      const byWords = Effect.fnUntraced(function* (words: string) {
        const texts = yield* Effect.all([acts.leftBy({ name: words }, most), acts.saying(words, most)], {
          concurrency: "unbounded",
        })
        return found(yield* actsOf([...new Set(texts.flat())].slice(0, most)))
      })

      const find = Effect.fn("Search.find")(function* (typed: string) {
        // No name, hash or link has control characters, and PostgreSQL rejects NUL in text.
        const written = typed.replace(/\p{Cc}/gu, " ").trim()
        const asked = written.toLowerCase()
        const plate = plates.find(({ id, name }) => [id, name.toLowerCase()].includes(asked))
        if (plate !== undefined) return pageAt(spiritPath(plate.id))
        const id = /^(?:.*\/(?:witness|acts)\/)?([0-9a-f-]{36})(?:[/?#].*)?$/u.exec(asked)?.[1] ?? ""
        if (isUuid(id)) return yield* byId(id)
        const number = /^(?:#|(?:witness )?stone ?#?)?([1-9][0-9]{0,14})$/u.exec(asked)?.[1]
        const stone = number === undefined ? undefined : yield* bySequence(Number(number))
        if (stone !== undefined) return stone
        if (/^0x[0-9a-f]{40}$/u.test(asked)) return pageAt(`/v2/wallets/${asked}`)
        if (/^0x[0-9a-f]{64}$/u.test(asked)) return yield* byTransaction(asked)
        if (/^[0-9a-f]{64}$/u.test(asked)) return yield* byHash(asked)
        return written === "" ? found() : yield* byWords(written)
      })

      return Search.of({ find })
    }),
  )
}
