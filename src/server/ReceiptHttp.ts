/** The receipt file of an act: signed receipt, record, revealed words and log proof under one address. */
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerRequest } from "effect/http"
import { Api } from "../../schema/Api.ts"
import { type ReceiptFile, receiptFormat, ReceiptHidden, ReceiptUnsigned } from "../../schema/altar/ReceiptFile.ts"
import { brokenIn } from "../altar/Answers.ts"
import { SignedActs } from "../altar/SignedActs.ts"
import { fresh } from "../http/Responses.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { Refunds } from "../payments/store/Refunds.ts"
import { jsonOf } from "../platform/JsonText.ts"
import { toMiddleware } from "../platform/Sql.ts"

interface Call {
  readonly params: { readonly actId: string }
  readonly request: HttpServerRequest.HttpServerRequest
}

export const handlers = HttpApiBuilder.group(Api, "receipts", (handlers) =>
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
      const found = [acts.get(actId), proofOf(actId), refunds.ofAttempt(actId)] as const
      const [signed, proof, refund] = yield* Effect.all(found, { concurrency: 3 })
      const { act, binding, body, permalink, receipt: jws, record, reveal } = signed
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
          ...(Option.isNone(refund) ? {} : { refund: refund.value }),
        }),
        { headers: { "access-control-allow-origin": "*" } },
      )
    }, toMiddleware)

    // Raw: the record travels as the text of the first answer.
    return handlers.handleRaw("readActReceipt", file).handleRaw("readStoneReceipt", file)
  }),
)
