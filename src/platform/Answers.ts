/** How much is read of what a facilitator, a card processor or a node answers: more than that is no answer. */
import { type Effect, Schema, Stream } from "effect"

/** Bytes of an answer at most; the rest is neither read nor kept. */
export const answerLimit = 1_048_576

/**
 * Bytes of a receipt at most, whose length its sender chooses: a log costs 375 gas and a transaction may take 2^24, which
 * makes 17 MB of empty logs.
 */
export const receiptLimit = 33_554_432

/** The answer was longer than it may be; it proves nothing. */
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
