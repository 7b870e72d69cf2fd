/** The pages of one kind in a journal, encoded and decoded by schema. */
import { type Context, Effect, Exit, Schema } from "effect"
import { refuse, Refused } from "./PurchaseError.ts"
import type { Journal, Pages } from "./core/Journal.ts"

const unavailable = (cause: unknown) =>
  refuse(
    "journal_unavailable",
    `The journal cannot be used: ${cause instanceof Error ? cause.message : String(cause)}.`,
  )

export const pagesOf = <A>(kind: string, schema: Schema.Codec<A>) => {
  const json = Schema.fromJsonString(schema)
  // A page holds secrets, so the error omits the cause.
  const unreadable = () => unavailable(`a page of the kind ${kind} cannot be read`)
  const decode = (text: string) => Effect.mapError(Schema.decodeEffect(json)(text), unreadable)
  return {
    get: (pages: Pages, name: string) =>
      Effect.tryPromise({ try: () => pages.get(`${kind}/${name}`), catch: unavailable }).pipe(
        Effect.flatMap((text) => (text === undefined ? Effect.succeedNone : Effect.asSome(decode(text)))),
      ),
    set: (pages: Pages, name: string, value: A) =>
      Effect.flatMap(Effect.orDie(Schema.encodeEffect(json)(value)), (text) =>
        Effect.tryPromise({ try: () => pages.set(`${kind}/${name}`, text), catch: unavailable }),
      ),
    all: (pages: Pages) =>
      Effect.flatMap(Effect.tryPromise({ try: () => pages.all(`${kind}/`), catch: unavailable }), (texts) =>
        Effect.forEach(texts, decode),
      ),
  }
}

/**
 * Runs an effect as one turn of the journal, alone and uninterruptible. A failed effect rejects the turn, so that the
 * journal stores none of it. `chargeNote` tells what was sent and paid so far, for the error of an unusable journal.
 */
export const exclusively =
  (journal: Journal) =>
  <A, E>(turn: (pages: Pages) => Effect.Effect<A, E>, chargeNote = ""): Effect.Effect<A, E | Refused> =>
    Effect.contextWith((context: Context.Context<never>) => {
      let failed: Exit.Failure<A, E> | undefined
      return Effect.tryPromise({
        try: () =>
          journal.alone((pages) =>
            Effect.runPromiseExitWith(context)(turn(pages)).then((exit) => {
              if (Exit.isSuccess(exit)) return exit.value
              failed = exit
              return Promise.reject(new Error("the turn failed"))
            }),
          ),
        catch: unavailable,
      }).pipe(
        Effect.catch((error): Effect.Effect<A, E | Refused> => failed ?? Effect.fail(error)),
        Effect.mapError((error) =>
          chargeNote !== "" && error instanceof Refused && error.code === "journal_unavailable"
            ? refuse(error.code, `${error.message} ${chargeNote}`)
            : error,
        ),
      )
    }).pipe(Effect.uninterruptible)
