/** Checks the `.tlog-proof` of a stone, one line each: its checkpoint, its cosignatures, and the entry. */
import { Malformed } from "../../../schema/log/Bytes.ts"
import { parseProofFile } from "../../../schema/log/ProofFile.ts"
import { openCheckpoint, type Opened, type Trust } from "../log/SignedCheckpoint.ts"
import { verifyProof } from "../log/EntryProof.ts"
import type { Link } from "../core/Chain.ts"
import { fault, holds, open, type ReceiptCheck } from "./Checks.ts"

/** The stone that the log is said to hold. `others` are its members that the log does not certify. */
export interface Logged {
  readonly stone: Link
  readonly others?: ReadonlyArray<string>
}

/** The members of a stone that a proof covers; `chainHash` is the hash of the other five. */
const covered = ["previousHash", "sequence", "commitment", "witnessedAt", "transaction", "chainHash"]

const dayOf = (seconds: number) => new Date(seconds * 1000).toISOString()

export const cosignatureCheck = ({ cosignatures }: Opened): ReceiptCheck =>
  cosignatures.length > 0
    ? holds(
        "cosignatures",
        `Cosigned by ${cosignatures.map(({ name, seconds }) => `${name} (${dayOf(seconds)})`).join(", ")}: enough for the policy.`,
      )
    : open("cosignatures", "No cosigner was checked: name some in a policy. Alone, a log can show two histories.")

/** Checks offline that a log of this key holds a stone. A file that cannot be read has one broken check. */
export const checkProof = async (text: string, { others, stone }: Logged, trust: Trust) => {
  const file = parseProofFile(text)
  if (file instanceof Malformed)
    return { ok: false, checks: [fault("file", { fault: "malformed", reason: file.message })] }
  const opened = await openCheckpoint(file.checkpoint, trust)
  if (!opened.ok) {
    const name = opened.fault === "cosignatures" ? "cosignatures" : "checkpoint"
    return {
      ok: false,
      checks: [fault(name, opened), open("entry", "Without its checkpoint the proof shows nothing.")],
    }
  }
  const { origin, size } = opened.checkpoint
  const entries = size === 1 ? "entry" : "entries"
  const verdict = await verifyProof(text, stone, trust)
  const rest = `The log does not certify what the words mean, or the other members of the stone${others === undefined ? "" : `: ${others.join(", ")}`}.`
  return {
    ok: verdict.ok,
    checks: [
      holds("checkpoint", `The log ${origin} signed its tree of ${size} ${entries} with this key.`),
      cosignatureCheck(opened),
      verdict.ok
        ? holds("entry", `The tree holds stone ${stone.sequence}: ${covered.join(", ")}.`)
        : fault("entry", verdict),
      open("meaning", rest),
    ],
  }
}
