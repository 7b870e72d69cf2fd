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
import { type Asked, isUuid } from "./Pages.ts"
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
    const found = yield* stones.find({ hash }, most)
    const [only] = found
    if (only !== undefined && found.length === 1) return `/witness/${only.id}`
    return yield* actsOf(yield* Effect.forEach(found, ({ id }) => Effect.orDie(acts.get(id))))
  })

  /** Acts with this public name, above acts with these words in a shown text. */
  const byWords = Effect.fnUntraced(function* (words: string) {
    const texts = yield* Effect.all([acts.leftBy({ name: words }, most), acts.saying(words, most)], {
      concurrency: "unbounded",
    })
    return yield* actsOf([...new Set(texts.flat())].slice(0, most))
  })

  /** The path of the only page that fits, or the acts that do, newest first. */
  const find = Effect.fn("ActPages.find")(function* (asked: string, request: Asked["request"]) {
    const words = asked.toLowerCase()
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
    return yield* byWords(asked)
  })

  return Effect.fnUntraced(function* ({ before, query, request, spirit }: Asked) {
    const name = query.get("kind") ?? ""
    const kind = kinds.has(name) ? name : undefined
    // No name, hash or link has control characters, and PostgreSQL rejects NUL in text.
    const asked = (query.get("q") ?? "")
      .slice(0, 300)
      .replace(/\p{Cc}/gu, " ")
      .trim()
    const wallet = /^0x[0-9a-f]{40}$/iu.test(asked) ? asked.toLowerCase() : undefined
    const choice = { kind, spirit, asked: wallet ?? asked, wallet, now: yield* Clock.currentTimeMillis }
    if (asked === "" || wallet !== undefined) {
      const filter = { acts: kind === undefined ? undefined : actNamesOf(kind), spirit, wallet }
      const { acts: listed, next } = yield* acts.list(most, before, filter)
      return allActs({ ...choice, acts: yield* actsOf(listed), before, next })
    }
    const found = yield* Effect.catchIf(
      find(asked, request),
      (error) => error instanceof RateLimited,
      (refusal) => Effect.succeed(Pages.limited(frame, refusal)),
    )
    if (HttpServerResponse.isHttpServerResponse(found)) return found
    return typeof found === "string"
      ? HttpServerResponse.redirect(found, { status: 303 })
      : allActs({ ...choice, acts: found.filter(fits(choice)), before: undefined, next: null })
  })
})
