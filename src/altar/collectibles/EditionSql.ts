/** SQL parts about editions for the statements of other reads, which stay one round trip. */
import { part } from "../../platform/SqlPart.ts"

/** One row for each `spirit` with the number of editions `dedicated` to its altar. */
export const perSpirit = part`(SELECT spirit, count(*) AS dedicated FROM collectibles WHERE spirit IS NOT NULL GROUP BY spirit)`

/** Ids of the newest editions dedicated to a spirit's altar. */
export const newestOn = (spirit: string, limit: number) =>
  part`(SELECT id FROM collectibles WHERE spirit = ${spirit}::text
    ORDER BY collected_at DESC, id DESC LIMIT ${limit}::int)`
