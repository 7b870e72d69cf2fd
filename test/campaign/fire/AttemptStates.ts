/** In which states attempts are at this moment: asked past the wires, so that no fault of a wire is in the way. */
import { setTimeout } from "node:timers/promises"
import postgres from "postgres"
import type { Purchase } from "../../lab/buyer/Buyer.ts"
import type { Cluster } from "../../lab/Cluster.ts"
import type { CardProcessor } from "../../lab/proxy/CardProcessor.ts"
import type { Facilitator } from "../../lab/proxy/Facilitator.ts"
import type { NodeProxy } from "../../lab/proxy/Node.ts"

/**
 * `none`: a buyer is at it, and nothing is on disk. `claimed`: the intent is. `noted`: our relayer's transaction is, too.
 * `sent`: node, facilitator or card processor have been asked, whatever came of it. `settled`: recorded, and not final;
 * by card, and its buyer has not heard.
 */
export const states = ["none", "claimed", "noted", "sent", "settled"] as const
export type State = (typeof states)[number]
export type States = Readonly<Record<State, number>>

export interface AttemptStates {
  /** Nothing where the database does not answer in time. */
  readonly now: (purchases: ReadonlyArray<Purchase>) => Promise<States | undefined>
  readonly close: () => void
}

interface Parts {
  readonly cards: CardProcessor
  readonly cluster: Cluster
  readonly database: string
  readonly facilitator: Facilitator
  readonly rpc: NodeProxy
}

/** A strike waits no longer for this, milliseconds. */
const patience = 1_500

interface Row {
  readonly id: string
  readonly key: string
  readonly rail: string
  readonly nonce: string
  readonly state: "pending" | "settled" | "failed"
  readonly isFinal: boolean
  readonly hash: `0x${string}` | null
}

export const attemptStates = ({ cards, cluster, database, facilitator, rpc }: Parts): AttemptStates => {
  const sql = postgres(cluster.urlOf(database), { max: 1, connect_timeout: 1, backoff: () => 0.2, onnotice: () => {} })

  const stateOf = (
    { hash, id, isFinal, key, nonce, rail, state }: Row,
    open: ReadonlySet<string>,
  ): State | undefined => {
    if (state === "failed") return undefined
    if (state === "settled") return (rail === "card" ? open.has(key) : !isFinal) ? "settled" : undefined
    const isSent =
      rail === "card" ? cards.keys.has(`altar_${id}`) : facilitator.nonces.has(nonce) || (hash && rpc.raw.has(hash))
    if (isSent === true) return "sent"
    return hash === null ? "claimed" : "noted"
  }

  return {
    now: async (purchases) => {
      const open = new Set(
        purchases.filter((one) => one.startedAt > 0 && one.endedAt === undefined).map(({ key }) => key),
      )
      const asked = sql<Row[]>`
        SELECT a.id, a.idempotency_key AS key, a.rail, lower(a.nonce) AS nonce, a.state, a.finality <> 'pending' AS "isFinal",
          lower(b.hash) AS hash
        FROM payment_attempts a LEFT JOIN relayer_broadcasts b ON b.attempt_id = a.id`.catch(() => undefined)
      const rows = await Promise.race([asked, setTimeout(patience, undefined, { ref: false })])
      if (rows === undefined) return undefined
      const found = { none: 0, claimed: 0, noted: 0, sent: 0, settled: 0 }
      const known = new Set(rows.map(({ key }) => key))
      for (const key of open) if (!known.has(key)) found.none += 1
      for (const row of rows) {
        const state = stateOf(row, open)
        if (state !== undefined) found[state] += 1
      }
      return found
    },
    close: () => void sql.end({ timeout: 0 }).catch(() => {}),
  }
}
