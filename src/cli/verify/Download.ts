/** Bounded downloads from an altar: no redirects, with limits on size and time. */
import { Effect, Layer, Option, Schedule, Schema } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { textOf } from "../../platform/Answers.ts"
import { altarFetch } from "../buyer/AltarFetch.ts"
import { plain } from "../Output.ts"
import { CheckFailed, CommandFailure } from "../CommandFailure.ts"

export const client = FetchHttpClient.layer.pipe(
  Layer.provide(Layer.effect(FetchHttpClient.Fetch, altarFetch)),
  Layer.provide(Layer.succeed(FetchHttpClient.RequestInit, { redirect: "error" })),
)

/** One failed request must not end a check of a million stones: three retries, half a second to two seconds apart. */
export const again = Schedule.exponential("500 millis").pipe(Schedule.upTo({ times: 3 }))

const refusalIn = Schema.decodeOption(
  Schema.fromJsonString(Schema.Struct({ code: Schema.String, message: Schema.String })),
)

const missing = (why: string, mayPass: boolean) => ({ why, mayPass, broken: undefined })

/** The reason of an unsuccessful answer. A fault that the altar names itself will not pass. */
const refused = (status: number, body: string) => {
  const { code, message } = Option.getOrElse(refusalIn(body), () => ({ code: "internal", message: "" }))
  const isBroken = code === "chain_broken" || code === "reveal_broken"
  return {
    ...missing(
      `it was answered ${status}`,
      status === 429 || (status >= 500 && (status !== 500 || code === "internal")),
    ),
    broken: isBroken ? message : undefined,
  }
}

/** The text at an address, 1 MB at most. */
export const text = (address: string) =>
  HttpClient.get(address).pipe(
    Effect.flatMap((response) => Effect.map(textOf(response), (body) => ({ status: response.status, body }))),
    Effect.timeout("30 seconds"),
    Effect.mapError((error) =>
      error._tag === "AnswerTooLarge"
        ? missing("it answers more than 1 MB", false)
        : missing(error._tag === "TimeoutError" ? "it takes more than 30 seconds" : error.message, true),
    ),
    Effect.flatMap(({ body, status }) => (status === 200 ? Effect.succeed(body) : Effect.fail(refused(status, body)))),
    Effect.retry({ while: ({ mayPass }) => mayPass, schedule: again }),
    Effect.mapError(({ broken, why }) =>
      broken === undefined
        ? new CommandFailure({ message: plain(`${address} could not be read: ${why}`) })
        : new CheckFailed({ message: plain(`BROKEN at ${address}, as the altar itself says: ${broken}`) }),
    ),
  )

export const json = <A>(address: string, schema: Schema.Decoder<A>) =>
  Effect.flatMap(text(address), (body) =>
    Effect.mapError(
      Schema.decodeEffect(Schema.fromJsonString(schema))(body),
      () => new CommandFailure({ message: `${address} is not what an altar answers.` }),
    ),
  )
