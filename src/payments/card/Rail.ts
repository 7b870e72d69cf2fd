/** Payment by a card's granted token, which the processor charges when it is asked for evidence. */
import { Effect, Option, Redacted } from "effect"
import { centAtomic } from "../../../schema/payments/Usdc.ts"
import { DatabaseClock } from "../../platform/DatabaseClock.ts"
import { PublicUrl } from "../../platform/PublicUrl.ts"
import { timestampOf } from "../../platform/Time.ts"
import type { SoldAct } from "../Act.ts"
import { inquiryTimed } from "../Changes.ts"
import { centsOf, refuse } from "../Payment.ts"
import { type Inquiry, overdrawn, type Rail } from "../Rail.ts"
import { type ChallengeConfig, challengeOf, decodeCredential, headerOf, isOurs } from "./Challenge.ts"
import { facts } from "./Facts.ts"
import * as Processor from "./Processor.ts"

/** Lifetime of a challenge in milliseconds. */
const challengeLife = 300_000

/** The processor's minimum charge. */
const leastCents = 50n

const sells = ({ cards, priceAtomic }: SoldAct) =>
  cards && priceAtomic % centAtomic === 0n && centsOf(priceAtomic) >= leastCents

export const make = Effect.fnUntraced(function* (config: ChallengeConfig & Processor.CardProcessorConfig) {
  const realm = new URL(yield* PublicUrl).host
  const clock = yield* DatabaseClock
  const processor = yield* Processor.make(config)

  const offer: Rail<"card">["offer"] = Effect.fn("CardRail.offer")(function* (order) {
    const expires = timestampOf((yield* clock.estimate) + challengeLife)
    const challenge = challengeOf(realm, config, order.act.priceAtomic, order, expires)
    return { "www-authenticate": headerOf(challenge, order.act.description) }
  })

  /** Compares a credential with the challenge that this order would be offered. */
  const verify: Rail<"card">["verify"] = Effect.fn("CardRail.verify")(function* (credential, order) {
    if (!sells(order.act)) return yield* facts.notHere
    const answer = decodeCredential(credential)
    if (Option.isNone(answer)) {
      return yield* refuse(
        "malformed_credential",
        "Authorization holds no Payment credential with a granted token. Answer the challenge in WWW-Authenticate.",
      )
    }
    const { challenge, payload } = answer.value
    if (challenge.expires === undefined || !isOurs(challenge, config.challengeSecret)) {
      return yield* refuse("invalid_challenge", "This card challenge is not from this server. Request a new one.")
    }
    if (challenge.id !== challengeOf(realm, config, order.act.priceAtomic, order, challenge.expires).id) {
      return yield* refuse(
        "challenge_mismatch",
        "This card challenge is for another URL, body, Idempotency-Key or price. Use the one in WWW-Authenticate.",
      )
    }
    if (Date.parse(challenge.expires) <= (yield* clock.estimate)) {
      return yield* refuse("payment_expired", "This card challenge has expired. Request a new one.")
    }
    const token = Redacted.make(payload.spt)
    const { profile } = config
    const payment = { rail: "card", profile, challenge: challenge.id, token, intent: Option.none() } as const
    return { _tag: "Verified", payment, isMade: false }
  })

  /** Asks by repeating the charge: its idempotency key makes the processor answer the first outcome. */
  const evidence: Rail<"card">["evidence"] = Effect.fnUntraced(function* (attempt, payment) {
    const charge = yield* inquiryTimed(processor.evidence(attempt, payment))
    const inquiry = { reference: charge._tag === "Open" ? charge.intent : Option.none(), payment }
    if (charge._tag === "Open") return { ...inquiry, finding: { is: "nothing" } } satisfies Inquiry<"card">
    if (charge._tag === "Void")
      return { ...inquiry, finding: { is: charge.isRuling ? "ruled" : "void", reason: charge.reason } } as const
    return { ...inquiry, finding: { is: "paid", proof: { rail: "card", intent: charge.intent } } } as const
  })

  const rail: Rail<"card"> = {
    ...facts,
    sells,
    offer,
    // A processor that does not answer leaves the attempt pending.
    obstacle: { toOffer: Effect.undefined, toClaim: Effect.undefined },
    funds: Effect.succeed("ok"),
    // An invented token costs its sender nothing, and us an attempt and a charge.
    costs: "purchase",
    hasPaid: () => Effect.succeed(false),
    verify,
    // A card shows no balance, so no claim finds it overdrawn.
    reverify: () => Effect.fail(overdrawn),
    submit: () => Effect.undefined,
    resubmit: () => Effect.succeedNone,
    evidence,
  }
  return rail
})
