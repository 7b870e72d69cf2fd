/** One stone, one file and one key: whether the log has the stone, offline and for ever. */
import { base64, hex, Malformed } from "../../../schema/log/Bytes.ts"
import { entryOf, indexOf } from "../../../schema/log/Entry.ts"
import { parseProofFile } from "../../../schema/log/ProofFile.ts"
import type { Link } from "../Verify.ts"
import { includes } from "./MerkleProofs.ts"
import { type Cosignature, openCheckpoint, type Trust } from "./SignedCheckpoint.ts"
import { malformed, notProven, type NotProven, orUnsupported } from "./Verdict.ts"
import { leaf, sha256 } from "./WebCrypto.ts"

export interface StoneProven {
  readonly ok: true
  readonly origin: string
  /** Of the stone, from 0. */
  readonly index: number
  /** Stones of the tree that was signed, and its root in base64. */
  readonly size: number
  readonly root: string
  readonly cosignatures: ReadonlyArray<Cosignature>
}

/**
 * Whether a `.tlog-proof` proves that the log holds this stone: its previous hash, sequence, commitment, time and
 * transaction. What a stone says beyond these five the log certifies only as far as they bind it.
 */
export const verifyProof = (file: string, stone: Link, trust: Trust): Promise<StoneProven | NotProven> => {
  const proof = parseProofFile(file)
  if (proof instanceof Malformed) return Promise.resolve(malformed(proof))
  const index = indexOf(stone)
  if (proof.index !== index) {
    return Promise.resolve(
      notProven("inclusion", `The proof is of stone ${proof.index + 1}, not of stone ${stone.sequence}.`),
    )
  }
  // Hashed as everything here is: a page that has the hashing of the chain already need not share it.
  return Promise.all([sha256(entryOf(stone)).then(hex), openCheckpoint(proof.checkpoint, trust)])
    .then(([computed, opened]): NotProven | Promise<StoneProven | NotProven> => {
      if (!opened.ok) return opened
      if (computed !== stone.chainHash) {
        return notProven(
          "stone",
          `Stone ${stone.sequence}: its parts hash to ${computed}, but it says ${stone.chainHash}.`,
        )
      }
      const { checkpoint, cosignatures } = opened
      const { origin, root, size } = checkpoint
      return leaf(entryOf(stone))
        .then((hash) => includes(checkpoint, index, hash, proof.hashes))
        .then((isIncluded) =>
          isIncluded
            ? { ok: true, origin, index, size, root: base64(root), cosignatures }
            : notProven("inclusion", `The tree of ${size} stones that ${origin} signed does not hold this stone.`),
        )
    })
    .catch(orUnsupported)
}
