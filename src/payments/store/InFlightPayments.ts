/** SQL for the maximum of payments in flight of one wallet. */
import { firstPaymentsMaximum, openPaymentsMaximum } from "../../../schema/payments/Errors.ts"

/**
 * The maximum of the wallet whose row is `p`, raised with each payment it made. For an hour after a rehearsed transfer
 * did not pay it is one.
 */
export const inFlightMaximum = `(SELECT CASE WHEN p.limited_until > now() THEN 1
    ELSE least(${firstPaymentsMaximum} * (count(*)::int + 1), ${openPaymentsMaximum}) END
    FROM (
      SELECT 1 FROM payment_attempts WHERE payer = p.name AND state = 'settled'
      LIMIT ${Math.ceil(openPaymentsMaximum / firstPaymentsMaximum) - 1}
    ) AS s)`
