/** Removes secrets from log lines and spans, as a second safeguard after not logging them. */

const secrets: ReadonlyArray<readonly [what: RegExp, instead: string]> = [
  // Signatures, call data and signed payloads are longer than a hash.
  [/0x[0-9a-fA-F]{65,}/gu, "<hex>"],
  // Wallets. A hash is longer, and stays.
  [/0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/gu, "<wallet>"],
  [/(\/\/)[^\s/@"]+@/gu, "$1<user>@"],
  [/\b(Bearer|Basic|Payment)\s+[\w.~+/=-]{8,}/gu, "$1 <token>"],
  [/(PRIVATE\+KEY\+)[^\s"]+/gu, "$1<key>"],
  // PostgreSQL quotes the values that violate a key: idempotency keys, nonces, names of claims.
  [/Key \(([^)]*)\)=\([^)]*\)/gu, "Key ($1)=<values>"],
  [/(\/api\/reconcile\/)[\w-]+/gu, "$1<key>"],
  [/(\/api\/rooms\/)[\w-]+/gu, "$1<room>"],
]

export const scrubbed = (text: string): string =>
  secrets.reduce((rest, [what, instead]) => rest.replace(what, instead), text)
