/** `PAYMENT-SIGNATURE` as sent, decoded once for everybody who reads it. */
import { Option, Result, Schema } from "effect"
import { Base64 } from "effect/encoding"

export interface PaymentHeader {
  /** Whether it is padded standard base64. */
  readonly isStrict: boolean
  /** What it holds; none when that is no base64 of any kind. */
  readonly text: Option.Option<string>
  /** The text as JSON; none when it is none. */
  readonly json: Option.Option<unknown>
}

const strictBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/u

const decodeJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

const utf8 = new TextDecoder()

export const read = (header: string): PaymentHeader => {
  const bytes = Buffer.from(header, "base64")
  // What is spelled as it would be written is strict; only other spellings have to be looked at.
  if (header !== "" && bytes.toString("base64") === header) {
    const text = utf8.decode(bytes)
    return { isStrict: true, text: Option.some(text), json: decodeJson(text) }
  }
  const text = Result.getSuccess(Base64.decodeString(header))
  return { isStrict: strictBase64.test(header), text, json: Option.flatMap(text, decodeJson) }
}
