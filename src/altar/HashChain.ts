/** The rules of any hash chain: gapless positions, each link naming and hashing its predecessor. */
import { Effect, Option, Ref, Schema } from "effect"
import { type ChainClaim, type ChainPoint, checkLink, genesis } from "../../schema/altar/ChainCheck.ts"
import { log } from "../platform/LogMessages.ts"

export { genesis }

export type Head = ChainPoint

export type Link = ChainClaim

/** A link of a stored chain no longer verifies: the stored chain was changed. */
export class ChainBroken extends Schema.TaggedError<ChainBroken>()("ChainBroken", {
  sequence: Schema.Int,
  message: Schema.String,
}) {}

export interface Segment<L> {
  /** The link before the first one, or the genesis. */
  readonly anchor: Head
  readonly links: ReadonlyArray<L>
  readonly head: Head
  readonly next: number | null
}

/** The rules of one chain, with its alarm; `name` is the log's word for its links. */
export const make = Effect.fnUntraced(function* <L extends Link>(name: string, hashOf: (link: L) => string) {
  const last = yield* Ref.make(Option.none<number>())

  const broken = (sequence: number, what: string) => {
    const error = new ChainBroken({ sequence, message: `${name} ${sequence} ${what}` })
    // Any reader can hit the broken link again; the alarm rings only when the break is found.
    return Ref.getAndSet(last, Option.some(sequence)).pipe(
      Effect.tap((known) =>
        Option.contains(known, sequence) ? Effect.void : log("hash chain broken", { reason: error.message }),
      ),
      Effect.andThen(Effect.fail(error)),
    )
  }

  /** Fails at the first link that does not follow `anchor` or does not hash. */
  const check = (links: ReadonlyArray<L>, anchor: Head): Effect.Effect<void, ChainBroken> => {
    let previous: Head = anchor
    for (const link of links) {
      const { follows, hashes } = checkLink(link, previous, hashOf(link))
      if (!follows) return broken(link.sequence, "does not follow its predecessor")
      if (!hashes) return broken(link.sequence, "does not hash to its chainHash")
      previous = link
    }
    return Effect.void
  }

  /** Returns links `from` … `from + limit - 1` of stored ones, which may include the one before. A gap is a break. */
  const segment = Effect.fnUntraced(function* <Shown extends L>(
    stored: ReadonlyArray<Shown>,
    head: Head,
    from: number,
    limit: number,
  ) {
    const before = stored[0]?.sequence === from - 1 ? stored[0] : undefined
    const links = before === undefined ? stored : stored.slice(1)
    if (before !== undefined && hashOf(before) !== before.chainHash) {
      return yield* broken(before.sequence, "does not hash to its chainHash")
    }
    // A segment after the head is anchored to the head itself.
    const { chainHash, sequence } = from === 1 ? genesis : (before ?? head)
    yield* check(links, { sequence, chainHash })
    const expected = Math.max(0, Math.min(limit, head.sequence - from + 1))
    if (links.length !== expected) return yield* broken(from + links.length, "is missing")
    const newest = links.at(-1)
    if (newest !== undefined && newest.sequence === head.sequence && newest.chainHash !== head.chainHash) {
      return yield* broken(newest.sequence, "is not the head of the chain")
    }
    const next = newest !== undefined && newest.sequence < head.sequence ? newest.sequence + 1 : null
    return { anchor: { sequence, chainHash }, links, head, next }
  })

  /** The last known break, until `mended`. */
  return { check, segment, brokenAt: Ref.get(last), mended: Ref.set(last, Option.none()) }
})
