/** Opens the JWS of a receipt. Its form is strict: no other algorithm, type or member, and one spelling. */
import { type Bytes, fromBase64, utf8 } from "../../../schema/log/Bytes.ts"
import { canonicalJson } from "../../../schema/payments/CanonicalJson.ts"
import { isSigned } from "../log/WebCrypto.ts"
import { Unproven } from "../core/Verdict.ts"
import { anyMembers, jsonIn, malformed, type Members, membersOf, textAt, wholeAt } from "../core/Json.ts"

const fromBase64Url = (text: string): Bytes => {
  const padded = text
    .padEnd(Math.ceil(text.length / 4) * 4, "=")
    .replaceAll("-", "+")
    .replaceAll("_", "/")
  const bytes = /[+/=]/u.test(text) ? undefined : fromBase64(padded)
  if (bytes === undefined) throw malformed("The receipt is not base64url.")
  return bytes
}

/** The object of a part, which is canonical JSON. */
const partOf = (part: string, what: string): Members => {
  const text = new TextDecoder().decode(fromBase64Url(part))
  const members = anyMembers(jsonIn(text, what), what)
  if (canonicalJson(members) !== text) throw malformed(`${what} is not in canonical JSON.`)
  return members
}

export const openJws = (jws: string) => {
  const [header = "", payload = "", signature = "", ...more] = jws.split(".")
  const bytes = fromBase64Url(signature)
  if (more.length > 0 || bytes.length !== 64)
    throw malformed("The receipt is no compact JWS with an Ed25519 signature.")
  const head = membersOf(partOf(header, "The header of the receipt"), "The header of the receipt", [
    "alg",
    "kid",
    "typ",
  ])
  if (head["alg"] !== "EdDSA") throw new Unproven("signature", "The receipt names another algorithm than EdDSA.")
  if (head["typ"] !== "x402-receipt+jws")
    throw new Unproven("signature", `This is no receipt: its type is ${JSON.stringify(head["typ"])}.`)
  return {
    kid: textAt(head, "kid", /^did:web:[^#\s]+#[A-Za-z0-9._-]{1,64}$/u),
    payload: partOf(payload, "The payload of the receipt"),
    isSignedWith: (publicKey: Bytes) => isSigned(publicKey, utf8(`${header}.${payload}`), bytes),
  }
}

const address = /^0x[0-9a-fA-F]{40}$/u
const word = /^0x[0-9a-f]{64}$/iu
const hash = /^[0-9a-f]{64}$/u

/** The claims that the receipt's key attested, by the extension's names. */
export const claimsOf = (payload: Members) => {
  const delivered = anyMembers(payload["delivered"], "delivered")
  if (payload["version"] !== 1) throw malformed("The receipt is of another version than 1.")
  return {
    network: textAt(payload, "network", /^eip155:\d{1,12}$/u),
    resourceUrl: textAt(payload, "resourceUrl", /^https?:\/\/\S+$/u),
    payer: textAt(payload, "payer", address),
    /** Seconds since 1970. */
    issuedAt: wholeAt(payload, "issuedAt"),
    transaction: textAt(payload, "transaction", word),
    act: textAt(delivered, "act", /^[A-Za-z]{1,64}$/u),
    id: textAt(delivered, "id", /^[0-9a-f-]{36}$/u),
    amount: textAt(delivered, "amount", /^[1-9]\d{0,77}$/u),
    asset: textAt(delivered, "asset", address),
    payTo: textAt(delivered, "payTo", address),
    nonce: textAt(delivered, "nonce", word),
    /** SHA-256 of the record's canonical JSON. */
    record: textAt(delivered, "record", hash),
    /** Of a stone alone. */
    stone:
      "leaf" in delivered
        ? { sequence: wholeAt(delivered, "sequence"), leaf: textAt(delivered, "leaf", hash) }
        : undefined,
  }
}

export type ReceiptClaims = ReturnType<typeof claimsOf>
