/** How many payments of a wallet may be open, as SQL: few of one that has never paid, and none while much gas is lost to its kind. */
import { firstPaymentsMaximum, openPaymentsMaximum } from "../../../schema/payments/Errors.ts"

/** Gas that wallets of a kind which did not pay may have cost within an hour until no unknown one of that kind is taken. */
const lostGasAtMost = 15_000_000n

/** The same from which an unknown one has one payment open: then it cannot burn more of our gas than of its own. */
const lostGasUnnoticed = 5_000_000n

/** How a payment of a wallet fails in its block at our cost, and how many are open of one that has never paid here. */
const kinds = {
  codeless: { first: firstPaymentsMaximum, refusal: "wallet_did_not_pay" },
  contract: { first: 1, refusal: "wallet_reverted_settlement" },
} as const

/**
 * How many may be pending of the wallet whose row is `p`: as many again for each that it has paid. One that has never paid, or
 * was ever refused, has fewer while much gas of ours is lost to its kind, and none while too much is.
 */
const mostOf = ({ first, refusal }: (typeof kinds)[keyof typeof kinds]) => `(
    SELECT CASE WHEN c.paid > 0 THEN least(${first} * (c.paid + 1), ${openPaymentsMaximum}) ELSE (
      SELECT CASE WHEN l.gas >= ${lostGasAtMost} THEN 0
        WHEN p.refused_until IS NOT NULL OR l.gas >= ${lostGasUnnoticed} THEN 1 ELSE ${first} END
      FROM (SELECT COALESCE(sum(lost_gas), 0) AS gas FROM payment_payers
        WHERE refused_until > now() AND refusal = '${refusal}') AS l) END
    FROM (SELECT count(*)::int AS paid FROM (
      SELECT 1 FROM payment_attempts
      WHERE lower(payer) = p.name AND state = 'settled' AND p.refused_until IS NULL
      LIMIT ${Math.ceil(openPaymentsMaximum / first) - 1}
    ) AS s) AS c)`

export const mostOfContract = mostOf(kinds.contract)
export const mostOfCodeless = mostOf(kinds.codeless)

/** What an unknown wallet is refused for while too much gas is lost to its kind. */
export const contractsRefused = "wallet_with_code"
export const unknownRefused = "wallet_never_paid"
