/**
 * A payment bound to its request: the buyer derives the EIP-3009 nonce from method, URL, body and a salt. The transfer
 * then proves which request it paid, without this server.
 */
import { Schema } from "effect"
import { Hex64, Url } from "../Common.ts"
import { patterned } from "../Fields.ts"
import { concat, hex, utf8 } from "../log/Bytes.ts"
import { canonicalJson } from "./CanonicalJson.ts"

/** The first eight bytes of a bound nonce: ASCII `altar/b1`. They tell a bound nonce from a random one. */
export const bindingMarker = "0x616c7461722f6231"

const purpose = "spirit-altar/bound/1"

/** Bytes of the hash in a nonce, after the marker. */
const hashBytes = 24

/** Bounds of a salt in bytes. It keeps the nonce from confirming guesses of a body. */
export const bindingSaltMinimum = 16
export const bindingSaltMaximum = 32

export const BindingSalt = patterned(/^[A-Za-z0-9_-]{22,43}$/u, 43, 22).annotate({
  identifier: "BindingSalt",
  description: `${bindingSaltMinimum} to ${bindingSaltMaximum} random bytes in base64url without padding.`,
  examples: ["AAECAwQFBgcICQoLDA0ODw"],
})

/** A request as its payment names it: the method, the offer's `resource.url`, and the SHA-256 of its body. */
export interface BoundRequest {
  readonly method: string
  readonly url: string
  /** Lowercase hex SHA-256 of `bodyText`. */
  readonly bodySha256: string
}

/** The text of a body that is hashed: canonical JSON (RFC 8785) of what was sent. An absent body is `{}`. */
export const bodyText = (body: Schema.Json): string => canonicalJson(body)

/** The bytes whose SHA-256 makes the nonce: purpose, method, URL, body hash and salt, joined by NUL. */
export const boundBytes = ({ bodySha256, method, url }: BoundRequest, salt: Uint8Array): Uint8Array<ArrayBuffer> =>
  concat(utf8(`${purpose}\0${method}\0${url}\0${bodySha256}\0`), salt)

/** The nonce: the marker and the first 24 bytes of the digest of `boundBytes`. */
export const nonceOf = (digest: Uint8Array): `0x${string}` => `${bindingMarker}${hex(digest.subarray(0, hashBytes))}`

/** Whether a nonce says that it is bound. */
export const isMarked = (nonce: string): boolean => nonce.toLowerCase().startsWith(bindingMarker)

const JsonSchema = Schema.Record(Schema.String, Schema.Json).annotate({ description: "A JSON Schema of `info`." })

/** The offer's extension: this server reads bound payments. */
export const RequestBindingExtension = Schema.Struct({
  info: Schema.Struct({ version: Schema.Literal(1) }),
  schema: JsonSchema,
}).annotate({
  identifier: "RequestBindingExtension",
  description:
    "x402 extension: a payment may be bound to its request. Derive the nonce by the recipe and send `info: { version: 1, salt }`. A random nonce without the marker is as valid.",
})

/** The binding of a receipt. `bodySha256` is null while a text of the act is hidden, since it would confirm guesses. */
export const Binding = Schema.Struct({
  version: Schema.Literal(1),
  salt: BindingSalt,
  method: Schema.Literal("POST"),
  url: Url,
  bodySha256: Schema.NullOr(Hex64),
}).annotate({
  identifier: "Binding",
  description:
    "The request that this payment names. nonce = marker + first 24 bytes of SHA-256(UTF-8(`spirit-altar/bound/1`) 00 method 00 url 00 bodySha256 00 salt); bodySha256 is over the canonical JSON (RFC 8785) of the body.",
})
export type Binding = typeof Binding.Type
