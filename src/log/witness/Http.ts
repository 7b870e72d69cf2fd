/** A log witness over HTTP (C2SP tlog-witness), called by the logs it signs for. */
import { ByteSize, Effect, Layer, Option } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerResponse } from "effect/http"
import { parseAddCheckpoint, sizeText, sizeType } from "../../../schema/log/AddCheckpoint.ts"
import { Malformed } from "../../../schema/log/Bytes.ts"
import { type NotCosigned, Witness } from "./Witness.ts"
import { log } from "../../platform/LogMessages.ts"

/** Fits a proof of 63 hashes and a checkpoint of 100 signatures, of 3.3 kB each by ML-DSA-44. */
const bodyLimit = ByteSize.kibibytes(384)

const statusOf = { malformed: 400, unknown: 404, unsigned: 403, elsewhere: 409, inconsistent: 422 } as const

const plain = (status: number, text: string) =>
  HttpServerResponse.text(text, {
    status,
    contentType: "text/plain; charset=utf-8",
    headers: { "cache-control": "no-store" },
  })

const refusal = ({ message, size, why }: NotCosigned) =>
  size === undefined
    ? plain(statusOf[why], `${message}\n`)
    : HttpServerResponse.text(sizeText(size), { status: statusOf[why], contentType: sizeType })

const lost = ({ message }: { readonly message: string }) =>
  Effect.as(log("witness signing failed", { reason: message }), plain(500, "This witness cannot sign now.\n"))

/** Routes without a prefix. A server with one adds it. */
export const layer = Layer.unwrap(
  Effect.map(Witness, (witness) =>
    Layer.mergeAll(
      HttpRouter.add("POST", "/add-checkpoint", (request) =>
        request.text.pipe(
          Effect.map(parseAddCheckpoint),
          Effect.catchTag("HttpServerError", () => Effect.succeed(new Malformed("The body cannot be read."))),
          Effect.flatMap((asked) =>
            asked instanceof Malformed
              ? Effect.succeed(plain(400, `${asked.message}\n`))
              : Effect.map(witness.cosign(asked), (line) => plain(200, line)),
          ),
          Effect.catchTags({ NotCosigned: (error) => Effect.succeed(refusal(error)), MemoryLost: lost }),
        ),
      ),
      HttpRouter.add("GET", "/:log/checkpoint", () =>
        Effect.flatMap(HttpRouter.params, ({ log = "" }) => witness.newest(log)).pipe(
          Effect.map(
            Option.match({
              onNone: () => plain(404, "This witness signed no checkpoint of that log.\n"),
              onSome: (note) => plain(200, note),
            }),
          ),
          Effect.catchTag("MemoryLost", lost),
        ),
      ),
    ),
  ),
).pipe(Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, bodyLimit)))
