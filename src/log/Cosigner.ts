/** A client for one cosigner of the log (C2SP tlog-witness), with short timeouts. */
import { Clock, Effect, Option, Ref, Schema } from "effect"
import { HttpBody, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { base64, type Bytes, fromDecimal, hex, Malformed, utf8 } from "../../schema/log/Bytes.ts"
import { type Checkpoint, parseCheckpoint } from "../../schema/log/Checkpoint.ts"
import { parseCosignature } from "../../schema/log/Cosignature.ts"
import { textOf } from "../platform/Answers.ts"
import { parseNote, parseSignatureLines, signatureLine } from "../../schema/log/Note.ts"
import { sha256 } from "./Tree.ts"
import { isSignedBy, type Verifier } from "./Verifier.ts"

/** The cosigner did not sign, for this reason. */
export class NotCosigned extends Schema.TaggedError<NotCosigned>()("NotCosigned", {
  message: Schema.String,
  /** The cosigner holds a different history, and the checkpoint it holds may prove it. */
  isDoubt: Schema.Boolean,
}) {}

/** Any failure below a request. */
interface Trouble {
  readonly _tag: string
  readonly message: string
}

/** A checkpoint that our own key signed, as a cosigner holds it. */
export interface HeldCheckpoint {
  readonly cosigner: string
  readonly checkpoint: Checkpoint
}

export interface CosignRequest {
  readonly note: string
  readonly checkpoint: Checkpoint
  /** The consistency proof from an older size. */
  readonly prove: (old: number) => Effect.Effect<ReadonlyArray<Bytes>, Trouble>
}

/** The timeout of one request in ms. */
export const defaultTimeoutMillis = 1_000

/** Maximum seconds that a cosigner's clock may be ahead. */
const aDay = 86_400

/** Maximum sizes tried for one checkpoint: the remembered one, the cosigner's own, and another if that has changed. */
const maximumTries = 3

/** The body of a request: the last size that the cosigner signed, as far as we know, a proof from it, and the note. */
const addCheckpointText = (old: number, hashes: ReadonlyArray<Bytes>, note: string): string =>
  `${[`old ${old}`, ...hashes.map(base64), ""].map((line) => `${line}\n`).join("")}${note}`

/** The media type of a 409, whose body is the last size that the cosigner signed. */
const sizeType = "text/x.tlog.size"

/** The size that the cosigner signed last, if it says so. */
const sizeIn = ({ headers, status }: HttpClientResponse.HttpClientResponse, text: string) =>
  status === 409 && headers["content-type"]?.split(";")[0]?.trim() === sizeType && text.endsWith("\n")
    ? fromDecimal(text.slice(0, -1))
    : undefined

const failed = (message: string, isDoubt = false) => new NotCosigned({ message, isDoubt })

export const make = Effect.fnUntraced(function* (
  name: string,
  url: string,
  verifier: Verifier,
  log: Verifier,
  patience: number,
) {
  // A third party gets no trace context.
  const http = HttpClient.transformResponse(
    yield* HttpClient.HttpClient,
    Effect.provideService(HttpClient.TracerPropagationEnabled, false),
  )
  const lastSize = yield* Ref.make(0)

  const bounded = <A>(asking: Effect.Effect<A, Trouble>) =>
    asking.pipe(
      Effect.timeoutOrElse({
        duration: patience,
        orElse: () => Effect.fail(failed(`it takes more than ${patience / 1000} s`)),
      }),
      Effect.mapError((error) => (error instanceof NotCosigned ? error : failed(error.message || error._tag))),
    )

  const post = (body: string) =>
    HttpClientRequest.post(`${url}/add-checkpoint`).pipe(
      HttpClientRequest.setBody(HttpBody.text(body, "text/plain; charset=utf-8")),
      http.execute,
      Effect.flatMap((response) => Effect.map(textOf(response), (text) => ({ response, text }))),
    )

  const lineOf = Effect.fnUntraced(function* (text: string, answer: string) {
    const signatures = parseSignatureLines(answer)
    const own = signatures instanceof Malformed ? undefined : signatures.find((line) => verifier.holds(text, line))
    const cosignature = own === undefined ? undefined : parseCosignature(own.bytes)
    if (own === undefined || cosignature === undefined || cosignature instanceof Malformed) {
      return yield* failed(`it answered 200 without a signature that holds under ${verifier.vkey}`)
    }
    const now = (yield* Clock.currentTimeMillis) / 1000
    return cosignature.seconds > now + aDay ? yield* failed("it signs for a day to come") : signatureLine(own)
  })

  const attempt = (
    request: CosignRequest,
    old: number,
    tries: number,
    mayBeFirst: boolean,
  ): Effect.Effect<string, Trouble> =>
    Effect.gen(function* () {
      const { checkpoint, note } = request
      const { response, text } = yield* post(addCheckpointText(old, yield* request.prove(old), note))
      if (response.status === 200) {
        const parsed = parseNote(note)
        const line = yield* lineOf(parsed instanceof Malformed ? "" : parsed.text, text)
        yield* Ref.set(lastSize, checkpoint.size)
        return line
      }
      const size = sizeIn(response, text)
      if (size === undefined) return yield* failed(`it answered ${response.status}`, response.status === 422)
      if (size === 0 && !mayBeFirst)
        return yield* failed("it has signed no checkpoint of this log, so it confirms none")
      if (size > checkpoint.size) {
        return yield* failed(
          `it says that it signed ${size} entries, which is more than the ${checkpoint.size} of this`,
          true,
        )
      }
      if (size === old || tries <= 1) return yield* failed(`it answers 409 and ${size} to every request`)
      return yield* attempt(request, size, tries - 1, mayBeFirst)
    })

  /** The cosigner's checkpoint of this log, if it shows one signed with the log's key. Fails without an answer. */
  const held = bounded(
    Effect.gen(function* () {
      const response = yield* http.get(`${url}/${hex(sha256(utf8(log.name)))}/checkpoint`)
      if (response.status >= 500 || response.status === 429) return yield* failed(`it answered ${response.status}`)
      const note = parseNote(response.status === 200 ? yield* textOf(response) : "")
      const checkpoint = note instanceof Malformed ? note : parseCheckpoint(note.text)
      return note instanceof Malformed || checkpoint instanceof Malformed || !isSignedBy(note, log)
        ? Option.none()
        : Option.filter(Option.some(checkpoint), ({ origin }) => origin === log.name)
    }),
  )

  /** None, or a failure if the cosigner may have signed something that it does not show. */
  const unsigned = Effect.fnUntraced(function* (empty: string) {
    const { response, text } = yield* post(addCheckpointText(0, [], empty))
    const size = sizeIn(response, text)
    if (size !== undefined && size > 0) {
      return yield* failed(`it signed ${size} entries, and shows no checkpoint of them`)
    }
    // It signs the empty log, holds it, does not know this log, or signs no empty one: nothing is there to contradict.
    if (size === 0 || [200, 404, 422].includes(response.status)) return Option.none<Checkpoint>()
    return yield* failed(`it shows no checkpoint, and answered ${response.status}`)
  })

  return {
    name,
    verifier,
    /** Returns the verified signature line. */
    cosign: (request: CosignRequest) =>
      Effect.flatMap(Ref.get(lastSize), (last) =>
        bounded(attempt(request, Math.min(last, request.checkpoint.size), maximumTries, true)),
      ),
    /**
     * Returns the signature line of a cosigner that has signed this log before. Starts from the checkpoint's own size: a
     * cosigner without a record answers 409 and 0 and signs nothing.
     */
    vouch: (request: CosignRequest) => bounded(attempt(request, request.checkpoint.size, maximumTries, false)),
    held,
    /** The same, but none only if it signed nothing of this log. It is shown the empty log's note to find out. */
    recall: (empty: string) =>
      Effect.flatMap(held, (shown) => (Option.isNone(shown) ? bounded(unsigned(empty)) : Effect.succeed(shown))),
  }
})
