/** A checkpoint is worth what the keys its reader brings are worth: who signed it, and which of the log's witnesses did. */
import { hex, Malformed, utf8 } from "../../../schema/log/Bytes.ts"
import { type Checkpoint, cosignedBytes, parseCheckpoint, parseCosignature } from "../../../schema/log/Checkpoint.ts"
import {
  keyIdInput,
  keyIdOf,
  keyTypes,
  type Note,
  parseNote,
  parseVerifierKey,
  type VerifierKey,
} from "../../../schema/log/Note.ts"
import type { Policy } from "../../../schema/log/Policy.ts"
import { malformed, notProven, type NotProven, orUnsupported } from "./Verdict.ts"
import { isSigned, sha256 } from "./WebCrypto.ts"

/** Whom the reader believes. */
export interface Trust {
  /** The log's verifier key, `name+hash+base64`: from anywhere but the log itself. */
  readonly vkey: string
  /** The first line of its checkpoints; the key's name when absent. */
  readonly origin?: string
  /** Verifier keys of the log's witnesses and how many of them must have signed, or a policy that says so, and which logs. */
  readonly witnesses?: { readonly vkeys: ReadonlyArray<string>; readonly quorum: number } | Policy
}

export interface Cosignature {
  readonly name: string
  /** Since 1970, by the witness's clock. */
  readonly seconds: number
}

export interface Opened {
  readonly ok: true
  readonly checkpoint: Checkpoint
  readonly cosignatures: ReadonlyArray<Cosignature>
}

/** A key whose id is its own, of a type. */
const keyOf = (vkey: string, type: VerifierKey["type"]): Promise<VerifierKey | NotProven> => {
  const key = parseVerifierKey(vkey)
  if (key instanceof Malformed) return Promise.resolve(notProven("key", key.message))
  if (key.type !== type) return Promise.resolve(notProven("key", `The key of ${key.name} is not of type ${type}.`))
  return sha256(keyIdInput(key)).then((hash) =>
    keyIdOf(hash) === key.id ? key : notProven("key", `The id ${key.id} is not that of the key of ${key.name}.`),
  )
}

const isRefused = <A extends object>(value: A | NotProven): value is NotProven => "ok" in value && value.ok === false

const signaturesOf = (note: Note, key: VerifierKey) =>
  note.signatures.filter(({ id, name }) => name === key.name && id === key.id)

/** Signed by the log: one signature at least, and none under its key that is wrong. */
const isByLog = (note: Note, key: VerifierKey): Promise<boolean> => {
  const signatures = signaturesOf(note, key)
  const message = utf8(note.text)
  return Promise.all(signatures.map(({ bytes }) => isSigned(key.publicKey, message, bytes))).then(
    (verdicts) => verdicts.length > 0 && verdicts.every(Boolean),
  )
}

/** When a witness signed; nothing when it did not, a refusal when what bears its name is wrong. */
const cosigned = (note: Note, key: VerifierKey): Promise<ReadonlyArray<Cosignature> | NotProven> =>
  Promise.all(
    signaturesOf(note, key).map(({ bytes }) => {
      const parts = parseCosignature(bytes)
      if (parts instanceof Malformed) return undefined
      const { seconds, signature } = parts
      return isSigned(key.publicKey, cosignedBytes(seconds, note.text), signature).then((isTrue) =>
        isTrue ? { name: key.name, seconds } : undefined,
      )
    }),
  ).then((found) => {
    const held = found.flatMap((one) => one ?? [])
    return held.length < found.length
      ? notProven("cosignatures", `A cosignature under the key of ${key.name} is wrong.`)
      : held.slice(0, 1)
  })

const hasOneTwice = (vkeys: ReadonlyArray<string>) => {
  const keys = vkeys.map(parseVerifierKey).flatMap((key) => (key instanceof Malformed ? [] : [hex(key.publicKey)]))
  return new Set(keys).size < keys.length
}

const cosignaturesOf = (
  note: Note,
  witnesses: NonNullable<Trust["witnesses"]>,
): Promise<ReadonlyArray<Cosignature> | NotProven> => {
  const vkeys = "isMet" in witnesses ? witnesses.witnesses.map(({ vkey }) => vkey) : [...new Set(witnesses.vkeys)]
  return Promise.all(
    vkeys.map((vkey) => keyOf(vkey, keyTypes.cosignature).then((key) => (isRefused(key) ? key : cosigned(note, key)))),
  ).then((verdicts) => {
    const refused = verdicts.find(isRefused)
    if (refused !== undefined) return refused
    // One signer must not count for two, whatever it calls itself.
    if (hasOneTwice(vkeys)) return notProven("key", "One key of the log's witnesses is given under two names.")
    const found = verdicts.map((one) => (isRefused(one) ? [] : one))
    const cosignatures = found.flat()
    if ("isMet" in witnesses) {
      const signed = new Set(vkeys.filter((_, at) => (found[at]?.length ?? 0) > 0))
      return witnesses.isMet(signed)
        ? cosignatures
        : notProven(
            "cosignatures",
            `${signed.size} of the ${vkeys.length} log witnesses of the policy signed, which is not its quorum ${witnesses.quorum}.`,
          )
    }
    return cosignatures.length >= witnesses.quorum
      ? cosignatures
      : notProven("cosignatures", `${cosignatures.length} of the log's witnesses signed; ${witnesses.quorum} must.`)
  })
}

/** The checkpoint of a note that the log signed, with the cosignatures asked for. */
export const openCheckpoint = (noteText: string, trust: Trust): Promise<Opened | NotProven> => {
  const note = parseNote(noteText)
  if (note instanceof Malformed) return Promise.resolve(malformed(note))
  const checkpoint = parseCheckpoint(note.text)
  if (checkpoint instanceof Malformed) return Promise.resolve(malformed(checkpoint))
  return keyOf(trust.vkey, keyTypes.ed25519)
    .then((key): NotProven | Promise<Opened | NotProven> => {
      if (isRefused(key)) return key
      const logs = trust.witnesses !== undefined && "isMet" in trust.witnesses ? trust.witnesses.logs : []
      if (logs.length > 0 && !logs.includes(trust.vkey)) {
        return notProven("key", `The policy names other logs, and not the key ${trust.vkey}.`)
      }
      const origin = trust.origin ?? key.name
      if (checkpoint.origin !== origin) {
        return notProven("origin", `The checkpoint is of the log ${checkpoint.origin}, not of ${origin}.`)
      }
      return isByLog(note, key).then((isTrue) =>
        isTrue
          ? cosignaturesOf(note, trust.witnesses ?? { vkeys: [], quorum: 0 }).then((cosignatures) =>
              isRefused(cosignatures) ? cosignatures : { ok: true, checkpoint, cosignatures },
            )
          : notProven("signature", `The checkpoint is not signed with the key ${key.name}+${key.id}.`),
      )
    })
    .catch(orUnsupported)
}
