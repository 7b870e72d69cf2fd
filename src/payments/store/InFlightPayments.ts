/** SQL for the maximum of payments in flight of one wallet. */
import { firstPaymentsMaximum, openPaymentsMaximum } from "../../../schema/payments/Errors.ts"

/** Gas that non-paying wallets of a kind may waste within an hour before its unknown wallets are refused. */
const lostGasAtMost = 15_000_000n

/** Gas wasted within an hour from which an unknown wallet has one payment in flight, which costs it as much gas. */
const lostGasUnnoticed = 5_000_000n

/** Kinds of wallets: the limit of one that has never paid here, and the refusal that counts against its kind. */
const kinds = {
  codeless: { first: firstPaymentsMaximum, refusal: "wallet_did_not_pay" },
  contract: { first: 1, refusal: "wallet_reverted_settlement" },
} as const

/**
 * The limit of the wallet whose row is `p`, raised with each payment it made. An unknown wallet's limit falls to one
 * and then to none as its kind wastes gas; a wallet that was ever refused starts at one.
 */
const limitOf = ({ first, refusal }: (typeof kinds)[keyof typeof kinds]) => `(
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

export const contractLimit = limitOf(kinds.contract)
export const codelessLimit = limitOf(kinds.codeless)

/** Refusals of an unknown wallet while its kind wastes too much gas. */
export const contractsRefused = "wallet_with_code"
export const unknownRefused = "wallet_never_paid"
