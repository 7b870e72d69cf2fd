/** `witness --proof`: saves the proof of the stone just paid for, after checking it. */
import { Console, Effect, FileSystem } from "effect"
import type { Link } from "../../buyer/core/Chain.ts"
import type { Orders } from "../../buyer/Orders.ts"
import { refuse } from "../../buyer/PurchaseError.ts"
import { plain } from "../Output.ts"

/** A missing proof is no failure: the stone is paid for. */
export const saveProof = (orders: Orders, stone: Link & { readonly id: string }, file: string, key: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const proof = yield* orders.proof(stone.id)
    const vkey = yield* orders.logKey
    const { verifyProof } = yield* Effect.promise(() => import("../../buyer/log/EntryProof.ts"))
    const verdict = yield* Effect.promise(() => verifyProof(proof, stone, { vkey }))
    if (!verdict.ok) return yield* refuse("proof_does_not_hold", `it does not hold: ${plain(verdict.reason)}`, key)
    yield* Effect.mapError(fs.writeFileString(file, proof), () =>
      refuse("proof_not_saved", `${file} cannot be written.`, key),
    )
    yield* Console.error(plain(`proof       ${file}, checked with the key that the altar named: ${vkey}`))
  }).pipe(
    Effect.mapError(({ code, message }) =>
      refuse(
        code,
        `Stone ${stone.id} is set and paid for, but its proof was not saved: ${message} Download it later, free: /api/witness/${stone.id}/proof`,
        key,
      ),
    ),
  )
