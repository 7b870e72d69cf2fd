/** The page of acts: all of them, those of a wallet, or those found by exactly what a reader has. */
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { kinds } from "../../schema/altar/Sales.ts"
import { RateLimited } from "../../schema/Errors.ts"
import { ActNotFound } from "../../schema/payments/Act.ts"
import { Acts } from "../altar/Acts.ts"
import { Items } from "../altar/collectibles/Items.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { limits, searches } from "../altar/Limits.ts"
import { surroundings } from "./Frame.ts"
import * as Pages from "./Pages.ts"
import { type PageCall, isUuid } from "./Pages.ts"
import { actReader, pathOf } from "./templates/ActList.ts"
import { actNamesOf, allActs, fits } from "./templates/AllActs.ts"
import { plates, spiritPath } from "./templates/Plates.ts"

/** Acts on a page. */
const most = 50

export const actsPage = Effect.gen(function* () {
  const acts = yield* Acts
  const { actOf, actsOf } = yield* actReader
  const stones = yield* WitnessStones
  const items = yield* Items
  const limited = yield* limits
  const frame = yield* surroundings

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
    Effect.map(stones.list(1, number + 1), ({ stones: [stone] }) =>
      stone?.sequence === number ? `/witness/${stone.id}` : undefined,
    )

  /** A commitment may have several stones. */
  const byHash = Effect.fnUntraced(function* (hash: string) {
    const matches = yield* stones.find({ hash }, most)
    const [only] = matches
    if (only !== undefined && matches.length === 1) return `/witness/${only.id}`
    return yield* actsOf(yield* Effect.forEach(matches, ({ id }) => Effect.orDie(acts.get(id))))
  })

  /** Acts with this public name, above acts with these words in a shown text. */
  const byWords = Effect.fnUntraced(function* (words: string) {
    const texts = yield* Effect.all([acts.leftBy({ name: words }, most), acts.saying(words, most)], {
      concurrency: "unbounded",
    })
    return yield* actsOf([...new Set(texts.flat())].slice(0, most))
  })

  /** The path of the only page that fits, or the acts that do, newest first. */
  const find = Effect.fn("ActPages.find")(function* (search: string, request: PageCall["request"]) {
    const words = search.toLowerCase()
    const plate = plates.find(({ id, name }) => [id, name.toLowerCase()].includes(words))
    if (plate !== undefined) return spiritPath(plate.id)
    const item = [...items.values()].find(({ name }) => name.toLowerCase() === words)
    if (item !== undefined) return `/v2/catalog#${item.id}`
    const id = /^(?:.*\/(?:witness|acts)\/)?([0-9a-f-]{36})(?:[/?#].*)?$/u.exec(words)?.[1] ?? ""
    if (isUuid(id)) return yield* byId(id)
    const number = /^(?:#|(?:witness )?stone ?#?)?([1-9][0-9]{0,14})$/u.exec(words)?.[1]
    const stone = number === undefined ? undefined : yield* bySequence(Number(number))
    if (stone !== undefined) return stone
    if (/^0x[0-9a-f]{64}$/u.test(words)) return yield* Effect.flatMap(acts.leftBy({ transaction: words }, most), actsOf)
    if (/^[0-9a-f]{64}$/u.test(words)) return yield* byHash(words)
    yield* limited(searches, request)
    return yield* byWords(search)
  })

  return Effect.fnUntraced(function* ({ before, query, request, spirit }: PageCall) {
    const name = query.get("kind") ?? ""
    const kind = kinds.has(name) ? name : undefined
    // No name, hash or link has control characters, and PostgreSQL rejects NUL in text.
    const search = (query.get("q") ?? "")
      .slice(0, 300)
      .replace(/\p{Cc}/gu, " ")
      .trim()
    const wallet = /^0x[0-9a-f]{40}$/iu.test(search) ? search.toLowerCase() : undefined
    const choice = { kind, spirit, search: wallet ?? search, wallet, now: yield* Clock.currentTimeMillis }
    if (search === "" || wallet !== undefined) {
      const filter = { acts: kind === undefined ? undefined : actNamesOf(kind), spirit, wallet }
      const { acts: listed, next } = yield* acts.list(most, before, filter)
      return allActs({ ...choice, acts: yield* actsOf(listed), before, next })
    }
    const results = yield* Effect.catchIf(
      find(search, request),
      (error) => error instanceof RateLimited,
      (refusal) => Effect.succeed(Pages.limited(frame, refusal)),
    )
    if (HttpServerResponse.isHttpServerResponse(results)) return results
    return typeof results === "string"
      ? HttpServerResponse.redirect(results, { status: 303 })
      : allActs({ ...choice, acts: results.filter(fits(choice)), before: undefined, next: null })
  })
})
