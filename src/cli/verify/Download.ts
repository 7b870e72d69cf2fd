/** Bounded downloads of a check: only from the given address, without redirects, with limits on size and time. */
import { Duration, Effect, Layer, Option, Schedule, Schema, Stream } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse,
} from "effect/http"
import { concat } from "../../../schema/log/Bytes.ts"
import { AnswerTooLarge, answerLimit } from "../../platform/Answers.ts"
import { altarFetch } from "../buyer/AltarFetch.ts"
import { plain } from "../Output.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"

/** A client that follows no redirect, for a check of this altar. */
export const client = (altar: string) =>
  FetchHttpClient.layer.pipe(
    Layer.provide(Layer.effect(FetchHttpClient.Fetch, altarFetch(altar))),
    Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
  )

/** A client that follows no redirect, for anything else. */
export const plainClient = FetchHttpClient.layer.pipe(
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
)

const patience = Duration.seconds(30)

/** One failed request must not end a check of a million stones: three retries, half a second to two seconds apart. */
const again = Schedule.exponential("500 millis").pipe(Schedule.upTo({ times: 3 }))

const bodyOf = (response: HttpClientResponse.HttpClientResponse, limit: number) =>
  Stream.limitBytes<HttpClientError.HttpClientError | AnswerTooLarge, never>(response.stream, limit, () =>
    Stream.fail(new AnswerTooLarge({})),
  ).pipe(
    Stream.runCollect,
    Effect.map((parts) => concat(...parts)),
  )

const Refusal = Schema.fromJsonString(Schema.Struct({ code: Schema.String, message: Schema.String }))

/** The refusal in an unsuccessful answer, where it has the altar's form. */
const refusalIn = (body: Uint8Array) =>
  Option.getOrUndefined(Schema.decodeOption(Refusal)(new TextDecoder().decode(body)))

interface Unanswered {
  readonly isOver: boolean
  readonly why: string
  readonly refusal?: { readonly code: string; readonly message: string }
}

/** The body of the answer to a request that is safe to repeat, at most `limit` bytes; fails with the reason. */
export const answerOf = (request: HttpClientRequest.HttpClientRequest, limit: number) =>
  HttpClient.execute(request).pipe(
    Effect.flatMap((response) => Effect.map(bodyOf(response, limit), (body) => ({ status: response.status, body }))),
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(new CommandFailure({ message: "it takes more than 30 seconds" })),
    }),
    Effect.mapError((error): Unanswered => ({
      isOver: error._tag === "AnswerTooLarge",
      why: error._tag === "AnswerTooLarge" ? `it answers more than ${limit / 1_048_576} MB` : error.message,
    })),
    Effect.filterOrFail(
      ({ status }) => status === 200,
      ({ body, status }): Unanswered => {
        const refusal = refusalIn(body)
        // A fault that the altar names itself will not pass, so it is not retried.
        const isNamed = status === 500 && refusal !== undefined && refusal.code !== "internal"
        return {
          isOver: isNamed || (status < 500 && status !== 429),
          why: `it was answered ${status}`,
          ...(refusal === undefined ? {} : { refusal }),
        }
      },
    ),
    Effect.retry({ while: ({ isOver }) => !isOver, schedule: again }),
    Effect.map(({ body }) => body),
  )

/** The text at an address, 1 MB at most. */
export const text = (address: string) =>
  Effect.mapBoth(answerOf(HttpClientRequest.get(address), answerLimit), {
    onSuccess: (body) => new TextDecoder().decode(body),
    onFailure: ({ refusal, why }) =>
      refusal?.code === "chain_broken"
        ? new CheckFailed({ message: plain(`BROKEN: the altar says so itself. ${refusal.message}`) })
        : new CommandFailure({
            message: plain(`${address} could not be read: ${why}`),
            ...(refusal === undefined ? {} : { refusal }),
          }),
  })

export const json = <A>(address: string, schema: Schema.Decoder<A>) =>
  Effect.flatMap(text(address), (body) =>
    Effect.mapError(
      Schema.decodeEffect(Schema.fromJsonString(schema))(body),
      () => new CommandFailure({ message: `${address} is not what an altar answers.` }),
    ),
  )
