/** Decodes `PAYMENT-SIGNATURE` once for all readers. Its extension `payment-identifier` may name the purchase. */
import { Effect, Option, Predicate, Result, Schema } from "effect"
import { IdempotencyKeyInvalid, IdempotencyKeyRequired } from "../../../../schema/payments/Errors.ts"
import { PaymentPayload } from "../../../../schema/payments/Payment.ts"
import { issuesOf } from "../../../platform/Issues.ts"

export interface PaymentHeader {
  /** Whether two header lines were joined by a comma. */
  readonly isTwice: boolean
  /** The decoded JSON; none if the header is not base64 of one. */
  readonly json: Option.Option<unknown>
}

/** Base64 or base64url, with or without its padding. */
const isBase64 = (header: string) =>
  /^[A-Za-z0-9+/_-]+={0,2}$/u.test(header) && header.replace(/=+$/u, "").length % 4 !== 1

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const utf8 = new TextDecoder()

export const read = (header: string): PaymentHeader => {
  const json = isBase64(header) ? decodeJson(utf8.decode(Buffer.from(header, "base64"))) : Option.none()
  return { isTwice: header.includes(","), json }
}

/** Every id of this form is a valid Idempotency-Key. */
const isIdentifier = Schema.is(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]{16,128}$/u)))

const Identified = Schema.Struct({
  extensions: Schema.Struct({ "payment-identifier": Schema.Struct({ info: Schema.Struct({ id: Schema.Unknown }) }) }),
})
const decode = Schema.decodeUnknownOption(Identified)

/** The id in a `PAYMENT-SIGNATURE` in any form; none if it is missing or unreadable. */
const identifierIn = ({ json }: PaymentHeader): Option.Option<unknown> =>
  Option.flatMap(json, decode).pipe(Option.map(({ extensions }) => extensions["payment-identifier"].info.id))

interface Named {
  /** `Idempotency-Key` as sent. */
  readonly key: string | undefined
  readonly payment: PaymentHeader | undefined
  readonly isPaid: boolean
}

/** The key of an unpaid request without one. No attempt has it. */
export const noKey = ""

/** The one key of a purchase: the header, or the id in the payment. Two different keys are rejected. */
export const keyOf = ({
  isPaid,
  key,
  payment,
}: Named): Effect.Effect<string, IdempotencyKeyRequired | IdempotencyKeyInvalid> => {
  if (!isPaid) return Effect.succeed(key ?? noKey)
  const identifier = payment === undefined ? Option.none() : identifierIn(payment)
  if (Option.isNone(identifier))
    return key === undefined ? Effect.fail(new IdempotencyKeyRequired({})) : Effect.succeed(key)
  const id = identifier.value
  if (!isIdentifier(id)) {
    return Effect.fail(
      new IdempotencyKeyInvalid({
        message:
          "The payment-identifier id must be 16 to 128 characters of A-Z a-z 0-9 _ -; correct it or leave it out. This request charged nothing.",
      }),
    )
  }
  return key === undefined || key === id
    ? Effect.succeed(id)
    : Effect.fail(
        new IdempotencyKeyInvalid({
          message:
            "Idempotency-Key and the payment-identifier id of the payment differ; one purchase has one name, so send them equal or leave one out. This request charged nothing.",
        }),
      )
}

/** A whole number that JSON carries exactly, as its digits. */
const digits = (value: unknown) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? String(value) : value

/** Hexadecimal digits with their `0x`. */
const prefixed = (value: unknown) =>
  typeof value === "string" && /^(?:0X)?[0-9a-fA-F]+$/u.test(value) ? `0x${value.replace(/^0X/u, "")}` : value

type Spelling = { readonly [member: string]: Spelling | typeof digits | typeof prefixed }

const spellings: Spelling = {
  accepted: { amount: digits, asset: prefixed, payTo: prefixed },
  payload: {
    signature: prefixed,
    authorization: {
      from: prefixed,
      to: prefixed,
      value: digits,
      validAfter: digits,
      validBefore: digits,
      nonce: prefixed,
    },
  },
}

const spelled = (json: unknown, by: Spelling): unknown =>
  Predicate.isReadonlyObject(json)
    ? {
        ...json,
        ...Object.fromEntries(
          Object.entries(by).flatMap(([member, how]) =>
            member in json
              ? [[member, typeof how === "function" ? how(json[member]) : spelled(json[member], how)]]
              : [],
          ),
        ),
      }
    : json

const decodePayload = Schema.decodeUnknownResult(PaymentPayload)

/** The member at fault, and what it must be without the full stop. */
export interface Fault {
  readonly member: string
  readonly fault: string
}

const faultOf = (error: Schema.SchemaError): Fault => {
  const [{ message, path } = { message: "Must be a JSON object", path: "" }] = issuesOf(error)
  const member = path === "" ? "PAYMENT-SIGNATURE" : path === "resource" ? "resource.url" : path.replaceAll("/", ".")
  return { member, fault: message.replace(/^Must/u, "must") }
}

export const payloadIn = (json: unknown): Result.Result<PaymentPayload, Fault> =>
  Result.mapError(decodePayload(spelled(json, spellings)), faultOf)
