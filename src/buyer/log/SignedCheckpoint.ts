/** Verifies a checkpoint's signatures, the log's and its cosigners', by the keys that the reader trusts. */
import { hex, Malformed, utf8 } from "../../../schema/log/Bytes.ts"
import { parseCheckpoint } from "../../../schema/log/Checkpoint.ts"
import { cosignedBytes, parseCosignature } from "../../../schema/log/Cosignature.ts"
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
import { formed, type NotProven, Unproven, verdictOf } from "../core/Verdict.ts"
import { sha256Bytes } from "../core/Digest.ts"
import { isSigned } from "./WebCrypto.ts"

export interface Trust {
  /** The log's verifier key, `name+hash+base64`, from a source other than the log itself. */
  readonly vkey: string
  /** The first line of its checkpoints; the key's name when absent. */
  readonly origin?: string
  /** Verifier keys of cosigners and how many of them must have signed, or a policy, which also names the logs. */
  readonly cosigners?: { readonly vkeys: ReadonlyArray<string>; readonly quorum: number } | Policy
}

export interface Cosignature {
  readonly name: string
  /** Since 1970, by the cosigner's clock. */
  readonly seconds: number
}

/** Parses a key of this type and checks that its id is its own. */
export const keyOf = async (vkey: string, type: VerifierKey["type"]): Promise<VerifierKey> => {
  const key = formed(parseVerifierKey(vkey), "key")
  if (key.type !== type) throw new Unproven("key", `The key of ${key.name} is not of type ${type}.`)
  if (keyIdOf(await sha256Bytes(keyIdInput(key))) === key.id) return key
  throw new Unproven("key", `The id ${key.id} is not that of the key of ${key.name}.`)
}

const signaturesOf = (note: Note, key: VerifierKey) =>
  note.signatures.filter(({ id, name }) => name === key.name && id === key.id)

/** At least one signature of the log, and no invalid one under its key. */
const isByLog = async (note: Note, key: VerifierKey) => {
  const signatures = signaturesOf(note, key)
  const verdicts = await Promise.all(signatures.map(({ bytes }) => isSigned(key.publicKey, utf8(note.text), bytes)))
  return verdicts.length > 0 && verdicts.every(Boolean)
}

/** The signature of a cosigner, if it signed. An invalid one under its name ends the check. */
const cosigned = async (note: Note, vkey: string): Promise<Cosignature | undefined> => {
  const key = await keyOf(vkey, keyTypes.cosignature)
  const { name, publicKey } = key
  const cosignatures: Array<Cosignature> = []
  for (const { bytes } of signaturesOf(note, key)) {
    const parts = parseCosignature(bytes)
    if (
      parts instanceof Malformed ||
      !(await isSigned(publicKey, cosignedBytes(parts.seconds, note.text), parts.signature))
    )
      throw new Unproven("cosignatures", `A cosignature under the key of ${name} is wrong.`)
    cosignatures.push({ name, seconds: parts.seconds })
  }
  return cosignatures[0]
}

const hasOneTwice = (vkeys: ReadonlyArray<string>) => {
  const keys = vkeys.map(parseVerifierKey).flatMap((key) => (key instanceof Malformed ? [] : [hex(key.publicKey)]))
  return new Set(keys).size < keys.length
}

type Rules = Pick<Policy, "logs" | "quorum" | "isMet"> & { readonly vkeys: ReadonlyArray<string> }

/** The cosigners that the reader trusts, and how many of them must have signed. */
const rulesOf = (cosigners: NonNullable<Trust["cosigners"]>): Rules =>
  "isMet" in cosigners
    ? { ...cosigners, vkeys: cosigners.cosigners.map(({ vkey }) => vkey) }
    : {
        logs: [],
        vkeys: [...new Set(cosigners.vkeys)],
        quorum: String(cosigners.quorum),
        isMet: (signed) => signed.size >= cosigners.quorum,
      }

const cosignaturesOf = async (note: Note, { isMet, quorum, vkeys }: Rules): Promise<ReadonlyArray<Cosignature>> => {
  const byKey = new Map<string, Cosignature>()
  for (const vkey of vkeys) {
    const cosignature = await cosigned(note, vkey)
    if (cosignature !== undefined) byKey.set(vkey, cosignature)
  }
  // One signer must not count twice under two names.
  if (hasOneTwice(vkeys)) throw new Unproven("key", "One key of the log's cosigners is given under two names.")
  if (isMet(new Set(byKey.keys()))) return [...byKey.values()]
  throw new Unproven(
    "cosignatures",
    `${byKey.size} of the ${vkeys.length} cosigners of the policy signed, which is not its quorum ${quorum}.`,
  )
}

/** Opens a checkpoint for a further check; throws what is not proved. */
export const opened = async (noteText: string, trust: Trust) => {
  const note = formed(parseNote(noteText))
  const checkpoint = formed(parseCheckpoint(note.text))
  const key = await keyOf(trust.vkey, keyTypes.ed25519)
  const rules = rulesOf(trust.cosigners ?? { vkeys: [], quorum: 0 })
  if (rules.logs.length > 0 && !rules.logs.includes(trust.vkey))
    throw new Unproven("key", `The policy names other logs, and not the key ${trust.vkey}.`)
  const origin = trust.origin ?? key.name
  if (checkpoint.origin !== origin)
    throw new Unproven("origin", `The checkpoint is of the log ${checkpoint.origin}, not of ${origin}.`)
  if (!(await isByLog(note, key)))
    throw new Unproven("signature", `The checkpoint is not signed with the key ${key.name}+${key.id}.`)
  return { ok: true as const, checkpoint, cosignatures: await cosignaturesOf(note, rules) }
}

export type Opened = Awaited<ReturnType<typeof opened>>

/** The checkpoint of a note that the log signed, with the required cosignatures. */
export const openCheckpoint = (noteText: string, trust: Trust): Promise<Opened | NotProven> =>
  verdictOf(() => opened(noteText, trust))
