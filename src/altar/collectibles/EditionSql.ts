/** SQL parts about editions for the statements of other reads, which stay one round trip. */
import { part } from "../../platform/SqlPart.ts"

/** One row for each `spirit` with the number of editions `dedicated` to its altar. */
export const perSpirit = part`(SELECT spirit, count(*) AS dedicated FROM collectibles WHERE spirit IS NOT NULL GROUP BY spirit)`
