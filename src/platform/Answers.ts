/** How much is read of what a facilitator, a card processor or a node answers: more than that is no answer. */
import { type Effect, Schema, Stream } from "effect"

/** Bytes of an answer at most; the rest is neither read nor kept. */
export const answerLimit = 1_048_576

/** The answer was longer than `answerLimit`; it proves nothing. */
export class AnswerTooLarge extends Schema.TaggedError<AnswerTooLarge>()("AnswerTooLarge", {}) {}

/** The text of an answer, read up to `limit` bytes. */
export const textOf = <E>(
  { stream }: { readonly stream: Stream.Stream<Uint8Array, E> },
  limit = answerLimit,
): Effect.Effect<string, E | AnswerTooLarge> =>
  Stream.limitBytes<E | AnswerTooLarge, never>(stream, limit, () => Stream.fail(new AnswerTooLarge({}))).pipe(
    Stream.decodeText,
    Stream.mkString,
  )
