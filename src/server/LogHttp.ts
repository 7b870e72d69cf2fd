/** The API of the log: its identity and state, and the proof of one stone. */
import { DateTime, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { NotFound } from "../../schema/Errors.ts"
import { base64 } from "../../schema/log/Bytes.ts"
import { WitnessNotFound } from "../../schema/altar/Witness.ts"
import { LogHalted, type LogStatus, ProofNotReady } from "../../schema/log/LogApi.ts"
import { brokenIn } from "../altar/Answers.ts"
import * as Files from "../log/Http.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { toMiddleware } from "../platform/Sql.ts"

export const handlers = HttpApiBuilder.group(Api, "log", (handlers) =>
  Effect.gen(function* () {
    const log = yield* PublishedLog
    const url = `${yield* PublicUrl}${Files.prefix}`

    /** A stone that is not covered will be by the next checkpoint, unless the log is stopped. */
    const notYet = Effect.flatMap(log.state, ({ rest, state }) =>
      Effect.fail(state === "stopped" ? new LogHalted({}) : new ProofNotReady({ retryAfter: 1 + rest })),
    )

    const identity = Effect.mapError(Effect.fromOption(log.identity), () => new NotFound({}))

    const errors = { NotPublished: () => notYet, LogStopped: () => Effect.fail(new LogHalted({})) }

    const status = Effect.gen(function* () {
      const { origin, vkey } = yield* identity
      const { at, note, root, size } = yield* log.checkpoint
      const body: typeof LogStatus.Type = {
        ok: true,
        origin,
        vkey,
        url,
        state: (yield* log.state).state,
        size,
        root: base64(root),
        publishedAt: DateTime.formatIso(DateTime.fromDateUnsafe(at)),
        checkpoint: note,
      }
      return HttpApiSchema.withHeaders({ body, headers: { "cache-control": "no-cache" } })
    }).pipe(Effect.catchTags(errors), toMiddleware)

    const proofOf = (id: string) =>
      Effect.gen(function* () {
        yield* identity
        const { isFinal, sequence, text } = yield* log.proof(id)
        return HttpServerResponse.text(text, {
          contentType: "text/plain; charset=utf-8",
          headers: {
            // The bytes change with each checkpoint. A proof signed by the quorum needs no later one. A cache may show
            // any other proof for five seconds, and never a stale one.
            "cache-control": isFinal ? "public, max-age=31536000, immutable" : "public, max-age=5, must-revalidate",
            "content-disposition": `attachment; filename="stone-${sequence}.tlog-proof"`,
          },
        })
      }).pipe(
        Effect.catchTags({
          ...errors,
          ChainBroken: brokenIn("stone"),
          EntryUnknown: () => Effect.fail(new WitnessNotFound({})),
        }),
        toMiddleware,
      )

    return handlers
      .handle("readLog", () => status)
      .handleRaw("readStoneProof", ({ params }) => proofOf(params.witnessId))
  }),
)
