/** Finds acts by what a reader has in hand, among all of them. */
import { Context, Effect, Layer } from "effect"
import { agentNameMaximum } from "../../schema/Common.ts"
import { Acts } from "../altar/Acts.ts"
import type { ChainBroken, Head } from "../altar/HashChain.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { actReader, pathOf, sentence, type SettledAct } from "./templates/ActList.ts"
import { plates, spiritPath } from "./templates/Plates.ts"
import type { Found, Stone } from "./templates/Witness.ts"
import { isUuid } from "./Pages.ts"

/** Hits of one page. */
const most = 50

export type Answer =
  | { readonly _tag: "Page"; readonly path: string }
  | { readonly _tag: "Found"; readonly found: Found }

const nothing = (asked: string, scope: string): Answer => ({ _tag: "Found", found: { asked, scope, hits: [] } })

const stoneHit = ({ id, sequence, witnessedAt }: Stone) => ({
  path: `/witness/${id}`,
  words: `Witness stone ${sequence}`,
  at: witnessedAt,
})

const hitOf = (act: SettledAct) => ({ path: pathOf(act), words: sentence(act), at: act.settledAt })

/** Said where a list is as long as it may be. */
const moreThan = ({ length }: ReadonlyArray<unknown>) => (length === most ? ` The newest ${most} are listed.` : "")

/** Both ends of a hash, or of a wallet with its `0x`, as pages print them; or the first digits alone. */
const shortened = /^(0x)?([0-9a-f]{4,63})(?:\s*(?:…|\.{2,3})\s*([0-9a-f]{1,60}))?\s*…?$/u

export class Search extends Context.Service<
  Search,
  {
    /** `head` is the head of the chain as the page shows it. */
    find(asked: string, head: Head): Effect.Effect<Answer, ChainBroken>
  }
>()("spirit-altar/pages/Search") {
  static readonly layer = Layer.effect(
    Search,
    Effect.gen(function* () {
      const acts = yield* Acts
      const { actOf, actsOf } = yield* actReader
      const chain = yield* WitnessChain
      const stones = yield* WitnessStones

      const byId = (asked: string) =>
        acts.get(asked).pipe(
          Effect.flatMap(actOf),
          Effect.map((act): Answer => ({ _tag: "Page", path: pathOf(act) })),
          Effect.orElseSucceed(() => nothing(asked, "All settled acts were searched for this id.")),
        )

      const bySequence = (asked: string, head: Head) =>
        Effect.map(chain.segment(Number(asked), 1), ({ links }): Answer => {
          const stone = links[0]
          return stone === undefined
            ? nothing(
                asked,
                head.sequence === 0 ? "The chain is empty." : `The chain has stones 1 to ${head.sequence}.`,
              )
            : { _tag: "Page", path: `/witness/${stone.id}` }
        })

      const byShortHash = Effect.fnUntraced(function* (asked: string, first: string, last: string) {
        const found = yield* stones.find({ head: first, tail: last }, most)
        const [only] = found
        if (only === undefined) return undefined
        if (found.length === 1) return { _tag: "Page", path: `/witness/${only.id}` } satisfies Answer
        const scope = `All stones were searched for a commitment or chain hash with these digits at its ends.${moreThan(found)}`
        return { _tag: "Found", found: { asked, scope, hits: found.map(stoneHit) } } satisfies Answer
      })

      const byShortWallet = Effect.fnUntraced(function* (asked: string, head: string, tail: string) {
        const found = yield* acts.leftBy({ head, tail }, most)
        if (found.length === 0) return undefined
        const scope = `All settled acts were searched for a wallet with these digits at its ends.${moreThan(found)}`
        return { _tag: "Found", found: { asked, scope, hits: (yield* actsOf(found)).map(hitOf) } } satisfies Answer
      })

      /** `before` says what was searched in vain before. */
      const byName = Effect.fnUntraced(function* (asked: string, before: string) {
        const plate = plates.find(({ id, name }) => [id, name.toLowerCase()].includes(asked.toLowerCase()))
        if (plate !== undefined) return { _tag: "Page", path: spiritPath(plate.id) } satisfies Answer
        const found = yield* acts.leftBy({ name: asked }, most)
        const scope = `${before}No spirit has this name; all settled acts were searched for it as a public name.${moreThan(found)}`
        return { _tag: "Found", found: { asked, scope, hits: (yield* actsOf(found)).map(hitOf) } } satisfies Answer
      })

      const byPayment = Effect.fnUntraced(function* (asked: string) {
        const wallet = asked.length === 42
        const found = yield* acts.leftBy(wallet ? { wallet: asked } : { transaction: asked }, most)
        const what = wallet ? "wallet" : "transaction"
        const scope = `All settled acts were searched for this ${what}.${moreThan(found)}`
        return { _tag: "Found", found: { asked, scope, hits: (yield* actsOf(found)).map(hitOf) } } satisfies Answer
      })

      const byHash = Effect.fnUntraced(function* (asked: string) {
        const found = yield* stones.find({ hash: asked }, most)
        const scope = "All stones were searched for this commitment or chain hash."
        return { _tag: "Found", found: { asked, scope, hits: found.map(stoneHit) } } satisfies Answer
      })

      const find = Effect.fn("Search.find")(function* (typed: string, head: Head) {
        // No name, hash or link has such a character, and PostgreSQL takes no text with a null in it.
        const written = typed.replace(/\p{Cc}/gu, " ").trim()
        const spirit = /\/v2\/spirits\/([a-z-]+)(?:[/?#]|$)/iu.exec(written)?.[1]
        if (spirit !== undefined) return yield* byName(spirit, "")
        const linked = /\/(?:witness|acts)\/([0-9a-f-]{36})(?:[/?#]|$)/iu.exec(written)?.[1]
        const asked = (linked ?? written).toLowerCase()
        if (isUuid(asked)) return yield* byId(asked)
        const [, number] = /^(?:#|no\.? ?|(?:witness )?stone ?#? ?)?([1-9][0-9]{0,14})$/u.exec(asked) ?? []
        if (number !== undefined) {
          const numbered = yield* bySequence(number, head)
          // The first digits of a hash may all be decimal.
          const isHash = numbered._tag !== "Page" && number === asked && number.length >= 4
          return (isHash ? yield* byShortHash(asked, asked, "") : undefined) ?? numbered
        }
        if (/^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(asked)) return yield* byPayment(asked)
        if (/^[0-9a-f]{64}$/u.test(asked)) return yield* byHash(asked)
        const [, mark = "", digits, last = ""] = shortened.exec(asked) ?? []
        const first = `${mark}${digits}`
        const hit =
          digits === undefined
            ? undefined
            : yield* mark === "" ? byShortHash(asked, first, last) : byShortWallet(asked, first, last)
        if (hit !== undefined) return hit
        const what = mark === "" ? "stone has a commitment or chain hash" : "settled act was paid by a wallet"
        const before = digits === undefined ? "" : `No ${what} with these digits at its ends. `
        if (written !== "" && written.length <= agentNameMaximum) return yield* byName(written, before)
        return nothing(
          written.slice(0, 100),
          "That is neither an id, a sequence, a hash or its ends, a wallet, a transaction, a name nor a link of this site, so nothing was searched.",
        )
      })

      return Search.of({ find })
    }),
  )
}
