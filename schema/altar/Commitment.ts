/** The commitment on the wire; `Recipe.ts` has its recipe, which a browser can load alone. */
import { Schema } from "effect"
import { Hex64 } from "../Common.ts"
import { at, envelope } from "../Refusal.ts"
import { saltMaximum, saltMinimum, wordsMaximum } from "./Recipe.ts"

/** 64 lowercase hex digits of SHA-256 over salt, one NUL byte and the normalized words. */
export const Commitment = Hex64.annotate({
  identifier: "Commitment",
  description:
    "Lowercase hex SHA-256 over the UTF-8 bytes of: salt, one NUL byte, normalized words. Words and salt stay with you until you reveal them; a reveal publishes both.",
  examples: ["6afde0a2de2a0973df45fed7040a985cb1efcdba7153d9420aa8743a19fb664a"],
})

/** The private random value of a commitment: any text without NUL and lone surrogates. */
export const Salt = Schema.String.check(
  Schema.isMinCodePoints(saltMinimum),
  Schema.isMaxCodePoints(saltMaximum),
  Schema.isPattern(/^[^\u0000\p{Cs}]*$/u),
).annotate({
  identifier: "Salt",
  description: `The salt of the commitment, ${saltMinimum} to ${saltMaximum} code points. Choose it at random for these words alone: a reveal publishes it.`,
  examples: ["5c1fd1e6a0bb4e7f9c2d"],
})

/** Words as sent; their maximum applies after normalization. */
export const Words = Schema.String.check(
  Schema.isMinCodePoints(1),
  Schema.isMaxCodePoints(4096),
  Schema.isPattern(/^[^\u0000\p{Cs}]*$/u),
).annotate({
  identifier: "Words",
  description: `The sealed words, 1 to ${wordsMaximum} code points after normalization.`,
  examples: ["The heron will return by May."],
})

export class CommitmentMismatch extends Schema.Error<CommitmentMismatch>("CommitmentMismatch")(
  envelope(
    "commitment_mismatch",
    "Salt and words do not hash to the stored commitment.",
    "Check the recipe, the salt and the exact text, and send them again.",
    "Nothing was charged or stored.",
  ),
  at(409, "Salt and words do not match the commitment."),
) {}

export class CommitmentRefused extends Schema.Error<CommitmentRefused>("CommitmentRefused")(
  envelope(
    "commitment_refused",
    "The all-zero commitment is the documentation's example.",
    "Send the commitment of your own words.",
  ),
  at(422, "The all-zero example commitment."),
) {}
