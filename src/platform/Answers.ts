/** Limits on answers of facilitators, card processors and nodes. A longer answer counts as none. */
import { type Effect, Schema, Stream } from "effect"

/** Maximum bytes of an answer. */
export const answerLimit = 1_048_576

/**
 * Maximum bytes of a receipt, whose length its sender chooses. A log costs 375 gas and a transaction may take 2^24,
 * which makes 17 MB of empty logs.
 */
export const receiptLimit = 33_554_432

/** The answer exceeded its limit and proves nothing. */
export class AnswerTooLarge extends Schema.TaggedError<AnswerTooLarge>()("AnswerTooLarge", {}) {}

/** Reads the text of an answer up to `limit` bytes. Fails beyond that. */
export const textOf = <E>(
  { stream }: { readonly stream: Stream.Stream<Uint8Array, E> },
  limit = answerLimit,
): Effect.Effect<string, E | AnswerTooLarge> =>
  Stream.limitBytes<E | AnswerTooLarge, never>(stream, limit, () => Stream.fail(new AnswerTooLarge({}))).pipe(
    Stream.decodeText,
    Stream.mkString,
  )
