/** Verifies offline that any C2SP tiled log includes an entry, from its bytes or its leaf hash. */
import { base64, type Bytes } from "../../../schema/log/Bytes.ts"
import { parseProofFile, type ProofFile } from "../../../schema/log/ProofFile.ts"
import { includes } from "./MerkleProofs.ts"
import { type Cosignature, opened, type Trust } from "./SignedCheckpoint.ts"
import { formed, type NotProven, Unproven, verdictOf } from "./Verdict.ts"
import { leaf } from "./WebCrypto.ts"

export interface EntryProven {
  readonly ok: true
  readonly origin: string
  /** Index of the entry, from 0. */
  readonly index: number
  /** Size of the signed tree, and its root in base64. */
  readonly size: number
  readonly root: string
  readonly cosignatures: ReadonlyArray<Cosignature>
}

/** Throws unless the signed tree of the proof has this leaf at the proof's index. */
export const included = async (proof: ProofFile, leafHash: Bytes, trust: Trust): Promise<EntryProven> => {
  const { checkpoint, cosignatures } = await opened(proof.checkpoint, trust)
  const { origin, root, size } = checkpoint
  if (!(await includes(checkpoint, proof.index, leafHash, proof.hashes)))
    throw new Unproven(
      "inclusion",
      `The tree of ${size} entries that ${origin} signed does not hold this one at ${proof.index}.`,
    )
  return { ok: true, origin, index: proof.index, size, root: base64(root), cosignatures }
}

/** Whether a `.tlog-proof` proves that a log includes these bytes; it says nothing about their meaning. */
export const verifyEntry = (
  file: string,
  of: { readonly entry: Bytes } | { readonly leaf: Bytes },
  trust: Trust,
): Promise<EntryProven | NotProven> =>
  verdictOf(async () => included(formed(parseProofFile(file)), "leaf" in of ? of.leaf : await leaf(of.entry), trust))
