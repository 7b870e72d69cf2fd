/** Verifies offline that the log includes a stone, from the stone, one file and the log's key. */
import { hex } from "../../../schema/log/Bytes.ts"
import { entryOf, indexOf } from "../../../schema/log/Entry.ts"
import { parseProofFile } from "../../../schema/log/ProofFile.ts"
import type { Link } from "../Verify.ts"
import { type EntryProven, included } from "./EntryProof.ts"
import type { Trust } from "./SignedCheckpoint.ts"
import { formed, type NotProven, Unproven, verdictOf } from "./Verdict.ts"
import { leaf, sha256 } from "./WebCrypto.ts"

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
    // Uses the chain's hash function: a page that has it need not load another.
    const computed = hex(await sha256(entry))
    if (computed !== stone.chainHash)
      throw new Unproven(
        "stone",
        `Stone ${stone.sequence}: its parts hash to ${computed}, but it says ${stone.chainHash}.`,
      )
    return included(proof, await leaf(entry), trust)
  })
