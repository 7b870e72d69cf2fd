/** The authorizations of receipt keys out of the operator's file, each checked before the server starts. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Schema } from "effect"
import { SignedStatement } from "../../schema/altar/ReceiptFile.ts"
import { ChainEntry } from "../../schema/altar/Witness.ts"
import { isAuthorized } from "../buyer/receipt/Authority.ts"
import { didOf, keyId, type PublishedAuthorization } from "../payments/receipts/ReceiptKeys.ts"
import type { ServerConfig } from "./config/Config.ts"

export class AuthorizationInvalid extends Schema.TaggedError<AuthorizationInvalid>()("AuthorizationInvalid", {
  message: Schema.String,
}) {}

const invalid = (says: string) => new AuthorizationInvalid({ message: `RECEIPT_AUTHORIZATIONS is wrong: ${says}` })

const File = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ ...SignedStatement.fields, stone: ChainEntry.fields.id })),
)

/** The fault of an authorization; undefined without one. */
const faultOf = Effect.fnUntraced(function* (
  one: PublishedAuthorization,
  { payments, publicUrl, receipts }: Pick<ServerConfig, "payments" | "publicUrl" | "receipts">,
) {
  const { did, jwk, kid, payTo } = one.statement
  if (did !== didOf(publicUrl)) return `the statement is of ${did}, and PUBLIC_URL is of ${didOf(publicUrl)}.`
  const keys = [receipts?.current, ...(receipts?.retired ?? [])].filter((key) => key !== undefined)
  const key = keys.find((known) => keyId(publicUrl, known) === kid)
  if (key === undefined || Buffer.from(key.publicKey).toString("base64url") !== jwk.x)
    return `the key of ${kid} is neither in RECEIPT_KEY nor in RECEIPT_KEYS_RETIRED.`
  if (key === receipts?.current && !("length" in payments)) {
    const { network, payTo: paid } = payments.terms
    if (payTo.toLowerCase() !== `${network}:${paid}`.toLowerCase())
      return `${payTo} authorized ${kid}, and PAY_TO is ${network}:${paid}. A new PAY_TO needs a new RECEIPT_KEY.`
  }
  if (one.type === "contract") return `the statement of ${kid} names a contract as its signer. Sign with a key.`
  const isSigned = yield* Effect.promise(() => isAuthorized(one))
  return isSigned === true ? undefined : `the statement of ${kid} is not signed by ${payTo}.`
})

/** The configured receipt keys with their authorizations. */
export const withAuthorizations = Effect.fn("withAuthorizations")(function* (
  config: Pick<ServerConfig, "payments" | "publicUrl" | "receipts">,
) {
  const { receipts } = config
  const file = receipts?.authorizationsFile
  if (receipts === undefined || file === undefined) return receipts
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(file), () => invalid(`${file} cannot be read.`))
  const authorizations = yield* Effect.mapError(Schema.decodeEffect(File, { onExcessProperty: "error" })(text), () =>
    invalid(`${file} is no JSON list of {statement, signature, type, stone} with the id of each stone.`),
  )
  for (const one of authorizations) {
    const fault = yield* faultOf(one, config)
    if (fault !== undefined) return yield* invalid(fault)
  }
  const names = authorizations.map(({ statement }) => statement.kid)
  if (new Set(names).size < names.length) return yield* invalid(`${file} authorizes a key twice.`)
  return { ...receipts, authorizations }
}, Effect.provide(NodeFileSystem.layer))
