/** The API of the log, and the receipt file of an act: signed receipt, record, revealed words and log proof. */
import { DateTime, Effect, Option } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import { Api } from "../../schema/Api.ts"
import { type ReceiptFile, receiptFormat, ReceiptHidden, ReceiptUnsigned } from "../../schema/altar/ReceiptFile.ts"
import { NotFound } from "../../schema/Errors.ts"
import { base64 } from "../../schema/log/Bytes.ts"
import { WitnessNotFound } from "../../schema/altar/Witness.ts"
import { LogHalted, type LogStatus, ProofNotReady } from "../../schema/log/LogApi.ts"
import { brokenIn } from "../altar/Answers.ts"
import { SignedActs } from "../altar/SignedActs.ts"
import { fresh } from "../http/Responses.ts"
import * as Files from "../log/Http.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { Refunds } from "../payments/store/Refunds.ts"
import { jsonOf } from "../platform/JsonText.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { toMiddleware } from "../platform/Sql.ts"

export const log = HttpApiBuilder.group(Api, "log", (handlers) =>
  Effect.gen(function* () {
    const log = yield* PublishedLog
    const url = `${yield* PublicUrl}${Files.prefix}`

    /** A stone that is not covered will be by the next checkpoint, unless the log is stopped. */
    const notYet = Effect.flatMap(log.state, ({ state }) =>
      Effect.fail(state === "stopped" ? new LogHalted({}) : new ProofNotReady({ retryAfter: 1 })),
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

    return handlers.handle("readLog", () => status).handle("readStoneProof", ({ params }) => proofOf(params.witnessId))
  }),
)

interface Call {
  readonly params: { readonly actId: string }
  readonly request: HttpServerRequest.HttpServerRequest
}

export const receipts = HttpApiBuilder.group(Api, "receipts", (handlers) =>
  Effect.gen(function* () {
    const acts = yield* SignedActs
    const refunds = yield* Refunds
    const log = yield* PublishedLog

    /** The proof of a stone; none while no checkpoint covers it, and of any other act. */
    const proofOf = (id: string) =>
      log.proof(id).pipe(
        Effect.map(({ text }) => text),
        Effect.catchTags({
          NotPublished: () => Effect.undefined,
          EntryUnknown: () => Effect.undefined,
          LogStopped: () => Effect.undefined,
          ChainBroken: brokenIn("stone"),
        }),
      )

    const file = Effect.fnUntraced(function* ({ params, request }: Call) {
      const { actId } = params
      const parts = [acts.get(actId), proofOf(actId), refunds.ofAttempt(actId)] as const
      const [signed, proof, refund] = yield* Effect.all(parts, { concurrency: 3 })
      const { act, binding, body, dated, permalink, receipt: jws, record, reveal } = signed
      if (Option.isNone(jws)) return yield* new ReceiptUnsigned({})
      const receipt = jws.value
      // The receipt hashes the record without a salt.
      if (record === null) return yield* new ReceiptHidden({})
      return yield* fresh(
        request,
        jsonOf<typeof ReceiptFile.Encoded>({
          format: receiptFormat,
          act,
          permalink,
          receipt,
          record,
          reveal,
          binding,
          ...(binding === null || body === undefined ? {} : { body }),
          ...(proof === undefined ? {} : { log: proof }),
          ...(dated === undefined ? {} : { dated }),
          ...(Option.isNone(refund) ? {} : { refund: refund.value }),
        }),
      )
    }, toMiddleware)

    return handlers.handle("readActReceipt", file).handle("readStoneReceipt", file)
  }),
)
