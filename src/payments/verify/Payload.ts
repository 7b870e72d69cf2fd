/** Reads the content of `PAYMENT-SIGNATURE` in every exact spelling, and names the member that is wrong. */
import { Result, Schema } from "effect"
import { PaymentPayload } from "../../../schema/payments/Payment.ts"
import { issuesOf } from "../../platform/Issues.ts"

interface ReadPayload {
  readonly payload: PaymentPayload
  /** The payload as a strict client would write it, JSON. */
  readonly text: string
}

type Members = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

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
  isObject(json)
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

const decode = Schema.decodeUnknownResult(PaymentPayload)

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

export const payloadIn = (json: unknown, sent: string): Result.Result<ReadPayload, Fault> => {
  const one = spelled(json, spellings)
  return Result.mapBoth(decode(one), {
    onFailure: faultOf,
    onSuccess: (payload) => {
      const text = JSON.stringify(one)
      return { payload, text: text === JSON.stringify(json) ? sent : text }
    },
  })
}

/** The same payload with another spelling of its signature. */
export const withSignature = (text: string, signature: string): string => {
  const json: unknown = JSON.parse(text)
  return isObject(json) && isObject(json["payload"])
    ? JSON.stringify({ ...json, payload: { ...json["payload"], signature } })
    : text
}
