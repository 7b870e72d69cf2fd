/** Finds acts by anything a reader has: a number, a name, a hash, a wallet, a link or words. */
import { Context, Effect, Layer } from "effect"
import { agentNameMaximum } from "../../schema/Common.ts"
import { Acts } from "../altar/Acts.ts"
import type { ChainBroken, Head } from "../altar/HashChain.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { actReader, pathOf, sentence, type SettledAct } from "./templates/ActList.ts"
import { plates, spiritPath } from "./templates/Plates.ts"
import type { Found } from "./templates/SearchPage.ts"
import type { Stone } from "./templates/Witness.ts"
import { isUuid } from "./Pages.ts"

const most = 50

export type Answer =
  | { readonly _tag: "Page"; readonly path: string }
  | { readonly _tag: "Found"; readonly found: Found }

/** Hits and scope of a search; a list of the maximum length says so. */
const foundIn = (asked: string, scope: string, hits: Found["hits"] = []): Answer => ({
  _tag: "Found",
  found: { asked, scope: hits.length === most ? `${scope} The newest ${most} are listed.` : scope, hits },
})

const pageAt = (path: string): Answer => ({ _tag: "Page", path })

const stoneHit = ({ id, sequence, witnessedAt }: Stone) => ({
  path: `/witness/${id}`,
  words: `Witness stone ${sequence}`,
  at: witnessedAt,
})

const hitOf = (act: SettledAct) => ({ path: pathOf(act), words: sentence(act), at: act.settledAt })

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
          Effect.map((act) => pageAt(pathOf(act))),
          Effect.orElseSucceed(() => foundIn(asked, "All settled acts were searched for this id.")),
        )

      const bySequence = (asked: string, { sequence }: Head) =>
        Effect.map(chain.segment(Number(asked), 1), ({ links: [stone] }) => {
          if (stone !== undefined) return pageAt(`/witness/${stone.id}`)
          return foundIn(asked, sequence === 0 ? "The chain is empty." : `The chain has stones 1 to ${sequence}.`)
        })

      const leftBy = (asked: string, by: Parameters<typeof acts.leftBy>[0], scope: string) =>
        acts.leftBy(by, most).pipe(
          Effect.flatMap(actsOf),
          Effect.map((found) => foundIn(asked, scope, found.map(hitOf))),
        )

      const byHash = (asked: string, by: Parameters<typeof stones.find>[0], scope: string) =>
        Effect.map(stones.find(by, most), (found) => foundIn(asked, scope, found.map(stoneHit)))

      /** Undefined where nothing has these digits at its ends. */
      const byEnds = Effect.fnUntraced(function* (asked: string, isWallet: boolean, head: string, tail: string) {
        const scope = (what: string) => `All ${what} with these digits at its ends.`
        const answer = isWallet
          ? yield* leftBy(asked, { head, tail }, scope("settled acts were searched for a wallet"))
          : yield* byHash(asked, { head, tail }, scope("stones were searched for a commitment or chain hash"))
        const [only, ...others] = answer._tag === "Found" ? answer.found.hits : []
        if (only === undefined) return undefined
        return isWallet || others.length > 0 ? answer : pageAt(only.path)
      })

      /** Acts with these words in public texts, below acts with them as a name. */
      const byWords = Effect.fnUntraced(function* (asked: string, scope: string, named: Found["hits"] = []) {
        const matches = yield* acts.saying(asked, most)
        const known = new Set(named.map(({ path }) => path))
        const said = yield* Effect.forEach(matches, ({ act, excerpt }) =>
          Effect.map(actsOf([act]), (found) => found.map((one) => ({ ...hitOf(one), excerpt }))),
        )
        const hits = [...named, ...said.flat().filter(({ path }) => !known.has(path))]
        return foundIn(asked, `${scope}All public texts were searched for these words.`, hits.slice(0, most))
      })

      /** `before` names the earlier searches without hits. */
      const byName = (asked: string, before: string) => {
        const plate = plates.find(({ id, name }) => [id, name.toLowerCase()].includes(asked.toLowerCase()))
        const scope = `${before}No spirit has this name. All settled acts were searched for it as a public name. `
        return plate === undefined
          ? acts.leftBy({ name: asked }, most).pipe(
              Effect.flatMap(actsOf),
              Effect.flatMap((named) => byWords(asked, scope, named.map(hitOf))),
            )
          : Effect.succeed(pageAt(spiritPath(plate.id)))
      }

      const find = Effect.fn("Search.find")(function* (typed: string, head: Head) {
        // No name, hash or link has control characters, and PostgreSQL rejects NUL in text.
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
          const hash = isHash ? yield* byEnds(asked, false, asked, "") : undefined
          if (hash !== undefined || numbered._tag === "Page") return hash ?? numbered
          return yield* byWords(written, `${numbered.found.scope} `)
        }
        if (/^0x[0-9a-f]{40}$/u.test(asked))
          return yield* leftBy(asked, { wallet: asked }, "All settled acts were searched for this wallet.")
        if (/^0x[0-9a-f]{64}$/u.test(asked))
          return yield* leftBy(asked, { transaction: asked }, "All settled acts were searched for this transaction.")
        if (/^[0-9a-f]{64}$/u.test(asked))
          return yield* byHash(asked, { hash: asked }, "All stones were searched for this commitment or chain hash.")
        const [, mark = "", digits, last = ""] = shortened.exec(asked) ?? []
        const hit = digits === undefined ? undefined : yield* byEnds(asked, mark !== "", `${mark}${digits}`, last)
        if (hit !== undefined) return hit
        const what = mark === "" ? "stone has a commitment or chain hash" : "settled act was paid by a wallet"
        const before = digits === undefined ? "" : `No ${what} with these digits at its ends. `
        if (written !== "" && written.length <= agentNameMaximum) return yield* byName(written, before)
        return yield* byWords(written, before)
      })

      return Search.of({ find })
    }),
  )
}
