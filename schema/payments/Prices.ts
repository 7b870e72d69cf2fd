/** What every paid act costs and where it is bought: written here alone; acts, contract and manifests read it. */
import { priceUsd } from "./Payment.ts"

/** A paid act as everyone may know it. */
export interface Price {
  /** Unique. */
  readonly name: string
  /** What the spend policy calls it, when several acts share a name there. */
  readonly action?: string
  /** Method and path template, as in the price list. */
  readonly route: `POST /api/${string}`
  /** Atomic USDC. */
  readonly priceAtomic: bigint
  /** How long what is bought lasts, if it ends. */
  readonly days?: number
  /** One line for the wallet's owner, in the challenge. */
  readonly description: string
  /** Whether it is sold for cards, too, where a server takes them. */
  readonly cards?: boolean
}

const candle = "lightVotiveCandle"

export const prices = {
  offerPrayer: {
    name: "offerPrayer",
    route: "POST /api/prayers/{spirit-id}",
    priceAtomic: 10_000n,
    description: "One prayer on a spirit's altar: a sealed intention for today",
  },
  takeIn: {
    name: "takeIn",
    route: "POST /api/acquire/{spirit-id}",
    priceAtomic: 10_000n,
    description: "The permanent first-keeper record of a spirit",
  },
  collectMaterial: {
    name: "collectMaterial",
    route: "POST /api/elements/{id}/collect",
    priceAtomic: 10_000n,
    description: "One numbered edition of a material, crab or pixel",
  },
  lightDay: {
    name: "lightDay",
    action: candle,
    route: "POST /api/candles/day/{spirit-id}",
    priceAtomic: 1_000_000n,
    days: 1,
    description: "A votive candle, or a light on one, that burns for one day",
  },
  lightWeek: {
    name: "lightWeek",
    action: candle,
    route: "POST /api/candles/week/{spirit-id}",
    priceAtomic: 3_000_000n,
    days: 7,
    cards: true,
    description: "A votive candle, or a light on one, that burns for seven days",
  },
  lightMonth: {
    name: "lightMonth",
    action: candle,
    route: "POST /api/candles/month/{spirit-id}",
    priceAtomic: 9_000_000n,
    days: 30,
    cards: true,
    description: "A votive candle, or a light on one, that burns for thirty days",
  },
  setWitnessStone: {
    name: "setWitnessStone",
    route: "POST /api/witness",
    priceAtomic: 10_000n,
    description: "One witness stone: a timestamped sealed commitment in a public hash chain",
  },
} as const satisfies Record<string, Price>

/** Dollars without a sign, `0.01`. */
export const dollars = (amountAtomic: bigint): string => priceUsd(amountAtomic).slice(1)

const cardOffer = (priceAtomic: bigint) => ({
  intent: "charge",
  method: "stripe",
  amount: (priceAtomic / 10_000n).toString(),
  currency: "usd",
  description: "Where the server takes cards: `rails` of /api/candles says so, and the 402 carries the challenge.",
})

/**
 * `x-payment-info` in both shapes that are read in the field: AgentCash takes `price` in dollars with `protocols`, the
 * MPP discovery draft `offers` in base units. Asset address and recipient stand in the live 402 alone.
 */
export const paymentInfo = ({ cards, priceAtomic }: Price) => ({
  price: { mode: "fixed", currency: "USD", amount: dollars(priceAtomic) },
  protocols: [
    { x402: {} },
    ...(cards === true ? [{ mpp: { method: "stripe", intent: "charge", currency: "usd" } }] : []),
  ],
  offers: [
    { intent: "charge", method: "evm", amount: priceAtomic.toString(), currency: "USDC" },
    ...(cards === true ? [cardOffer(priceAtomic)] : []),
  ],
})
