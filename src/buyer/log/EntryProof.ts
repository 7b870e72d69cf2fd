/** Verifies offline that any C2SP tiled log includes an entry, from its bytes, its leaf hash, or the stone it is of. */
import { base64, type Bytes } from "../../../schema/log/Bytes.ts"
import { entryOf, indexOf } from "../../../schema/log/Entry.ts"
import { parseProofFile, type ProofFile } from "../../../schema/log/ProofFile.ts"
import { chainHashOf, type Link } from "../core/Chain.ts"
import { includes } from "./MerkleProofs.ts"
import { opened, type Trust } from "./SignedCheckpoint.ts"
import { formed, type NotProven, Unproven, verdictOf } from "../core/Verdict.ts"
import { leaf } from "./WebCrypto.ts"

/** Throws unless the signed tree of the proof has this leaf at the proof's index. */
const included = async (proof: ProofFile, leafHash: Bytes, trust: Trust) => {
  const { checkpoint, cosignatures } = await opened(proof.checkpoint, trust)
  const { origin, root, size } = checkpoint
  if (!(await includes(checkpoint, proof.index, leafHash, proof.hashes)))
    throw new Unproven(
      "inclusion",
      `The tree of ${size} entries that ${origin} signed does not hold this one at ${proof.index}.`,
    )
  return {
    ok: true as const,
    origin,
    /** Index of the entry, from 0. */
    index: proof.index,
    /** Size of the signed tree, and its root in base64. */
    size,
    root: base64(root),
    cosignatures,
  }
}

export type EntryProven = Awaited<ReturnType<typeof included>>

/** Whether a `.tlog-proof` proves that a log includes these bytes; it says nothing about their meaning. */
export const verifyEntry = (
  file: string,
  of: { readonly entry: Bytes } | { readonly leaf: Bytes },
  trust: Trust,
): Promise<EntryProven | NotProven> =>
  verdictOf(async () => included(formed(parseProofFile(file)), "leaf" in of ? of.leaf : await leaf(of.entry), trust))

/**
 * Whether a `.tlog-proof` proves that the log includes this stone: its previous hash, sequence, commitment, time and
 * transaction. The log certifies other members of a stone only as far as these five bind them.
 */
export const verifyProof = (file: string, stone: Link, trust: Trust): Promise<EntryProven | NotProven> =>
  verdictOf(async () => {
    const proof = formed(parseProofFile(file))
    const entry = entryOf(stone)
    if (proof.index !== indexOf(stone))
      throw new Unproven("inclusion", `The proof is of stone ${proof.index + 1}, not of stone ${stone.sequence}.`)
    const computed = await chainHashOf(stone)
    if (computed !== stone.chainHash)
      throw new Unproven(
        "stone",
        `Stone ${stone.sequence}: its parts hash to ${computed}, but it says ${stone.chainHash}.`,
      )
    return included(proof, await leaf(entry), trust)
  })
