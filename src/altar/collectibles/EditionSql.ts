/** What collectibles let others read inside a statement of their own, so that a read stays one round trip. */
import { part } from "../../platform/SqlPart.ts"

/** A row for each `spirit` to whose altar editions are `dedicated`: how many. */
export const perSpirit = part`(SELECT spirit, count(*) AS dedicated FROM collectibles WHERE spirit IS NOT NULL GROUP BY spirit)`

/** The newest editions dedicated to a spirit's altar, by id. */
export const newestOn = (spirit: string, limit: number) =>
  part`(SELECT id FROM collectibles WHERE spirit = ${spirit}::text
    ORDER BY collected_at DESC, id DESC LIMIT ${limit}::int)`
