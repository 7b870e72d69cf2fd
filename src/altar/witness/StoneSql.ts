/** SQL parts about stones for the statements of other reads, which stay one round trip. */
import type { Statement } from "effect/sql"
import { part } from "../../platform/SqlPart.ts"
import { shownColumn, wordsHidden } from "../Hidden.ts"

/** Columns of a reveal `r` of a stone `s`, as `revealColumns` read them. */
export const revealed = part`r.text AS reveal_text, r.salt AS reveal_salt, ${wordsHidden("r", "s")},
  ${shownColumn("r", "agent_name", "agentName", "s")} AS reveal_agent_name, r.revealed_at`

export const count = part`(SELECT sequence FROM witness_head WHERE id = 1)`

export const revealOf = (id: Statement.Fragment) => part`
  SELECT s.id, s.commitment, ${revealed}
  FROM witness_reveals r JOIN witness_stones s ON s.id = r.stone_id WHERE r.stone_id = ${id}`
