/** One witness of the log, asked over HTTP (C2SP tlog-witness): it signs, or it did not; it is never waited for long. */
import { Clock, Effect, Option, Ref, Schema } from "effect"
import { HttpBody, HttpClient, HttpClientRequest } from "effect/http"
import { addCheckpointText, parseSize, sizeType } from "../../schema/log/AddCheckpoint.ts"
import { type Bytes, Malformed } from "../../schema/log/Bytes.ts"
import { type Checkpoint, parseCheckpoint, parseCosignature } from "../../schema/log/Checkpoint.ts"
import { textOf } from "../platform/Answers.ts"
import { parseNote, parseSignatureLines, signatureLine } from "../../schema/log/Note.ts"
import { nameOf } from "./witness/Memory.ts"
import { isSignedBy, type Verifier } from "./Verifier.ts"

/** It did not sign, and why not. */
export class NotWitnessed extends Schema.TaggedError<NotWitnessed>()("NotWitnessed", {
  message: Schema.String,
  /** It thinks that this is not what it signed before: what it holds may prove it. */
  isDoubt: Schema.Boolean,
}) {}

/** A checkpoint that our own key signed, as a witness holds it. */
export interface Held {
  readonly witness: string
  readonly checkpoint: Checkpoint
}

export interface Asked {
  readonly note: string
  readonly checkpoint: Checkpoint
  /** The consistency proof from an older size; nothing where there is none. */
  readonly prove: (old: number) => Effect.Effect<ReadonlyArray<Bytes>, NotWitnessed>
}

/** All that one question may take, ms: a witness that is slower is not heard. */
export const usualPatience = 1_000

/** Seconds that a witness's clock may be ahead. */
const aDay = 86_400

/** Sizes tried for one checkpoint: one is remembered, one is what the witness said, one more if it moved meanwhile. */
const mostTries = 3

const failed = (message: string, isDoubt = false) => new NotWitnessed({ message, isDoubt })

export interface LogWitness {
  readonly name: string
  readonly verifier: Verifier
  /** The signature line, checked. */
  readonly cosign: (asked: Asked) => Effect.Effect<string, NotWitnessed>
  /** The same of a witness that has signed this log before; one that has not is not made to. */
  readonly vouch: (asked: Asked) => Effect.Effect<string, NotWitnessed>
  /** The checkpoint it shows of this log, where it shows one that is signed with the log's key; fails unanswered. */
  readonly held: Effect.Effect<Option.Option<Checkpoint>, NotWitnessed>
}

export const make = Effect.fnUntraced(function* (
  name: string,
  url: string,
  verifier: Verifier,
  log: Verifier,
  patience: number,
) {
  // Somebody else's server: it is told of no trace.
  const http = HttpClient.transformResponse(
    yield* HttpClient.HttpClient,
    Effect.provideService(HttpClient.TracerPropagationEnabled, false),
  )
  const lastSize = yield* Ref.make(0)

  const bounded = <A, E extends { readonly _tag: string; readonly message: string }>(asking: Effect.Effect<A, E>) =>
    asking.pipe(
      Effect.timeoutOrElse({
        duration: patience,
        orElse: () => Effect.fail(failed(`it takes more than ${patience / 1000} s`)),
      }),
      Effect.mapError((error) => (error instanceof NotWitnessed ? error : failed(error.message || error._tag))),
    )

  const post = (body: string) =>
    HttpClientRequest.post(`${url}/add-checkpoint`).pipe(
      HttpClientRequest.setBody(HttpBody.text(body, "text/plain; charset=utf-8")),
      http.execute,
      Effect.flatMap((response) => Effect.map(textOf(response), (text) => ({ response, text }))),
    )

  const lineOf = Effect.fnUntraced(function* (text: string, answer: string) {
    const signatures = parseSignatureLines(answer)
    const own = signatures instanceof Malformed ? undefined : signatures.find((one) => verifier.holds(text, one))
    const cosignature = own === undefined ? undefined : parseCosignature(own.bytes)
    if (own === undefined || cosignature === undefined || cosignature instanceof Malformed) {
      return yield* failed(`it answered 200 without a signature that holds under ${verifier.vkey}`)
    }
    const now = (yield* Clock.currentTimeMillis) / 1000
    return cosignature.seconds > now + aDay ? yield* failed("it signs for a day to come") : signatureLine(own)
  })

  const attempt = (
    asked: Asked,
    tries: number,
    mayBeFirst = true,
  ): Effect.Effect<string, { readonly _tag: string; readonly message: string }> =>
    Effect.gen(function* () {
      const { checkpoint, note } = asked
      const old = Math.min(yield* Ref.get(lastSize), checkpoint.size)
      const { response, text } = yield* post(addCheckpointText({ old, hashes: yield* asked.prove(old), note }))
      if (response.status === 200) {
        const parsed = parseNote(note)
        const line = yield* lineOf(parsed instanceof Malformed ? "" : parsed.text, text)
        yield* Ref.set(lastSize, checkpoint.size)
        return line
      }
      const isSize = response.headers["content-type"]?.split(";")[0]?.trim() === sizeType
      const size = response.status === 409 && isSize ? parseSize(text) : undefined
      if (size === undefined) return yield* failed(`it answered ${response.status}`, response.status === 422)
      if (size === 0 && !mayBeFirst) return yield* failed("it has signed nothing of this log, and so confirms nothing")
      if (size > checkpoint.size) {
        return yield* failed(
          `it says that it signed ${size} stones, which is more than the ${checkpoint.size} of this`,
          true,
        )
      }
      if (size === old || tries <= 1) return yield* failed(`it answers 409 and ${size}, whatever is sent`)
      yield* Ref.set(lastSize, size)
      return yield* attempt(asked, tries - 1, mayBeFirst)
    })

  // What it remembers is asked anew after a failure: it may have been somebody else who moved it.
  const forgetting = <A, E>(asking: Effect.Effect<A, E>) => Effect.tapError(asking, () => Ref.set(lastSize, 0))

  const cosign: LogWitness["cosign"] = (asked) => forgetting(bounded(attempt(asked, mostTries)))

  // From the checkpoint's own size on: a witness without a memory answers 409 and 0, and signs nothing.
  const vouch: LogWitness["vouch"] = (asked) =>
    Ref.set(lastSize, asked.checkpoint.size).pipe(Effect.andThen(bounded(attempt(asked, mostTries, false))), forgetting)

  const held: LogWitness["held"] = bounded(
    Effect.gen(function* () {
      const response = yield* http.get(`${url}/${nameOf(log.name)}/checkpoint`)
      if (response.status >= 500 || response.status === 429) return yield* failed(`it answered ${response.status}`)
      const note = parseNote(response.status === 200 ? yield* textOf(response) : "")
      const checkpoint = note instanceof Malformed ? note : parseCheckpoint(note.text)
      return note instanceof Malformed || checkpoint instanceof Malformed || !isSignedBy(note, log)
        ? Option.none()
        : Option.filter(Option.some(checkpoint), ({ origin }) => origin === log.name)
    }),
  )

  return { name, verifier, cosign, vouch, held } satisfies LogWitness
})
