/** `verify_witness`: recomputes a stone's link and revealed words from storage, and states the extent of the check. */
import { Effect, Option, Schema } from "effect"
import { checkLink, holds } from "../../schema/altar/ChainCheck.ts"
import type { ListedStone } from "../../schema/altar/Witness.ts"
import { Receipt } from "../../schema/payments/Payment.ts"
import {
  type Verification,
  Verification as VerificationSchema,
  VerificationQuery,
} from "../../schema/agents/Verification.ts"
import { brokenIn } from "../altar/Answers.ts"
import { chainHash, seal } from "../altar/Hashes.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { boundNonce } from "../payments/verify/Offer.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { agentTool } from "./AgentTool.ts"
import * as Words from "./Words.ts"

const receiptOf = Schema.decodeUnknownEffect(Receipt)

/** The hash of the shown words and their salt. */
const recomputed = ({ commitment, reveal }: typeof ListedStone.Type): Verification["reveal"] => {
  if (reveal === null || reveal.text === null) return null
  const computed = seal(reveal.salt ?? "", reveal.text)
  return { recomputed: computed, holds: computed === commitment }
}

/** The nonce derived from the binding, compared with the one that was paid. */
const bindingOf = ({ binding }: Pick<typeof Receipt.Type, "binding">, paid: string | null): Verification["binding"] => {
  if (binding === null) return null
  const nonce = boundNonce(binding, Buffer.from(binding.salt, "base64url"))
  return { state: nonce === paid ? "holds" : "broken", nonce }
}

export const verifyWitness = Effect.gen(function* () {
  const stones = yield* WitnessStones
  const chain = yield* WitnessChain
  const publicUrl = yield* PublicUrl
  const log = yield* PublishedLog

  /** Where the log proves a stone, once a checkpoint covers it; null without a log. */
  const proofOf = (id: string) =>
    Option.getOrNull(Option.map(log.identity, (known) => ({ ...known, proof: `${publicUrl}/api/witness/${id}/proof` })))

  const run = Effect.fn("verifyWitness")(
    function* ({ witnessId }: typeof VerificationQuery.Type) {
      const { nonce, receipt, stone } = yield* stones.get(witnessId)
      // Anchored on the link before it, which is re-hashed as well.
      const { anchor, head } = yield* chain.segment(stone.sequence, 1)
      const check = checkLink(stone, anchor, chainHash(stone))
      const paid = yield* receiptOf(receipt)
      const reveal = recomputed(stone)
      const bound = bindingOf(paid, nonce)
      const verification: Verification = {
        ok: true,
        verified: holds(check) && reveal?.holds !== false && bound?.state !== "broken",
        stone,
        receipt: paid,
        link: { recomputed: check.computed, holds: check.hashes },
        reveal,
        binding: bound,
        predecessor: { ...anchor, holds: check.follows },
        head,
        log: proofOf(stone.id),
        proves: Words.proves,
        doesNotProve: Words.doesNotProve,
        checkYourself: {
          chain: `${publicUrl}/api/witness/chain?from=${stone.sequence}&limit=1`,
          explorer: paid.explorerUrl,
        },
      }
      return verification
    },
    Effect.catchTag("ChainBroken", brokenIn("stone")),
  )

  return agentTool({
    name: "verify_witness",
    title: "Recompute a witness stone",
    description:
      "Checks one witness stone by its id: recomputes its link, the link before it and its revealed words, and says what that proves and what it does not. Use it to verify a timestamped commitment. Free.",
    input: VerificationQuery,
    output: VerificationSchema,
    run,
  })
})
