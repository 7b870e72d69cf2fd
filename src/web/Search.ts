/** Finds an act by what a reader has in hand, and says how far it looked. */
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { Acts } from "../altar/Acts.ts"
import type { ChainBroken, Head } from "../altar/HashChain.ts"
import { WitnessChain } from "../altar/WitnessChain.ts"
import { actOf, pathOf, sentence } from "./pages/Deeds.ts"
import type { Found } from "./pages/Witness.ts"
import { isUuid } from "./Pages.ts"

/** Stones that are re-hashed and looked through in one read. */
const stoneReach = 1000
const actReach = 50

export type Answer =
  | { readonly _tag: "Page"; readonly path: string }
  | { readonly _tag: "Found"; readonly found: Found }

const nothing = (asked: string, scope: string): Answer => ({ _tag: "Found", found: { asked, scope, hits: [] } })

export class Search extends Context.Service<
  Search,
  {
    /** `head` is the head of the chain as the page shows it. */
    find(asked: string, head: Head): Effect.Effect<Answer, SqlError.SqlError | ChainBroken>
  }
>()("spirit-altar/web/Search") {
  static readonly layer = Layer.effect(
    Search,
    Effect.gen(function* () {
      const acts = yield* Acts
      const chain = yield* WitnessChain

      const byId = (asked: string) =>
        acts.get(asked).pipe(
          Effect.map((text): Answer => ({ _tag: "Page", path: pathOf(actOf(text)) })),
          Effect.catchIf(
            (error) => "code" in error,
            () => Effect.succeed(nothing(asked, "All settled acts were searched for this id.")),
          ),
        )

      const bySequence = (asked: string, head: Head) =>
        Effect.map(chain.segment(Number(asked), 1), ({ links }): Answer => {
          const stone = links[0]
          return stone === undefined
            ? nothing(asked, `The chain has stones 1 to ${head.sequence}.`)
            : { _tag: "Page", path: `/witness/${stone.id}` }
        })

      const byHex = Effect.fnUntraced(function* (asked: string, head: Head) {
        const from = Math.max(1, head.sequence - stoneReach + 1)
        const { acts: texts } = yield* acts.list(actReach, undefined)
        const { links } = head.sequence === 0 ? { links: [] } : yield* chain.segment(from, stoneReach)
        const isIt = (value: string | undefined) => value?.toLowerCase() === asked || value === `0x${asked}`
        const stones = links
          .filter((link) => [link.commitment, link.chainHash, link.payer, link.transaction].some(isIt))
          .map((link) => ({
            id: link.id,
            path: `/witness/${link.id}`,
            words: `Witness stone ${link.sequence}`,
            at: link.witnessedAt,
          }))
        const others = texts
          .map(actOf)
          .filter(
            ({ id, receipt }) =>
              !stones.some((stone) => stone.id === id) && [receipt.payer, receipt.transaction].some(isIt),
          )
          .map((act) => ({ path: pathOf(act), words: sentence(act), at: act.settledAt }))
        const hits = [...stones.reverse(), ...others].slice(0, actReach)
        const reach = head.sequence === 0 ? "the chain, which is empty" : `stones ${from} to ${head.sequence}`
        const scope = `Searched: ${reach}, by commitment, chain hash, wallet and transaction, and the newest ${texts.length} acts of any kind, by wallet and transaction.${
          from > 1 ? " Older stones are at /api/witness/chain." : ""
        }`
        return { _tag: "Found", found: { asked, scope, hits } } satisfies Answer
      })

      const find = Effect.fn("Search.find")(function* (typed: string, head: Head) {
        const asked = typed.trim().toLowerCase()
        if (isUuid(asked)) return yield* byId(asked)
        if (/^[1-9][0-9]{0,14}$/u.test(asked)) return yield* bySequence(asked, head)
        if (/^(?:[0-9a-f]{64}|0x[0-9a-f]{40}|0x[0-9a-f]{64})$/u.test(asked)) return yield* byHex(asked, head)
        return nothing(
          typed.trim().slice(0, 100),
          "That is neither an id, a sequence, 64 hexadecimal digits, a wallet nor a transaction, so nothing was searched.",
        )
      })

      return Search.of({ find })
    }),
  )
}
