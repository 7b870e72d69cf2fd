/** Verifies offline that the log includes a stone, from the stone, one file and the log's key. */
import { base64, hex } from "../../../schema/log/Bytes.ts"
import { entryOf, indexOf } from "../../../schema/log/Entry.ts"
import { parseProofFile } from "../../../schema/log/ProofFile.ts"
import type { Link } from "../Verify.ts"
import { includes } from "./MerkleProofs.ts"
import { type Cosignature, opened, type Trust } from "./SignedCheckpoint.ts"
import { formed, type NotProven, Unproven, verdictOf } from "./Verdict.ts"
import { leaf, sha256 } from "./WebCrypto.ts"

export interface StoneProven {
  readonly ok: true
  readonly origin: string
  /** Index of the stone, from 0. */
  readonly index: number
  /** Size of the signed tree, and its root in base64. */
  readonly size: number
  readonly root: string
  readonly cosignatures: ReadonlyArray<Cosignature>
  /** Names of witnesses whose post-quantum signatures this platform cannot check. */
  readonly unchecked: ReadonlyArray<string>
}

/**
 * Whether a `.tlog-proof` proves that the log includes this stone: its previous hash, sequence, commitment, time and
 * transaction. The log certifies other members of a stone only as far as these five bind them.
 */
export const verifyProof = (file: string, stone: Link, trust: Trust): Promise<StoneProven | NotProven> =>
  verdictOf(async () => {
    const proof = formed(parseProofFile(file))
    const entry = entryOf(stone)
    const index = indexOf(stone)
    if (proof.index !== index)
      throw new Unproven("inclusion", `The proof is of stone ${proof.index + 1}, not of stone ${stone.sequence}.`)
    const { checkpoint, cosignatures, unchecked } = await opened(proof.checkpoint, trust)
    const { origin, root, size } = checkpoint
    // Uses the chain's hash function: a page that has it need not load another.
    const computed = hex(await sha256(entry))
    if (computed !== stone.chainHash)
      throw new Unproven(
        "stone",
        `Stone ${stone.sequence}: its parts hash to ${computed}, but it says ${stone.chainHash}.`,
      )
    if (!(await includes(checkpoint, index, await leaf(entry), proof.hashes)))
      throw new Unproven("inclusion", `The tree of ${size} stones that ${origin} signed does not hold this stone.`)
    return { ok: true, origin, index, size, root: base64(root), cosignatures, unchecked }
  })
