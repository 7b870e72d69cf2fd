/** Statements with a limit: one decision about the limit and the work. */
import { Effect, type Schema } from "effect"
import type { Statement } from "effect/sql"
import { LimitFactor, scaledBy } from "../limits/LimitFactor.ts"
import { exceeded, type Policy } from "../limits/Policy.ts"
import { RateLimiter } from "../limits/RateLimiter.ts"
import * as Windows from "../limits/Windows.ts"
import { rowsOf } from "../platform/Rows.ts"
import { named, prepare, retryConflicts } from "../platform/Sql.ts"
import { part } from "../platform/SqlPart.ts"
import * as Invites from "./Invites.ts"

export const callers = part`unnest(${named("keys")}::text[]) AS key`

/** Prepares a statement that takes a request of an address for each row of `source`. `write` inserts its `slot`. */
export const limitedStatement = Effect.fnUntraced(function* <Row>(
  policy: Policy,
  row: Schema.Codec<Row, unknown>,
  source: Statement.Fragment,
  write: (slot: Statement.Fragment) => Statement.Fragment,
) {
  const limiter = yield* RateLimiter
  const widened = scaledBy(yield* LimitFactor)(policy)
  const gate = limiter.gate(policy, source)
  const statement = (yield* prepare)(write(gate.slot))
  const roomsOf = rowsOf("rooms", row)

  const run = Effect.fnUntraced(function* (
    addresses: ReadonlyArray<string>,
    values: Readonly<Record<string, unknown>>,
  ) {
    const ofGate = yield* gate.values
    const keys = addresses.map(gate.keyOf)
    return yield* roomsOf(retryConflicts(statement({ ...ofGate, blind: Invites.blind, keys, ...values })))
  })

  return {
    run,
    remainingOf: (counts: Windows.Counts) => Windows.remainingOf(widened, counts),
    peek: (address: string) => limiter.peek(policy, address),
    /** The refusal of a request, which took nothing. */
    refuse: (address: string) =>
      Effect.flatMap(limiter.peek(policy, address), (remaining) => Effect.fail(exceeded(remaining, policy))),
  }
})
