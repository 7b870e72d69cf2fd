/** The x402 extension `request-binding`, and the binding of a receipt. `BindingRecipe.ts` has the recipe. */
import { Schema } from "effect"
import { Hex64, Url } from "../Common.ts"
import { patterned } from "../Fields.ts"
import { bindingSaltMaximum, bindingSaltMinimum } from "./BindingRecipe.ts"

export const BindingSalt = patterned(/^[A-Za-z0-9_-]{22,43}$/u, 43, 22).annotate({
  identifier: "BindingSalt",
  description: `${bindingSaltMinimum} to ${bindingSaltMaximum} random bytes in base64url without padding.`,
  examples: ["AAECAwQFBgcICQoLDA0ODw"],
})

export const JsonSchema = Schema.Record(Schema.String, Schema.Json).annotate({
  description: "A JSON Schema of `info`.",
})

/** The offer's extension: this server reads bound payments. */
export const RequestBindingExtension = Schema.Struct({
  info: Schema.Struct({ version: Schema.Literal(1) }),
  schema: JsonSchema,
}).annotate({
  identifier: "RequestBindingExtension",
  description:
    "x402 extension: a payment may be bound to its request. Derive the nonce by the recipe and send `info: { version: 1, salt }`. A random nonce without the marker is as valid.",
})

/** The binding of a receipt, absent while a text of the act is hidden, since it would confirm guesses. */
export const Binding = Schema.Struct({
  version: Schema.Literal(1),
  salt: BindingSalt,
  method: Schema.Literal("POST"),
  url: Url,
  bodySha256: Hex64,
}).annotate({
  identifier: "Binding",
  description:
    "The request that this payment names. nonce = marker + first 24 bytes of SHA-256(UTF-8(`spirit-altar/bound/1`) 00 method 00 url 00 bodySha256 00 salt); bodySha256 is over the canonical JSON (RFC 8785) of the body.",
})
export type Binding = typeof Binding.Type
