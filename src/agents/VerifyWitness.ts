/** `verify_witness`: recomputes a stone's link and revealed words from storage, and states the extent of the check. */
import { Effect, Option, Schema } from "effect"
import { checkLink, holds } from "../../schema/altar/ChainCheck.ts"
import { readWallet } from "../../schema/altar/Wallet.ts"
import type { ListedStone } from "../../schema/altar/Witness.ts"
import { Receipt } from "../../schema/payments/Payment.ts"
import { Verification, VerificationQuery } from "../../schema/agents/Verification.ts"
import { brokenIn } from "../altar/Answers.ts"
import { chainHash, seal } from "../altar/Hashes.ts"
import { WitnessChain } from "../altar/witness/WitnessChain.ts"
import { WitnessStones } from "../altar/witness/WitnessStones.ts"
import { PublishedLog } from "../log/PublishedLog.ts"
import { filled } from "../payments/Act.ts"
import { boundNonce } from "../payments/x402/verify/Offer.ts"
import { PublicUrl } from "../platform/PublicUrl.ts"
import { agentTool, badArguments } from "./AgentTool.ts"
import * as Words from "./Words.ts"

const receiptOf = Schema.decodeUnknownEffect(Receipt)

/** The hash of the shown words and their salt. */
const recomputed = ({ commitment, reveal }: typeof ListedStone.Type) => {
  if (reveal === null || reveal.text === null) return null
  const computed = seal(reveal.salt ?? "", reveal.text)
  return { recomputed: computed, holds: computed === commitment }
}

/** The nonce derived from the binding, compared with the one that was paid. */
const bindingOf = ({ binding }: Pick<typeof Receipt.Type, "binding">, paid: string | null) => {
  if (binding === null) return null
  const nonce = boundNonce(binding, Buffer.from(binding.salt, "base64url"))
  return { state: nonce === paid ? ("holds" as const) : ("broken" as const), nonce }
}

export const verifyWitness = Effect.gen(function* () {
  const stones = yield* WitnessStones
  const chain = yield* WitnessChain
  const publicUrl = yield* PublicUrl
  const { identity } = yield* PublishedLog

  const run = Effect.fn("verifyWitness")(
    function* ({ id, witnessId = id }: typeof VerificationQuery.Type) {
      if (witnessId === undefined || (id ?? witnessId) !== witnessId) {
        const message = witnessId === undefined ? "Must be present" : "Must be the same as id"
        return yield* badArguments("verify_witness", [{ path: "witnessId", message }])
      }
      const { dated, nonce, receipt, stone } = yield* stones.get(witnessId)
      // Anchored on the link before it, which is re-hashed as well.
      const { anchor, head } = yield* chain.segment(stone.sequence, 1)
      const check = checkLink(stone, anchor, chainHash(stone))
      const paid = yield* receiptOf(receipt)
      const reveal = recomputed(stone)
      const bound = bindingOf(paid, nonce)
      return {
        ok: true as const,
        verified: holds(check) && reveal?.holds !== false && bound?.state !== "broken",
        stone,
        receipt: paid,
        dated: dated.says,
        link: { recomputed: check.computed, holds: check.hashes },
        reveal,
        binding: bound,
        predecessor: { ...anchor, holds: check.follows },
        head,
        log: Option.getOrNull(
          Option.map(identity, (log) => ({ ...log, proof: `${publicUrl}/api/witness/${stone.id}/proof` })),
        ),
        proves: Words.proves,
        doesNotProve: Words.doesNotProve,
        checkYourself: {
          chain: `${publicUrl}/api/witness/chain?from=${stone.sequence}&limit=1`,
          explorer: paid.explorerUrl,
          wallet: `${publicUrl}${filled(readWallet.path, { wallet: stone.payer })}`,
        },
      }
    },
    Effect.catchTag("ChainBroken", brokenIn("stone")),
  )

  return agentTool({
    name: "verify_witness",
    title: "Recompute a witness stone",
    description:
      "Checks one witness stone by its id: recomputes its link, the link before it and its revealed words, and says what that proves and what it does not. Use it to verify a timestamped commitment. Free.",
    input: VerificationQuery,
    output: Verification,
    run,
  })
})
