/** Decodes `PAYMENT-SIGNATURE` once for all readers. */
import { Option, Predicate, Result, Schema } from "effect"
import { PaymentPayload } from "../../../../schema/payments/Payment.ts"
import { issuesOf } from "../../../platform/Issues.ts"

export interface PaymentHeader {
  readonly rail: "x402"
  /** The id of its extension `payment-identifier`, in any form. */
  readonly identifier: Option.Option<unknown>
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

const Identified = Schema.Struct({
  extensions: Schema.Struct({ "payment-identifier": Schema.Struct({ info: Schema.Struct({ id: Schema.Unknown }) }) }),
})
const decodeIdentified = Schema.decodeUnknownOption(Identified)

const identifierIn = (json: unknown) =>
  Option.map(decodeIdentified(json), ({ extensions }) => extensions["payment-identifier"].info.id)

export const decodeHeader = (header: string): PaymentHeader => {
  const json = isBase64(header) ? decodeJson(utf8.decode(Buffer.from(header, "base64"))) : Option.none()
  return { rail: "x402", identifier: Option.flatMap(json, identifierIn), isTwice: header.includes(","), json }
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
