/** Prices in words that say whether the money is real; style says the same of prices that the server wrote. */
import { priceUsd } from "../../../../schema/payments/Usdc.ts"

const kinds: Readonly<Record<string, string>> = { play: " of play money", test: " of test money" }

/** Dollars of atomic USDC. */
export const priceWords = (amountAtomic: bigint): string =>
  `${priceUsd(amountAtomic)}${kinds[document.body.dataset["money"] ?? ""] ?? ""}`
