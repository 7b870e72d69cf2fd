/** The authorizations of receipt keys out of the operator's file: read at the start, and compared with stones and chain. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, FileSystem, Layer, Option, Redacted, Schema } from "effect"
import { SignedStatement } from "../../schema/altar/ReceiptFile.ts"
import { ChainEntry } from "../../schema/altar/Witness.ts"
import { SignedActs } from "../altar/SignedActs.ts"
import { authorizationHash, isAuthorized } from "../buyer/receipt/Authority.ts"
import { contractSigned } from "../buyer/receipt/ContractSigned.ts"
import type { Configured } from "../payments/Payments.ts"
import { didOf, keyId, type PublishedAuthorization, ReceiptKeys } from "../payments/receipts/ReceiptKeys.ts"
import { log } from "../platform/LogMessages.ts"
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
  // Its contract is asked while the server runs, which a silent node must not keep from starting.
  if (one.type === "contract") return undefined
  const isSigned = yield* Effect.promise(() => isAuthorized(one))
  return isSigned === true ? undefined : `the statement of ${kid} is not signed by ${payTo}.`
})

const asLink = Schema.decodeUnknownOption(Schema.fromJsonString(ChainEntry))

/** The stone that seals an authorization, if this altar has it. */
export const stoneOf = Effect.fnUntraced(function* ({ stone: id, ...signed }: PublishedAuthorization) {
  const acts = yield* SignedActs
  const sealing = yield* Effect.option(acts.get(id))
  const stone = Option.flatMap(sealing, ({ record }) => asLink(record?.text))
  const commitment = yield* Effect.promise(() => authorizationHash(signed))
  return Option.filter(stone, (one) => one.commitment === commitment)
})

/** Why a reader could not rely on an authorization, for its operator: its stone, and the signature of a contract. */
export const unprovenIn = Effect.fn("unprovenIn")(function* (one: PublishedAuthorization, payments: Configured) {
  const { kid, payTo } = one.statement
  if (Option.isNone(yield* stoneOf(one)))
    return `the stone ${one.stone} of ${kid} is not set here, or seals something else`
  if (one.type === "key" || "length" in payments) return undefined
  const isSigned = yield* Effect.promise(() =>
    contractSigned(Redacted.value(payments.rpcUrl))(one).catch(() => undefined),
  )
  if (isSigned === undefined) return `the node of RPC_URL could not be asked whether ${payTo} signed for ${kid}`
  return isSigned ? undefined : `the contract ${payTo} does not accept the signature for ${kid}`
})

/** Warns of each authorization that no reader could rely on. The start does not wait for it. */
export const checked = (payments: Configured) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const { authorizations = [] } = (yield* ReceiptKeys) ?? {}
      yield* Effect.forEach(authorizations, (one) =>
        Effect.flatMap(unprovenIn(one, payments), (reason) =>
          reason === undefined ? Effect.void : log("receipt authorization unproven", { reason }),
        ),
      ).pipe(Effect.forkScoped)
    }),
  )

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
