/** The receipt file of an act: signed receipt, record, revealed words and proofs under one address. */
import { Effect, Option, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerRequest } from "effect/http"
import { Api } from "../../schema/Api.ts"
import { type ReceiptFile, ReceiptUnsigned } from "../../schema/altar/ReceiptFile.ts"
import { receiptFormat } from "../../schema/payments/KeyStatement.ts"
import { brokenIn } from "../altar/Answers.ts"
import { SignedActs } from "../altar/SignedActs.ts"
import { cachedUrl } from "../http/UrlCache.ts"
import { fresh } from "../http/Responses.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { ReceiptKeys } from "../payments/receipts/ReceiptKeys.ts"
import { jsonOf, JsonText } from "../platform/JsonText.ts"

const Header = Schema.fromJsonString(Schema.Struct({ kid: Schema.String }))

/** The key that a JWS names. */
const kidOf = (jws: string) =>
  Effect.orDie(Schema.decodeEffect(Header)(Buffer.from(jws.split(".")[0] ?? "", "base64url").toString()))

interface Call {
  readonly params: { readonly actId: string }
  readonly request: HttpServerRequest.HttpServerRequest
}

export const handlers = HttpApiBuilder.group(Api, "receipts", (handlers) =>
  Effect.gen(function* () {
    const acts = yield* SignedActs
    const log = yield* PublishedLog
    const { authorizations = [] } = (yield* ReceiptKeys) ?? {}

    /** The proof of a stone; none while no checkpoint covers it, and for other acts. */
    const proofOf = (id: string) =>
      log.proof(id).pipe(
        Effect.map(({ text }) => text),
        Effect.catchTags({
          NotPublished: () => Effect.undefined,
          StoneUnknown: () => Effect.undefined,
          LogStopped: () => Effect.undefined,
          ChainBroken: brokenIn("stone"),
        }),
      )

    const file = Effect.fnUntraced(function* ({ params, request }: Call) {
      const [signed, proof] = yield* Effect.all([acts.get(params.actId), proofOf(params.actId)], { concurrency: 2 })
      const { act, permalink, receipt: found, record, reveal } = signed
      if (Option.isNone(found)) return yield* new ReceiptUnsigned({})
      const receipt = found.value
      const { kid } = yield* kidOf(receipt)
      const authorization = authorizations.find((one) => one.kid === kid)
      return yield* fresh(
        request,
        jsonOf<typeof ReceiptFile.Encoded>({
          format: receiptFormat,
          act,
          permalink,
          receipt,
          record,
          reveal,
          ...(proof === undefined ? {} : { log: proof }),
          ...(authorization === undefined ? {} : { authorization: new JsonText(authorization.text) }),
        }),
        { headers: { "access-control-allow-origin": "*" } },
      )
    })

    // Raw: the record travels as the text of the first answer.
    return (yield* cachedUrl(handlers)).handleRaw("readActReceipt", file).handleRaw("readStoneReceipt", file)
  }),
)
