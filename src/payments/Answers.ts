/** How much is read of what a facilitator, a card processor or a node answers: more than that is no answer. */
import { type Effect, Schema, Stream } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"

/** Bytes of an answer at most; the rest is neither read nor kept. */
export const answerLimit = 1_048_576

/** The answer was longer than `answerLimit`; it proves nothing. */
export class AnswerTooLarge extends Schema.TaggedError<AnswerTooLarge>()("AnswerTooLarge", {}) {}

type Unread = HttpClientError.HttpClientError | AnswerTooLarge

/** The text of an answer, read up to the limit. */
export const textOf = (response: HttpClientResponse.HttpClientResponse): Effect.Effect<string, Unread> =>
  Stream.limitBytes<Unread, never>(response.stream, answerLimit, () => Stream.fail(new AnswerTooLarge({}))).pipe(
    Stream.decodeText,
    Stream.mkString,
  )
