/** Invite tokens: random, stored as a digest, and compared in constant time. */
import { hash, randomBytes } from "node:crypto"
import { Redacted } from "effect"

const sha256 = (data: Uint8Array | string) => hash("sha256", data, "buffer")

/** SHA-256 of the 43 characters. */
export const digestOf = (token: string): Uint8Array => sha256(token)

/** 32 random bytes as 43 base64url characters. */
export const draw = (): string => randomBytes(32).toString("base64url")

/**
 * Both digests are hashed again with this secret of the process before SQL compares them. The compared bytes are
 * unrelated to a guess, so timing reveals nothing ("double HMAC").
 */
export const blind = randomBytes(32)

/** The value of `sha256(token_digest || blind)` in a room that this token opens. */
export const proofOf = (token: Redacted.Redacted<string>) =>
  sha256(Buffer.concat([digestOf(Redacted.value(token)), blind]))

/** 128 bits of a SHA-256 as a uuid. Rooms store it for clientIds and for the content of messages. */
export const fingerprint = (text: string): string => sha256(text).toString("hex", 0, 16)
