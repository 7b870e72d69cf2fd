/** The card processor's promises for one charge under one idempotency key, as pure functions, and the altar's reaction. */

export const cards = ["good", "declined", "held", "slow"] as const
/** A held one waits for its holder, a slow one for its bank. */
export type Card = (typeof cards)[number]

/** The processor's behaviour for a new key; it repeats its answer under an old one. */
export const bankFaults = [
  "no",
  "charges never reach it",
  "its answers to charges are lost",
  "its answers to charges make no sense",
  "it is away",
  "it limits us",
  "it fails before it charges",
  "it fails after it charged",
] as const
export type BankFault = (typeof bankFaults)[number]

export interface Charge {
  readonly card: Card
  readonly status: "none" | "succeeded" | "declined" | "processing" | "held" | "canceled"
  /** Its answer from now on under the attempt's key. */
  readonly kept: "nothing" | "what became of it" | "a failure of its own"
  /** Whether the altar knows its number. */
  readonly isKnown: boolean
}

export const chargeOf = (card: Card): Charge => ({ card, status: "none", kept: "nothing", isKnown: false })

const begins = { good: "succeeded", declined: "declined", held: "held", slow: "processing" } as const

/** Milliseconds for which a charge is asked for again under its key, and after which it counts that there is none. */
const keyLife = 12 * 3_600_000
const certainAfter = 23 * 3_600_000

/** The finding of an inquiry: `none` is a doubt, the rest is the processor's word. */
export type Finding = "paid" | "failed" | "open" | "none"
type Looked = readonly [Finding, Charge]

/** A charge without a holder's action is cancelled, so that it cannot complete. */
const judged = (charge: Charge): Looked => {
  switch (charge.status) {
    case "succeeded":
      return ["paid", charge]
    case "held":
      return ["failed", { ...charge, status: "canceled" }]
    case "processing":
      return ["open", { ...charge, isKnown: true }]
    case "none":
      return ["open", charge]
    default:
      return ["failed", charge]
  }
}

/** A charge that is asked for under a new key. */
const charged = (charge: Charge, fault: BankFault): Looked => {
  if (fault === "charges never reach it" || fault === "it is away" || fault === "it limits us") return ["open", charge]
  if (fault === "it fails before it charges") return ["open", { ...charge, kept: "a failure of its own" }]
  const isHidden = fault === "it fails after it charged" && charge.card !== "declined"
  const made: Charge = {
    ...charge,
    status: begins[charge.card],
    kept: isHidden ? "a failure of its own" : "what became of it",
  }
  const isSilent = fault === "its answers to charges are lost" || fault === "its answers to charges make no sense"
  return isSilent ? ["open", made] : judged(made)
}

/** A look at a charge, so many milliseconds after its attempt was accepted; the first one asks for it. */
export const inquired = (charge: Charge, fault: BankFault, age: number): Looked => {
  if (charge.isKnown) return judged(charge)
  if (age > keyLife) return charge.status === "none" && age > certainAfter ? ["none", charge] : judged(charge)
  return charge.kept === "nothing" ? charged(charge, fault) : judged(charge)
}

/** A charge that waited for its bank or holder has ended. */
export const finished = (charge: Charge): Charge =>
  charge.status === "processing" || charge.status === "held" ? { ...charge, status: "succeeded" } : charge
