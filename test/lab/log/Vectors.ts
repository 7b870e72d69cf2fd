/**
 * Logs, notes and proofs that other implementations made: our output must be the same, byte for byte.
 *
 * `rfc` is the example of RFC 6962, with the roots of its first 0, 1, 2 … leaves in hex. `golden` is a log by Tessera whose
 * entry i is `entry-<i>`, with files in hex and the proof of entry 5 at size 8; `cosigner` signed its checkpoint of size 8.
 * `example` is that of C2SP signed-note, and `neumann` the key of Go's own tests. `mixedOrder` is a key that some
 * libraries accept and that must be refused.
 */
import { Malformed } from "../../../schema/log/Bytes.ts"
import { keyIdInput, keyIdOf, parseVerifierKey, verifierKeyText } from "../../../schema/log/Note.ts"
import { sha256 } from "../../../src/log/Tree.ts"
import vectors from "./vectors.json" with { type: "json" }

export const { example, golden, mixedOrder, neumann, rfc, cosigner } = vectors

/** A verifier key's text for the same key under another name. */
export const renamed = (vkey: string, name: string) => {
  const key = parseVerifierKey(vkey)
  if (key instanceof Malformed) throw new Error(key.message)
  return verifierKeyText({ ...key, name, id: keyIdOf(sha256(keyIdInput({ ...key, name }))) })
}
