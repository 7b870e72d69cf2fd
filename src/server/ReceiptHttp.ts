/** The receipt file of an act: signed receipt, record, revealed words and proofs under one address. */
import { Effect, Option, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { HttpServerRequest } from "effect/http"
import { Api } from "../../schema/Api.ts"
import { type ReceiptFile, ReceiptHidden, ReceiptUnsigned } from "../../schema/altar/ReceiptFile.ts"
import { receiptFormat } from "../../schema/payments/KeyStatement.ts"
import { brokenIn } from "../altar/Answers.ts"
import { SignedActs } from "../altar/SignedActs.ts"
import { fresh } from "../http/Responses.ts"
import { ActsLog } from "../log/ActsLog.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { Refunds } from "../payments/store/Refunds.ts"
import { ReceiptKeys } from "../payments/receipts/ReceiptKeys.ts"
import { stoneOf } from "./ReceiptAuthorizations.ts"
import { jsonOf } from "../platform/JsonText.ts"

const Header = Schema.fromJsonString(Schema.Struct({ kid: Schema.String }))

const Claims = Schema.fromJsonString(
  Schema.Struct({
    network: Schema.String,
    issuedAt: Schema.Finite,
    delivered: Schema.Struct({ payTo: Schema.String }),
  }),
)

/** The key, the time and the paid account of a receipt of this server. */
const claimsOf = Effect.fnUntraced(function* (jws: string) {
  const [header = "", payload = ""] = jws.split(".").map((part) => Buffer.from(part, "base64url").toString())
  const { kid } = yield* Schema.decodeEffect(Header)(header)
  const { delivered, issuedAt, network } = yield* Schema.decodeEffect(Claims)(payload)
  return { kid, issuedAt: issuedAt * 1000, account: `${network}:${delivered.payTo}`.toLowerCase() }
}, Effect.orDie)

interface Call {
  readonly params: { readonly actId: string }
  readonly request: HttpServerRequest.HttpServerRequest
}

export const handlers = HttpApiBuilder.group(Api, "receipts", (handlers) =>
  Effect.gen(function* () {
    const acts = yield* SignedActs
    const refunds = yield* Refunds
    const { authorizations = [] } = (yield* ReceiptKeys) ?? {}

    /** The proof of an entry; none while no checkpoint covers it, and of an act that the log has not. */
    const proofIn = (log: PublishedLog["Service"], noun: "stone" | "act") => (id: string) =>
      log.proof(id).pipe(
        Effect.map(({ text }) => text),
        Effect.catchTags({
          NotPublished: () => Effect.undefined,
          EntryUnknown: () => Effect.undefined,
          LogStopped: () => Effect.undefined,
          ChainBroken: brokenIn(noun),
        }),
      )
    const proofOf = proofIn(yield* PublishedLog, "stone")
    const actProofOf = proofIn((yield* ActsLog).log, "act")

    /** Why the key may sign. A receipt that is older than its key's stone is not covered by it. */
    const authorizationOf = Effect.fnUntraced(function* (receipt: string) {
      const { account, issuedAt, kid } = yield* claimsOf(receipt)
      const found = authorizations.find(
        ({ statement }) =>
          statement.kid === kid &&
          statement.payTo.toLowerCase() === account &&
          Date.parse(statement.notBefore) <= issuedAt,
      )
      if (found === undefined) return undefined
      const { stone: id, ...signed } = found
      const [stone, proof] = yield* Effect.all([stoneOf(found), proofOf(id)], { concurrency: 2 })
      if (Option.isNone(stone) || proof === undefined || Date.parse(stone.value.witnessedAt) >= issuedAt)
        return undefined
      return { ...signed, stone: stone.value, proof }
    })

    const file = Effect.fnUntraced(function* ({ params, request }: Call) {
      const { actId } = params
      const found = [acts.get(actId), proofOf(actId), actProofOf(actId), refunds.ofAttempt(actId)] as const
      const [signed, proof, actProof, refund] = yield* Effect.all(found, { concurrency: 4 })
      const { act, permalink, receipt: jws, record, reveal } = signed
      if (Option.isNone(jws)) return yield* new ReceiptUnsigned({})
      const receipt = jws.value
      // The receipt hashes the record without a salt.
      if (record === null) return yield* new ReceiptHidden({})
      const authorization = yield* authorizationOf(receipt)
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
          ...(actProof === undefined ? {} : { actLog: actProof }),
          ...(Option.isNone(refund) ? {} : { refund: refund.value }),
          ...(authorization === undefined ? {} : { authorization }),
        }),
        { headers: { "access-control-allow-origin": "*" } },
      )
    })

    // Raw: the record travels as the text of the first answer.
    return handlers.handleRaw("readActReceipt", file).handleRaw("readStoneReceipt", file)
  }),
)
