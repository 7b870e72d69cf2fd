/** A log of another operator, of any entries, with proofs that witnesses of the test cosigned. */
import { Result } from "effect"
import { concat, utf8 } from "../../../schema/log/Bytes.ts"
import { proofFileText } from "../../../schema/log/ProofFile.ts"
import { fromText, generate } from "../../../src/log/Signer.ts"
import { leafOf } from "../../../src/log/Tree.ts"
import { MemoryLog } from "./MemoryLog.ts"
import type { Cosigner } from "./Witness.ts"

export const foreignLog = (
  name: string,
  entries: ReadonlyArray<string>,
  cosigners: ReadonlyArray<Cosigner> = [],
  origin = name,
) => {
  const signer = Result.getOrThrow(fromText(Result.getOrThrow(generate(name))))
  const log = new MemoryLog().append(entries.map((entry) => leafOf(utf8(entry))))
  const note = signer.note({ origin, size: log.size, root: concat(log.root), extensions: [] })
  const text = note.slice(0, note.indexOf("\n\n") + 1)
  const checkpoint = `${note}${cosigners.map((one) => one.line(text, 1_790_000_000)).join("")}`
  return {
    vkey: signer.vkey,
    checkpoint,
    proof: (index: number) => proofFileText({ extra: undefined, index, hashes: log.inclusion(index), checkpoint }),
  }
}
