/** Finds acts by what a reader has in hand, among all of them. */
import { Context, Effect, Layer } from "effect"
import { Acts } from "../altar/Acts.ts"
import type { ChainBroken, Head } from "../altar/HashChain.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { actOf, actsOf, pathOf, sentence, type SettledAct } from "./templates/ActList.ts"
import type { Found } from "./templates/Witness.ts"
import { isUuid } from "./Pages.ts"

/** Hits of one page. */
const most = 50

export type Answer =
  | { readonly _tag: "Page"; readonly path: string }
  | { readonly _tag: "Found"; readonly found: Found }

const nothing = (asked: string, scope: string): Answer => ({ _tag: "Found", found: { asked, scope, hits: [] } })

const hitOf = (act: SettledAct) => ({ path: pathOf(act), words: sentence(act), at: act.settledAt })

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

      const byPayment = Effect.fnUntraced(function* (asked: string) {
        const wallet = asked.length === 42
        const found = yield* acts.paidBy(wallet ? { wallet: asked } : { transaction: asked }, most)
        const what = wallet ? "wallet" : "transaction"
        const more = found.length === most ? ` The newest ${most} are listed.` : ""
        const scope = `All settled acts were searched for this ${what}.${more}`
        return { _tag: "Found", found: { asked, scope, hits: (yield* actsOf(found)).map(hitOf) } } satisfies Answer
      })

      const byHash = Effect.fnUntraced(function* (asked: string) {
        const found = yield* stones.find({ hash: asked }, most)
        const hits = found.map(({ id, sequence, witnessedAt }) => ({
          path: `/witness/${id}`,
          words: `Witness stone ${sequence}`,
          at: witnessedAt,
        }))
        const scope = "All stones were searched for this commitment or chain hash."
        return { _tag: "Found", found: { asked, scope, hits } } satisfies Answer
      })

      const find = Effect.fn("Search.find")(function* (typed: string, head: Head) {
        const asked = typed.trim().toLowerCase()
        if (isUuid(asked)) return yield* byId(asked)
        if (/^[1-9][0-9]{0,14}$/u.test(asked)) return yield* bySequence(asked, head)
        if (/^0x(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(asked)) return yield* byPayment(asked)
        if (/^[0-9a-f]{64}$/u.test(asked)) return yield* byHash(asked)
        return nothing(
          typed.trim().slice(0, 100),
          "That is neither an id, a sequence, 64 hexadecimal digits, a wallet nor a transaction, so nothing was searched.",
        )
      })

      return Search.of({ find })
    }),
  )
}
