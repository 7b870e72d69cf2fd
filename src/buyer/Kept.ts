/** Pages of one kind in a journal, read and written as what they mean. */
import { type Context, Effect, Schema } from "effect"
import { refuse, type Refused } from "./Ends.ts"
import type { Journal, Pages } from "./Journal.ts"

const unusable = (cause: unknown) =>
  refuse(
    "journal_unavailable",
    `The journal cannot be used: ${cause instanceof Error ? cause.message : String(cause)}. Nothing was sent.`,
  )

export const kindOf = <A>(kind: string, schema: Schema.Codec<A>) => {
  const json = Schema.fromJsonString(schema)
  const decode = (text: string) => Effect.mapError(Schema.decodeEffect(json)(text), unusable)
  return {
    get: (pages: Pages, name: string) =>
      Effect.tryPromise({ try: () => pages.get(`${kind}/${name}`), catch: unusable }).pipe(
        Effect.flatMap((text) => (text === undefined ? Effect.succeedNone : Effect.asSome(decode(text)))),
      ),
    set: (pages: Pages, name: string, value: A) =>
      Effect.flatMap(Effect.orDie(Schema.encodeEffect(json)(value)), (text) =>
        Effect.tryPromise({ try: () => pages.set(`${kind}/${name}`, text), catch: unusable }),
      ),
    all: (pages: Pages) =>
      Effect.flatMap(Effect.tryPromise({ try: () => pages.all(`${kind}/`), catch: unusable }), (texts) =>
        Effect.forEach(texts, decode),
      ),
  }
}

/** A turn of effects: it runs alone, and to its end. */
export const turnsOf =
  (journal: Journal) =>
  <A, E>(turn: (pages: Pages) => Effect.Effect<A, E>): Effect.Effect<A, E | Refused> =>
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.tryPromise({
        try: () => journal.alone((pages) => Effect.runPromiseExitWith(context)(turn(pages))),
        catch: unusable,
      }),
    ).pipe(Effect.flatten, Effect.uninterruptible)
