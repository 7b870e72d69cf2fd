/** Invite tokens: drawn once, stored as a digest, compared without telling by time how far a guess was right. */
import { hash, randomBytes } from "node:crypto"
import { Redacted } from "effect"
import type { Statement } from "effect/sql"
import { named } from "../platform/Sql.ts"
import { part } from "../platform/SqlPart.ts"

const sha256 = (data: Uint8Array | string) => hash("sha256", data, "buffer")

/** SHA-256 of the 43 characters. */
export const digestOf = (token: string): Uint8Array => sha256(token)

/** 32 random bytes as 43 base64url characters. */
export const draw = (): string => randomBytes(32).toString("base64url")

/**
 * The comparison is SQL, so that it stands in the statement that acts on it. Both digests are hashed once more with a
 * secret of this process: the bytes that are compared are then unrelated to what a guesser controls, and the time the
 * comparison takes says nothing (the "double HMAC" comparison).
 */
export const blind = randomBytes(32)

/** Whether the token of `proof` is that of the row; both are SQL. */
export const proved = (proof: Statement.Fragment) => part`sha256(token_digest || ${named("blind")}::bytea) = ${proof}`

export const proofOf = (token: Redacted.Redacted<string>) =>
  sha256(Buffer.concat([digestOf(Redacted.value(token)), blind]))

/** 128 bits of a SHA-256 as a uuid: what a room remembers of a clientId and of a message's content. */
export const fingerprint = (text: string): string => sha256(text).toString("hex", 0, 16)
