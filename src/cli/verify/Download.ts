/** Bounded downloads from an altar: no redirects, with limits on size and time. */
import { Effect, Layer, Option, Schedule, Schema } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { textOf } from "../../platform/Answers.ts"
import { reasonOf } from "../../buyer/PurchaseError.ts"
import { broken, CommandFailure } from "../CommandFailure.ts"
import { whichAltar } from "../Flags.ts"
import { plain } from "../Output.ts"

export const client = FetchHttpClient.layer.pipe(
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
)

/** One failed request must not end a check of a million stones: three retries, half a second to two seconds apart. */
export const again = Schedule.exponential("500 millis").pipe(Schedule.upTo({ times: 3 }))

const refusalIn = Schema.decodeOption(
  Schema.fromJsonString(Schema.Struct({ code: Schema.String, message: Schema.String })),
)

class Unread extends Schema.TaggedError<Unread>()("Unread", { message: Schema.String, mayPass: Schema.Boolean }) {}

const unread = (address: string, why: string, advice: string) =>
  new CommandFailure({ message: plain(`${address} could not be read: ${why}. ${advice}`) })

/** The text at an address, 1 MB at most. */
export const text = (address: string) =>
  Effect.gen(function* () {
    const response = yield* HttpClient.get(address)
    const body = yield* textOf(response)
    if (response.status === 200) return body
    const { code, message } = Option.getOrElse(refusalIn(body), () => ({ code: "internal", message: "" }))
    if (code === "chain_broken" || code === "reveal_broken")
      return yield* broken(`${address}, as the altar itself says`, message)
    const mayPass = response.status === 429 || response.status >= 500
    return yield* new Unread({ message: `it was answered ${response.status}`, mayPass })
  }).pipe(
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () => new Unread({ message: "it takes more than 30 seconds", mayPass: true }),
    }),
    Effect.catchTag("AnswerTooLarge", () => new Unread({ message: "it answers more than 1 MB", mayPass: false })),
    Effect.retry({
      while: (error) => error._tag === "HttpClientError" || (error._tag === "Unread" && error.mayPass),
      schedule: again,
    }),
    Effect.catchTags({
      HttpClientError: (error) => unread(address, reasonOf(error), whichAltar),
      Unread: ({ mayPass, message }) => unread(address, message, mayPass ? "Try again later." : whichAltar),
    }),
  )

export const json = <A>(address: string, schema: Schema.Decoder<A>) =>
  Effect.flatMap(text(address), (body) =>
    Effect.mapError(
      Schema.decodeEffect(Schema.fromJsonString(schema))(body),
      () => new CommandFailure({ message: `${address} is not what an altar answers. ${whichAltar}` }),
    ),
  )
